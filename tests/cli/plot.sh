#!/bin/bash
# Figures: text on standard output, files where they are asked for, and no half of one without gnuplot.
cp "$data/small.yaml" .
memcgsim run small.yaml --quiet >/dev/null
memcgsim plot small.db --figure read-latency-cdf >text
echo "= $?"
grep -c . text | awk '{ print ($1 > 10 ? "a figure" : "no figure") }'
awk '{ if (length($0) > 79) print "too wide: " $0 }' text
memcgsim plot small.db --format svg -o figures
echo "= $?"
file_kinds() { head -c 200 "$@" | grep -aoE '<svg|PNG' | sort | uniq -c; }
file_kinds figures/*
memcgsim plot small.db --figure read-latency-cdf --format png
file_kinds ./*.png
memcgsim plot small.db --format png -o text 2>&1
echo "= $?"
memcgsim plot small.db --figure read-latency-cfd 2>&1 | sed "s|in '[^']*'|in DIR|"

# One that cannot be drawn keeps no other from it.
mkdir own
for name in a b c; do
	echo "SELECT '1 2';" >own/$name.sql
	echo "set term dumb; set output out; plot data" >own/$name.gp
done
echo "set no-such-thing" >own/b.gp
memcgsim plot small.db --figures own -o drawn --format text 2>&1 | grep -o 'drawn/.*\|cannot draw .:'
echo "= ${PIPESTATUS[0]}"

# The program alone, in a PATH without gnuplot.
mkdir bin empty
ln -s "$(command -v memcgsim)" bin/memcgsim
PATH=$PWD/bin memcgsim plot small.db --format svg -o empty 2>&1
echo "= $?"
ls empty
