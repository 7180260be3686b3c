# What `explain` knows beside modules: metrics, kernels, machines, `each`; and what a scenario is told that
# runs, and does not do what it looks like.
memcgsim explain decision.missed
memcgsim explain staleness.pages | tail -3
memcgsim explain v5.15 | sed -n 1,4p
memcgsim explain epyc-guest | sed -n 1p
memcgsim explain each
memcgsim explain stream_seed | sed -n 1,3p
memcgsim explain staleness.pages.p99 | sed -n 1p
memcgsim explain decision
for unknown in v99 v6.7 skylake staleness memory.stat; do
	memcgsim explain $unknown 2>&1
	echo "= $?"
done
cat >remarks.yaml <<EOF
schema: 1
scenario: remarks
host: { cpus: 2, memory: 64MiB }
kernel: v6.12
cgroups: [ { name: a, memory.max: 100 } ]
tasks: [ { workload: service, file_pages: 10, exponent: 0.9, requests: 1 } ]
EOF
memcgsim check remarks.yaml 2>&1
echo "= $?"
memcgsim list figure | head -3
memcgsim explain request-latency-cdf | head -2
memcgsim explain request-latency-cfd 2>&1
echo "= $?"
