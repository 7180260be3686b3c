/*
 * mglru_fixture.h - a host with one CPU and the multi-generational LRU, as a kernel of choice has it, for
 * tests that look at one cgroup's lruvec.
 */
#ifndef TESTS_MGLRU_FIXTURE_H
#define TESTS_MGLRU_FIXTURE_H

#include "models/reclaim/mglru.h"
#include "models/reclaim/mglru_memcg_lru.h"
#include "tests/host_fixture.h"

#define MGLRU_HOST(options_) MGLRU_CPUS(1, options_)
#define MGLRU_CPUS(cpus_, options_)                                                                  \
	"schema: 1\nscenario: test\nhost: { cpus: " #cpus_ ", nodes: 1, memory: 256MiB }\n"          \
	"policies: { stat_update: rstat_global_threshold, flush: unified, rstat_lock: spin_yield,\n" \
	"  rstat_updated: cpu_lock, charge_batch: 64, charge_stock: 1, lru_lock: per_memcg,\n"       \
	"  reclaim: { name: mglru" options_ " } }\n"

struct mglru_fixture {
	struct fixture f;
	struct host *host;
	struct memcg *m;
	struct lruvec *lruvec;
	struct mglru *g;
};

/* `version` as host.kernel_version: rules are chosen when they are applied, so this is early enough. */
static inline void mglru_open(struct mglru_fixture *x, const char *text, uint32_t version)
{
	fixture_open(&x->f, text);
	x->host = x->f.host;
	x->host->kernel_version = version;
	x->host->pages->batch = version < 609 ? 15 : PAGE_BATCH_MOST;
	x->m = memcg_find(x->host, "/g");
	assert_non_null(x->m);
	x->lruvec = memcg_lruvec(x->m, 0);
	x->g = mglru_of(x->lruvec);
}

static inline void mglru_close(struct mglru_fixture *x)
{
	struct record *record = record_new(64);

	mglru_check(x->lruvec, record);
	memcg_lru_check(x->host, record);
	if (record_invariants_broken(record))
		fprintf(stderr, "%s", record_invariants_text(record));
	assert_int_equal(record_invariants_broken(record), 0);
	record_free(record);
	fixture_close(&x->f);
}

/* Runs `run` as a task, to its end. */
static inline void mglru_run(struct mglru_fixture *x, void (*run)(struct task *t, void *arg))
{
	fixture_spawn(&x->f, 0, run, x);
	fixture_run(&x->f);
}

static inline int64_t mglru_stat(const struct mglru_fixture *x, enum stat_item item)
{
	return stat_truth(x->m, item);
}

/* Pages by generation (its number modulo 4) and type. */
#define assert_pages(x_, seq_, type_, nr_) assert_int_equal((x_)->g->nr_pages[mglru_gen(seq_)][type_], nr_)

#endif
