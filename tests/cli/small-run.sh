#!/bin/bash
# A run, its table in each format, and what is in the database.
cp "$data/small.yaml" .
memcgsim run small.yaml --quiet
echo "= $?"
ls
sqlite3 small.db 'SELECT run_id, experiment, scenario, variant, replication, seed, status, sim_time_ns FROM run'
memcgsim run small.yaml --quiet --format csv -o csv.db | head -5
memcgsim run small.yaml --quiet --format json -o json.db | sqlite3 :memory: 'SELECT json_valid(readfile("/dev/stdin"))'
