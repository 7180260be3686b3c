#!/bin/bash
# check, and the scenario as it comes out with every default.
cp "$data/small.yaml" .
memcgsim check small.yaml
memcgsim check small.yaml --effective --variant nonunified --set run.seed=9 >effective
echo "= $?"
grep -E 'flush:|seed:|sample:|name: child' effective
memcgsim check small.yaml --effective --variant none
echo "= $?"
memcgsim check - <small.yaml
memcgsim check small.yaml --set run.sed=9 2>&1
echo "= $?"
memcgsim list axis --format csv | head -1
memcgsim explain flush | head -1
json=$(memcgsim schema)
sqlite3 :memory: "SELECT json_valid('${json//\'/\'\'}')"
