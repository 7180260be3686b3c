# memcgsim: how it is built, tested and installed. `make help` lists the targets.
#
# Three flavours of the same sources: release (build/: -O2, assertions off), debug (build/debug/: -O0,
# assertions on) and san (build/san/: address and undefined-behaviour sanitizers, assertions on). Tests run
# in the last two; tests/determinism.sh shows that all three give the same results. With sanitizers it is -Og and
# line numbers alone: -O1 takes twice as long to compile and saves less than that of the tests' time.

VERSION = 0.1.0
PREFIX ?= /usr/local
# V=1 shows whole commands.
say = $(if $(V),,@echo '  $(1) $(2)';)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

PKGS = gsl yaml-0.1 sqlite3 libzstd
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

WARN = -Wall -Wextra -Wshadow -Wconversion
ALL_CPPFLAGS = -I. -D_GNU_SOURCE $(PKG_CFLAGS) $(CPPFLAGS)
ALL_CFLAGS = -std=gnu11 $(WARN) $(WERROR)
LIBS = $(PKG_LIBS) -lm -ldl -lpthread

CFLAGS_release = -O2 -g -DNDEBUG
CFLAGS_debug = -O0 -g -fPIC
CFLAGS_san = -Og -g1 -fPIC -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
DIR_release = build
DIR_debug = build/debug
DIR_san = build/san

SRC := $(sort $(shell find sim models -name '*.c'))
BENCH_SRC := $(sort $(wildcard bench/*.c))
TESTS := $(patsubst tests/%.c,%,$(sort $(wildcard tests/test_*.c)))
PLUGINS := $(patsubst tests/%.c,%,$(sort $(wildcard tests/plugin_*.c)))
CHECKED_C := $(SRC) $(BENCH_SRC) $(wildcard tests/*.c) $(wildcard examples/*.c)
CHECKED_H := $(sort $(shell find sim models bench tests -name '*.h'))

.PHONY: all debug san deps demo check check-build bench docs lint format install clean help force
.DELETE_ON_ERROR:
.SECONDARY:

all: build/memcgsim

debug: build/debug/memcgsim

san: build/san/memcgsim

# $(1): a flavour. Objects go to DIR/obj, test programs and plug-ins to DIR/tests. All test programs of a
# flavour share one library: linking each with all objects took longer than running them.
define flavour
OBJ_$(1) := $$(SRC:%.c=$$(DIR_$(1))/obj/%.o)
LIBOBJ_$(1) := $$(filter-out %/program/main.o,$$(OBJ_$(1)))

$$(DIR_$(1))/obj/%.o: %.c build/flags | build/tools
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$(CC) $$(ALL_CFLAGS) $$(CFLAGS_$(1)) $$(CFLAGS) $$(ALL_CPPFLAGS) $$(DEFS) -MMD -MP -c -o $$@ $$<

$$(DIR_$(1))/obj/sim/datadir.o: DEFS = -DMEMCGSIM_DATADIR='"$$(PREFIX)/share/memcgsim"'
$$(DIR_$(1))/obj/sim/results/provenance.o: DEFS = -DMEMCGSIM_VERSION='"$$(VERSION)"' \
	-DMEMCGSIM_COMMIT='"$$(shell cat build/commit)"' -DMEMCGSIM_CFLAGS='"$$(strip $$(CFLAGS_$(1)) $$(CFLAGS))"'
$$(DIR_$(1))/obj/sim/results/provenance.o: build/commit

$$(DIR_$(1))/memcgsim: $$(OBJ_$(1))
	$$(call say,LD,$$@)$$(CC) $$(CFLAGS_$(1)) $$(CFLAGS) $$(LDFLAGS) -rdynamic -o $$@ $$^ $$(LIBS)

$$(DIR_$(1))/tests/libmemcgsim.so: $$(LIBOBJ_$(1))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)$$(CC) $$(CFLAGS_$(1)) $$(CFLAGS) $$(LDFLAGS) -shared -o $$@ $$^ $$(LIBS)

$$(DIR_$(1))/tests/test_%: $$(DIR_$(1))/obj/tests/test_%.o $$(DIR_$(1))/tests/libmemcgsim.so
	$$(call say,LD,$$@)$$(CC) $$(CFLAGS_$(1)) $$(CFLAGS) $$(LDFLAGS) -Wl,-rpath,'$$$$ORIGIN' -o $$@ $$^ $$(LIBS) -lcmocka

$$(DIR_$(1))/tests/plugin_%.so: tests/plugin_%.c build/flags
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)$$(CC) $$(ALL_CFLAGS) $$(CFLAGS_$(1)) $$(CFLAGS) $$(ALL_CPPFLAGS) -fPIC -shared -MMD -MP -o $$@ $$<

-include $$(OBJ_$(1):.o=.d) $$(TESTS:%=$$(DIR_$(1))/obj/tests/%.d) $$(PLUGINS:%=$$(DIR_$(1))/tests/%.d)
endef
$(foreach f,release debug san,$(eval $(call flavour,$(f))))

build/memcgsim-bench: $(BENCH_SRC:%.c=build/obj/%.o) $(LIBOBJ_release)
	$(call say,LD,$@)$(CC) $(CFLAGS_release) $(CFLAGS) $(LDFLAGS) -rdynamic -o $@ $^ $(LIBS)

-include $(BENCH_SRC:%.c=build/obj/%.d)

# What everything depends on but no file says: the compiler and its flags, and the commit that goes into
# the provenance of results. Each is rewritten only when it has changed.
build/flags: force
	@mkdir -p build
	@echo '$(CC) $(CFLAGS) $(CPPFLAGS) $(WERROR) $(PREFIX) $(VERSION)' | cmp -s - $@ || \
		echo '$(CC) $(CFLAGS) $(CPPFLAGS) $(WERROR) $(PREFIX) $(VERSION)' >$@

build/commit: force
	@mkdir -p build
	@{ git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown; } >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

build/tools:
	@mkdir -p build
	@pkg-config --exists $(PKGS) || { echo "memcgsim needs $(PKGS) and pkg-config: run 'make deps'" >&2; exit 1; }
	@touch $@

deps:
	@.ci/deps

# The libraries may be missing when this file is read, so what uses them is made by a second make.
demo: deps
	@$(MAKE) --no-print-directory -j$(JOBS) build/memcgsim
	@mkdir -p build/demo && rm -f build/demo/*
	build/memcgsim run scenarios/quickstart.yaml -j $(JOBS) -o build/demo/quickstart.db
	build/memcgsim plot build/demo/quickstart.db --format text
	build/memcgsim plot build/demo/quickstart.db --format png -o build/demo
	build/memcgsim plot build/demo/quickstart.db --format svg -o build/demo

check: deps
	@$(MAKE) --no-print-directory -j$(JOBS) check-build
	@JOBS=$(JOBS) tests/run

check-build: build/memcgsim build/debug/memcgsim build/san/memcgsim build/memcgsim-bench
check-build: $(foreach f,debug san,$(TESTS:%=$(DIR_$(f))/tests/%) $(PLUGINS:%=$(DIR_$(f))/tests/%.so))

bench: build/memcgsim-bench
	build/memcgsim-bench build/bench.csv

docs: build/memcgsim
	build/memcgsim reference >docs/options.md

# What agrees with real kernels and what does not: some minutes.
docs/validation.md: force build/memcgsim
	docs/validation-page.sh build/memcgsim >$@.new && mv $@.new $@

# Formatting, clang's warnings and clang-tidy. Not part of check: it needs clang.
lint:
	clang-format --dry-run -Werror $(CHECKED_C) $(CHECKED_H)
	clang -fsyntax-only $(ALL_CFLAGS) -Werror $(ALL_CPPFLAGS) $(CHECKED_C)
	echo $(CHECKED_C) | xargs -P $(JOBS) -n 4 sh -c 'clang-tidy --quiet "$$@" -- -std=gnu11 $(ALL_CPPFLAGS)' tidy
	shellcheck .ci/run .ci/deps tests/run tests/*.sh tests/cli/run tests/cli/*.sh

format:
	clang-format -i $(CHECKED_C) $(CHECKED_H)

SHARE = $(DESTDIR)$(PREFIX)/share
INSTALLED_DATA := $(shell find scenarios analysis -type f 2>/dev/null)
PUBLIC_H := $(filter-out bench/% tests/%,$(CHECKED_H))

install: build/memcgsim
	install -D build/memcgsim $(DESTDIR)$(PREFIX)/bin/memcgsim
	install -D -m 644 docs/memcgsim.1 $(SHARE)/man/man1/memcgsim.1
	for f in $(INSTALLED_DATA); do install -D -m 644 $$f $(SHARE)/memcgsim/$$f || exit 1; done
	for f in $(PUBLIC_H); do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/include/memcgsim/$$f || exit 1; done

clean:
	rm -rf build

help:
	@echo 'make            build/memcgsim, the release build'
	@echo 'make demo       install what is missing, build, run the quickstart, draw its figures'
	@echo 'make check      install what is missing, build, run all tests'
	@echo 'make bench      measure speed; table, and build/bench.csv'
	@echo 'make debug san  further builds: -O0 with assertions; sanitizers'
	@echo 'make docs       renew docs/options.md from the option tables'
	@echo 'make lint       formatting, clang warnings, clang-tidy, shellcheck'
	@echo 'make format     format the C sources'
	@echo 'make install    PREFIX=$(PREFIX), DESTDIR=$(DESTDIR)'
