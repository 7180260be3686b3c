#!/bin/bash
# Standard streams that are closed or full: a message, status 1, and files that hold what they should.
cp "$data/small.yaml" .
memcgsim run small.yaml --quiet >&- 2>message
echo "= $?"
cat message
sqlite3 small.db "PRAGMA integrity_check; SELECT count(*) FROM run WHERE status = 'done'"
memcgsim run small.yaml --quiet -o all-closed.db <&- >&- 2>&-
echo "= $?"
sqlite3 all-closed.db "PRAGMA integrity_check; SELECT count(*) FROM run WHERE status = 'done'"
memcgsim check - <&- 2>&1
echo "= $?"
for word in list schema --help --version "check --help"; do
	# A command and an option are two words.
	# shellcheck disable=SC2086
	memcgsim $word >/dev/full 2>message
	echo "= $?"
	cat message
done
memcgsim reference | head -1
