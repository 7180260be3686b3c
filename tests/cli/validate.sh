#!/bin/bash
# Verdicts, as text and as CSV; rows that are out are not an error, a row that is not in its table is.
cp "$data"/*.yaml .
memcgsim validate compared.yaml
echo "= $?"
memcgsim validate --source seed-5 --format csv compared.yaml
echo "= $?"
memcgsim validate --source seed-77 compared.yaml 2>&1
echo "= $?"
sed 's/published: 60000000/published_from: { file: no-such.csv }/' compared.yaml >wrong.yaml
memcgsim validate wrong.yaml 2>&1 | grep -v "^ground-truth"
echo "= ${PIPESTATUS[0]}"
