#!/bin/bash
# No room for the results: a message, status 1, and what was stored before is whole.
cp "$data/small.yaml" .
memcgsim run small.yaml --quiet >/dev/null
(
	ulimit -f $(($(stat -c %s small.db) / 1024 + 4))
	memcgsim run small.yaml --quiet >/dev/null 2>message
	echo "= $?"
)
grep -c memcgsim: message
sqlite3 small.db "PRAGMA integrity_check; SELECT count(*) FROM run WHERE status = 'done'"
