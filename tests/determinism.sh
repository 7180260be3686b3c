#!/bin/bash
# The same scenario gives the same bytes in the result tables, whatever the build and the number of jobs: the
# release build alone (-O2), with two jobs, at -O0, and under the sanitizers. And another seed gives others.
set -u
cd "$(dirname "$0")/.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

run() { # NAME PROGRAM OPTION...: results as text in NAME.txt
	name=$1
	program=$2
	shift 2
	"$program" run tests/cli/data/small.yaml --quiet -o "$scratch/$name.db" "$@" >/dev/null || return 1
	for table in metric summary sample histogram lock_stat; do
		echo "== $table"
		sqlite3 "$scratch/$name.db" "SELECT * FROM $table"
	done >"$scratch/$name.txt"
	sqlite3 "$scratch/$name.db" \
		"SELECT variant, replication, fingerprint, events, sim_time_ns FROM run" >>"$scratch/$name.txt"
}

verdict() { # TEXT: for the command before
	if [ $? -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$1"
	fi
}

run base build/memcgsim && [ -s "$scratch/base.txt" ]
verdict "the release build does not run"
[ "$(sqlite3 "$scratch/base.db" "SELECT count(*) > 20 FROM summary")" = 1 ]
verdict "there is hardly anything to compare"
run jobs build/memcgsim -j 2 && cmp "$scratch/base.txt" "$scratch/jobs.txt"
verdict "-j 2 gives other results"
run debug build/debug/memcgsim && cmp "$scratch/base.txt" "$scratch/debug.txt"
verdict "-O0 gives other results"
run san build/san/memcgsim && cmp "$scratch/base.txt" "$scratch/san.txt"
verdict "the sanitizer build gives other results"
run seed build/memcgsim --seed 99 && ! cmp -s "$scratch/base.txt" "$scratch/seed.txt"
verdict "another seed gives the same results"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
