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
# A table of ranks that would not fit.
cat >zipf.yaml <<END
schema: 1
scenario: zipf
kernel: v6.6
host: { cpus: 4 }
tasks:
  - { workload: file_writer, pages: 100000001, pattern: zipf }
  - { workload: file_churn, pages: 100000000, pattern: zipf }
END
memcgsim check zipf.yaml 2>&1
echo "= $?"
# Each list is in bounds, all together are not.
cat >tasks.yaml <<END
schema: 1
scenario: tasks
kernel: v6.6
host: { cpus: 4 }
cgroups:
  - name: a{1..1000}
    tasks: [ { workload: anon_churn, count: 900 } ]
    children: [ { name: "b{1..3}", tasks: [ { workload: anon_churn } ] } ]
tasks:
  - { workload: anon_churn, cgroup: "a*/b*", count: 33 }
END
memcgsim check tasks.yaml 2>&1
echo "= $?"
memcgsim check tasks.yaml --set "cgroups[0].children[0].tasks[0].count=0" 2>&1
echo "= $?"
memcgsim check tasks.yaml --set "tasks[0].cgroup=a*/*" --set "tasks[0].count=334" 2>&1
echo "= $?"
ls
