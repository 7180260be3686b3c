#!/bin/bash
# --resume runs what is missing and nothing else; without it the same scenario is a new experiment.
cp "$data/small.yaml" .
runs() {
	sqlite3 small.db 'SELECT experiment, variant, replication, seed, status FROM run ORDER BY run_id'
}
memcgsim run small.yaml --quiet --variant unified >/dev/null
runs
memcgsim run small.yaml --quiet --resume >/dev/null
echo "= $?"
runs
memcgsim run small.yaml --quiet --resume >/dev/null
echo "= $?"
sqlite3 small.db 'SELECT count(*) FROM run'
memcgsim run small.yaml --quiet --seed 7 --resume >/dev/null
runs | tail -4
memcgsim run small.yaml --quiet --variant unified --variant none 2>&1
