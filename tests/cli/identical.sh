#!/bin/bash
# Two variants that do the same are reported.
cp "$data/small.yaml" .
cat >same.yaml <<END
schema: 1
include: [ small.yaml ]
scenario: same
variants:
  - { name: a }
  - { name: b, set: { run.rows: 77 } }
END
{ memcgsim run same.yaml --quiet >/dev/null; } 2>&1
