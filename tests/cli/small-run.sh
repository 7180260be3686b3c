#!/bin/bash
# A run, its table in each format, and what is in the database.
cp "$data/small.yaml" .
# What the numbers are is not this test's business.
memcgsim run small.yaml --quiet | sed -E 's/[-+]?[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g; s/-{3,}/---/g' | head -2
echo "= ${PIPESTATUS[0]}"
ls
sqlite3 small.db 'SELECT run_id, experiment, scenario, variant, replication, seed, status, sim_time_ns FROM run'
memcgsim run small.yaml --quiet --format csv -o csv.db | head -1
json=$(memcgsim run small.yaml --quiet --format json -o json.db)
sqlite3 :memory: "SELECT json_valid('$json')"
