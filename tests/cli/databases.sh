#!/bin/bash
# What is no result database is not touched.
cp "$data/small.yaml" .
echo "not a database" >text.db
memcgsim run small.yaml --quiet -o text.db 2>&1
echo "= $?"
cat text.db
sqlite3 foreign.db 'CREATE TABLE mine (x)'
memcgsim run small.yaml --quiet -o foreign.db 2>&1
echo "= $?"
sqlite3 foreign.db .tables
memcgsim run small.yaml --quiet -o no-such-folder/x.db 2>&1
echo "= $?"
memcgsim run small.yaml --quiet -o . 2>&1
echo "= $?"
memcgsim run small.yaml --quiet -o "" 2>&1
echo "= $?"
ln -s nowhere/at-all.db link.db
memcgsim run small.yaml --quiet -o link.db 2>&1
echo "= $?"
memcgsim run small.yaml --quiet -o 'file:x?mode=memory' >/dev/null
echo "= $?"
memcgsim run small.yaml --quiet -o new.db >/dev/null
sqlite3 new.db 'PRAGMA user_version = 99'
memcgsim run small.yaml --quiet -o new.db 2>&1
echo "= $?"
ls

# A database where a scenario is wanted.
memcgsim validate "$(find . -name '*.db' | sort | head -1)" 2>&1 | sed 's/^memcgsim: [^:]*/memcgsim: DATABASE/'
