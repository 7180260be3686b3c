#!/bin/bash
# Laws of the source tree that no compiler knows:
#   - who may include whom: sim/engine < sim/hw < sim/scenario, sim/results < the rest of sim/ < models;
#   - sim/ does not speak of memory control groups: what it simulates is the business of models/;
#   - no file names a folder of the machine it was written on, none is left unfinished or too long.
set -u
shopt -s lastpipe
cd "$(dirname "$0")/.." || exit 1
passed=0
failed=0

law() { # TEXT: standard input holds the lines that break it
	broken=$(cat)
	if [ -z "$broken" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf '%s:\n%s\n' "$1" "$broken"
	fi
}

includes() { # FOLDER PATTERN: includes of headers that match, in the sources of a folder
	grep -rnE --include='*.[ch]' "^[[:space:]]*#[[:space:]]*include[[:space:]]+[\"<](\.\./)*$2" "$1"
}

files() {
	git ls-files 2>/dev/null | grep -vE '\.(png|svg|db)$' | grep . ||
		find .ci analysis bench docs models scenarios sim tests Makefile README.md -type f
}

includes sim 'models/' | law "sim/ includes models/"
includes sim/engine 'sim/(stats|scenario|results|experiment|program)/' | law "sim/engine/ includes later parts"
includes sim/hw 'sim/(results|experiment|program)/' | law "sim/hw/ includes later parts"
includes sim/stats 'sim/(hw|scenario|results|experiment|program)/' | law "sim/stats/ includes later parts"
includes sim/scenario 'sim/(results|program)/' | law "sim/scenario/ includes later parts"
includes sim/results 'sim/(experiment|program)/' | law "sim/results/ includes later parts"
includes models 'sim/program/' | law "models/ include the program"

grep -rniE --include='*.[ch]' '\b(memcg|cgroups?|lruvec|rstat|refaults?)\b' sim |
	law "sim/ speaks of what only models/ may know"

# Written so that the patterns do not find themselves.
files | xargs grep -nIE '(^|[^a-zA-Z0-9_.])/(work|farm|root|home)/|/tmp/[b]ash|/tmp/[s]tudio' -- /dev/null | law "paths of one machine"
files | grep -E '\.(c|h|gp|sql|sh)$|Makefile' | xargs grep -nE '\b(TO[D]O|FI[X]ME|XX[X]|HAC[K])\b' -- /dev/null | law "unfinished"
find sim models bench tests -name '*.[ch]' -exec wc -l {} + | awk '$2 != "total" && $1 > 550' | law "files over 550 lines"
find sim models bench tests -name '*.[ch]' -exec awk -v OFS=: '
	{ gsub(/\t/, "        "); if (length($0) > 110) print FILENAME, FNR }' {} + | law "lines over 110 columns"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
