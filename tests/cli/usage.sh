#!/bin/bash
# Wrong usage is answered on standard error with status 2, and --help on standard output with 0.
say() {
	echo "\$ memcgsim $*"
	memcgsim "$@" 2>&1
	echo "= $?"
}
say
say --help
say rnu
say run
say run a.yaml b.yaml
say run --sedd 1 a.yaml
say run --seed
say run --seed x a.yaml
say run -j 0 a.yaml
say run --tie-order none a.yaml
say list --format xml
say list polices
say explain nothing_like_this
say check no-such-file.yaml
say check --plugin ./no-such.so a.yaml
say rerun no-such.db 1
say plot no-such.db
for command in run check plot rerun validate list explain schema reference; do
	say "$command" --help
done
