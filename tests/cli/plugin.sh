#!/bin/bash
# The plug-in of the README: built with the compiler alone, explained, and run; without it its name is unknown.
${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -O2 -fPIC -shared -I"$root" -o reaper.so "$root/examples/reaper.c" || exit 1
memcgsim explain --plugin ./reaper.so reaper
memcgsim check "$root/examples/reaper.yaml" >/dev/null 2>&1
echo "= $?"
memcgsim run --plugin ./reaper.so -q -o reaper.db "$root/examples/reaper.yaml" --set run.until=2min | sed -n '3,7p'
sqlite3 reaper.db "SELECT variant, value > 0 FROM run JOIN summary USING (run_id)
	WHERE metric = 'task.ops' AND entity = 'reaper'"
