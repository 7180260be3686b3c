#!/bin/bash
# The scenario that README.md shows works as it stands there.
sed -n '/^```yaml$/,/^```$/p' "$root/README.md" | grep -v '^```' >my-readers.yaml
memcgsim check my-readers.yaml
memcgsim run my-readers.yaml --quiet --set run.until=600ms >/dev/null
echo "= $?"
