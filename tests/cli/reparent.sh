#!/bin/bash
# The table of what parent and child count: without reparent_local the parent is short by what the children counted.
memcgsim run "$root/scenarios/seeds/1-w3-reparent.yaml" --quiet --variant classic-redirect_all-local-off \
	--variant classic-redirect_all-local-on | sed -n '/^Parent and child/,/^$/p'
