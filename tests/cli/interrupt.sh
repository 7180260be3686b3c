#!/bin/bash
# SIGINT: what is complete is kept, the message says how to go on, and going on completes it.
cp "$data/small.yaml" .
memcgsim run small.yaml --set run.until=1000s --variant unified --quiet -o long.db 2>message &
pid=$!
until [ -e long.db ]; do sleep 0.05; done
kill -INT $pid
wait $pid
echo "= $?"
cat message
sqlite3 long.db 'SELECT variant, status, error FROM run'

memcgsim run small.yaml -q --replications 40 -j 2 -o many.db >/dev/null 2>message &
pid=$!
until [ "$(sqlite3 many.db "SELECT count(*) > 3 FROM run WHERE status = 'done'" 2>/dev/null)" = 1 ]; do sleep 0.05; done
kill -TERM $pid
wait $pid
echo "= $?"
memcgsim run small.yaml -q --replications 40 -j 2 -o many.db --resume >/dev/null
echo "= $?"
sqlite3 many.db "SELECT variant, count(*) FROM run WHERE status = 'done' GROUP BY variant"
