#!/bin/sh
# docs/options.md is generated from the option tables (`make docs`); here it must be up to date.
cd "$(dirname "$0")/.." || exit 1
if build/memcgsim reference | diff -u docs/options.md -; then
	echo "1 passed, 0 failed"
else
	echo "docs/options.md is out of date: run 'make docs'"
	echo "0 passed, 1 failed"
	exit 1
fi
