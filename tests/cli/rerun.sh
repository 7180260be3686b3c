#!/bin/bash
# A run is repeated from the database alone.
cp "$data/small.yaml" .
memcgsim run small.yaml --quiet --tie-order random >/dev/null
rm small.yaml
memcgsim rerun small.db 2 >out
echo "= $?"
sed 's/fingerprint [0-9a-f]*/fingerprint X/' out
memcgsim rerun small.db 99 2>&1
echo "= $?"
memcgsim rerun small.db x 2>&1
echo "= $?"
sqlite3 small.db 'UPDATE run SET fingerprint = fingerprint + 1 WHERE run_id = 1'
memcgsim rerun small.db 1 >/dev/null 2>&1
echo "= $?"
