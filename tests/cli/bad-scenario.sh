#!/bin/bash
# Every mistake of a scenario at once, with file, line and column; nothing is left behind.
cat >bad.yaml <<END
schema: 1
scenario: bad
kernel: v6.6
host: { cpus: 4, memroy: 1GiB }
run: { until: 10, seed: -1 }
polices: { }
END
memcgsim check bad.yaml 2>&1
echo "= $?"
memcgsim run bad.yaml 2>&1
echo "= $?"
printf '' >empty.yaml
memcgsim run empty.yaml 2>&1
echo "= $?"
ls
