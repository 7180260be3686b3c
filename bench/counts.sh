#!/bin/sh
# Instructions that the simulator executes for one operation of its hot paths, counted by callgrind: the same on
# every run of the same binary, however busy the machine. Each path is run twice, the second time with twice the
# operations; the difference is what they cost, without start-up. Prints a plain-text table.
#
# Usage: bench/counts.sh [PROGRAM]
set -eu
program=${1:-build/memcgsim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# instructions SCENARIO-FILE
instructions() {
	valgrind --tool=callgrind --callgrind-out-file="$work/out" "$program" run --quiet -o "$work/db" "$1" 2>&1 |
		awk '/Collected/ && $NF > most { most = $NF } END { print most }' # the child that runs it
	rm -f "$work/db"
}

# row NAME OPERATIONS-A-ROUND ROUNDS TEXT-WITH-@ROUNDS@
row() {
	for n in "$3" $((2 * $3)); do
		printf 'schema: 1\nscenario: counts\nkernel: v6.1\nhost: { cpus: 1, memory: 1GiB }\n%s\n' "$4" |
			sed "s/@ROUNDS@/$n/" >"$work/s$n.yaml"
	done
	once=$(instructions "$work/s$3.yaml")
	twice=$(instructions "$work/s$((2 * $3)).yaml")
	awk -v n="$1" -v a="$once" -v b="$twice" -v ops=$(($2 * $3)) \
		'BEGIN { printf "%-44s %8.0f\n", n, (b - a) / ops }'
}

printf '%-44s %8s\n' 'one operation (one simulated CPU)' 'instr.'
row 'anon fault, charge, statistics, and its zap' 4096 10 \
	'cgroups: [ { name: a, tasks: [ { workload: anon_churn, pages: 4096, rounds: @ROUNDS@ } ] } ]
run: { until: done }'
row 'read of a cached page' 4096 20 \
	'cgroups: [ { name: a, tasks: [ { workload: file_churn, pages: 4096, passes: @ROUNDS@ } ] } ]
run: { until: done }'
for lru in classic mglru; do
	row "read that misses, with the reclaim ($lru)" 16384 2 \
		"policies: { reclaim: $lru }
cgroups: [ { name: a, memory.max: 32MiB, tasks: [ { workload: file_churn, pages: 16384, passes: @ROUNDS@ } ] } ]
run: { until: done }"
done
