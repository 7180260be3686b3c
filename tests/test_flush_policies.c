/*
 * test_flush_policies.c - who flushes when, by policy: each rule that sets a policy apart from others.
 */
#include "tests/stat_rig.h"

#define CPUS  4
#define BATCH 64

struct play {
	struct rig *rig;
	struct memcg *root, *parent, *leaf, *other;
	struct stat_read read;
	enum flush_caller caller;
	struct memcg *of;
	sim_time_t begin, end;
	int64_t pages;
};

static void raise(struct play *p, const struct rig_config *config)
{
	*p = (struct play){ .rig = rig_new(config) };
	p->root = p->rig->host.cgroups->root;
	p->parent = rig_memcg(p->rig, NULL, "p");
	p->leaf = rig_memcg(p->rig, p->parent, "l");
	p->other = rig_memcg(p->rig, p->parent, "o");
}

static void update(struct task *t, void *arg)
{
	struct play *p = arg;

	for (int64_t i = 0; i < p->pages; i++)
		rig_update(t, p->of, 1);
}

static void read(struct task *t, void *arg)
{
	struct play *p = arg;

	p->begin = t->clock;
	memory_stat_read(t, p->of, &p->read);
	p->end = t->clock;
}

static void call(struct task *t, void *arg)
{
	struct play *p = arg;

	p->begin = t->clock;
	stat_flush(t, p->of, p->caller);
	task_sync(t);
	p->end = t->clock;
}

static void nothing(struct task *t, void *arg)
{
	(void)t;
	(void)arg;
}

/* A simulation stands still when nothing is to happen, so something has to. */
static void wait_a_bit(struct play *p, sim_time_t d)
{
	sim_time_t until = sim_now(p->rig->sim) + d;

	task_spawn(p->rig->sim,
		   &(struct task_attr){ .name = "end", .run = nothing, .cpu = 3, .start = until });
	rig_run(p->rig, until);
}

static void do_update(struct play *p, struct memcg *m, int64_t pages)
{
	p->of = m;
	p->pages = pages;
	rig_task(p->rig, 0, update, p);
	wait_a_bit(p, 10 * SIM_MS);
}

static uint64_t flushes_of_read(struct play *p, struct memcg *m)
{
	p->of = m;
	rig_task(p->rig, 1, read, p);
	wait_a_bit(p, 10 * SIM_MS);
	return p->read.flushes;
}

static uint64_t flushes_of_call(struct play *p, struct memcg *m, enum flush_caller caller)
{
	uint64_t before = p->rig->host.stat->count.flushes;

	p->of = m;
	p->caller = caller;
	rig_task(p->rig, 1, call, p);
	wait_a_bit(p, 10 * SIM_MS);
	return p->rig->host.stat->count.flushes - before;
}

static void every_reader_flushes_its_subtree(void **state)
{
	struct play p;

	(void)state;
	raise(&p, &(struct rig_config){
			  .cpus = CPUS, .version = 515, .update = "rstat_none", .flush = "always_subtree" });
	do_update(&p, p.leaf, 1);
	do_update(&p, p.other, 1);
	assert_int_equal(flushes_of_read(&p, p.leaf), 1);
	assert_int_equal(p.read.pairs, 1);
	assert_int_equal(p.read.error, 0);
	assert_int_equal(flushes_of_read(&p, p.leaf), 1); /* even with nothing to do */
	assert_int_equal(p.read.pairs, 0);
	assert_int_equal(flushes_of_read(&p, p.root), 1);
	assert_int_equal(p.read.pairs, 3);
	rig_free(p.rig);
}

/*
 * 5.15: reclaim and refaults flush the root, unless somebody is at it, and wait for nobody. Before, what
 * they look at was no matter of rstat.
 */
static void in_5_15_the_kernel_tries_for_the_root(void **state)
{
	static const enum flush_caller callers[] = { FLUSH_RECLAIM, FLUSH_REFAULT };

	(void)state;
	for (uint32_t version = 514; version <= 515; version++) {
		for (int i = 0; i < 2; i++) {
			struct play p, first;

			raise(&p, &(struct rig_config){ .cpus = CPUS,
							.version = version,
							.update = "rstat_none",
							.flush = "always_subtree" });
			do_update(&p, p.other, 1);
			assert_int_equal(flushes_of_call(&p, p.leaf, callers[i]), version == 515);
			assert_int_equal(stat_reported(p.root, NR_ANON_MAPPED), version == 515);
			for (int k = 0; k < 60; k++)
				do_update(&p, rig_memcg(p.rig, p.parent, "m"), 10);
			first = p;
			first.caller = FLUSH_PERIODIC;
			first.of = p.root;
			rig_task(p.rig, 1, call, &first);
			wait_a_bit(&p, 20 * SIM_US);
			p.of = p.leaf;
			p.caller = callers[i];
			rig_task(p.rig, 2, call, &p);
			wait_a_bit(&p, 10 * SIM_MS);
			assert_true(p.end < p.begin + 2 * SIM_US);
			if (version == 515)
				assert_true(p.begin > first.begin && p.end < first.end);
			rig_free(p.rig);
		}
	}
}

/* A read of a subtree leaves the machine's threshold alone; the root's clears it from v2 of the series on. */
static void nonunified_reads_and_the_threshold(void **state)
{
	static const struct {
		const char *flush;
		bool root_clears, cleared;
	} cases[] = {
		{ "nonunified_user", false, false },
		{ "nonunified_user", true, true },
		{ "nonunified_user_mutex", false, true },
		{ "everyone_waits", false, true },
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const uint64_t options = cases[i].root_clears;
		struct play p;

		raise(&p, &(struct rig_config){
				  .cpus = CPUS, .flush = cases[i].flush, .flush_options = &options });
		do_update(&p, p.leaf, 10 * (BATCH + 1));
		assert_int_equal(p.rig->host.stat->flush_threshold, CPUS + 1);
		assert_int_equal(flushes_of_read(&p, p.leaf), 1);
		assert_int_equal(p.rig->host.stat->flush_threshold, CPUS + 1);
		assert_int_equal(flushes_of_read(&p, p.root), 1);
		assert_int_equal(p.read.error, 0);
		assert_int_equal(p.rig->host.stat->flush_threshold, cases[i].cleared ? 0 : CPUS + 1);
		rig_free(p.rig);
	}
}

/*
 * What is counted while the root is flushed: cleared with the rest when the flush is over, or, from version
 * 2 of the series on, left to count towards the next one. Whether it is a reader or the unified flusher
 * that flushes.
 */
static void what_is_counted_meanwhile(void **state)
{
	static const struct {
		const char *flush;
		bool root_clears;
		enum flush_caller caller;
		bool kept;
	} cases[] = {
		{ "nonunified_user", false, FLUSH_RECLAIM, false },
		{ "nonunified_user", true, FLUSH_RECLAIM, true },
		{ "nonunified_user", true, FLUSH_READER, true },
		{ "nonunified_user_mutex", false, FLUSH_RECLAIM, true },
		{ "nonunified_user_mutex", false, FLUSH_READER, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const uint64_t options = cases[i].root_clears;
		struct play p, meanwhile;

		raise(&p, &(struct rig_config){
				  .cpus = CPUS, .flush = cases[i].flush, .flush_options = &options });
		do_update(&p, p.leaf, 10 * (BATCH + 1));
		for (int k = 0; k < 60; k++)
			do_update(&p, rig_memcg(p.rig, p.parent, "m"), 10);
		meanwhile = p;
		p.of = p.root;
		p.caller = cases[i].caller;
		rig_task(p.rig, 1, call, &p);
		rig_run(p.rig, sim_now(p.rig->sim) + 10 * SIM_US);
		meanwhile.of = p.other;
		meanwhile.pages = 3 * (BATCH + 1);
		rig_task(p.rig, 2, update, &meanwhile);
		wait_a_bit(&p, 10 * SIM_MS);
		assert_int_equal(p.rig->host.stat->count.flushes, 1);
		assert_int_equal(p.rig->host.stat->flush_threshold, cases[i].kept ? 3 : 0);
		rig_free(p.rig);
	}
}

/* Of the callers in the kernel only writeback was converted, and that only at first. */
static void writeback_is_a_reader_in_version_1(void **state)
{
	static const uint64_t options = 0;
	struct play p;

	(void)state;
	raise(&p,
	      &(struct rig_config){ .cpus = CPUS, .flush = "nonunified_user", .flush_options = &options });
	do_update(&p, p.leaf, 1);
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_WRITEBACK), 1);
	rig_free(p.rig);
	raise(&p, &(struct rig_config){ .cpus = CPUS, .flush = "nonunified_user_mutex" });
	do_update(&p, p.leaf, 1);
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_WRITEBACK), 0);
	rig_free(p.rig);
}

/* A refault flushes only when the worker has missed a whole cycle; reclaim goes by the threshold. */
static void unified_in_the_kernel(void **state)
{
	struct play p;

	(void)state;
	raise(&p, &(struct rig_config){ .cpus = CPUS });
	do_update(&p, p.leaf, 10 * (BATCH + 1));
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_RECLAIM), 1);
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_RECLAIM), 0);
	do_update(&p, p.leaf, 10 * (BATCH + 1));
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_REFAULT), 0);
	wait_a_bit(&p, 2 * FLUSH_TIME);
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_REFAULT), 1);
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_ZSWAP), 1);    /* always, its subtree */
	assert_int_equal(flushes_of_call(&p, p.root, FLUSH_PERIODIC), 1); /* whatever the threshold */
	rig_free(p.rig);
	raise(&p, &(struct rig_config){ .cpus = CPUS, .version = 516 });
	assert_int_equal(flushes_of_call(&p, p.root, FLUSH_PERIODIC), 0); /* but in 5.16 */
	rig_free(p.rig);
	for (uint32_t version = 517; version <= 518;
	     version++) { /* a refault, by the threshold alone up to 5.17 */
		raise(&p, &(struct rig_config){ .cpus = CPUS, .version = version });
		do_update(&p, p.leaf, 10 * BATCH);
		assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_REFAULT), version == 517);
		rig_free(p.rig);
	}
}

/* I6: a flush of a memcg clears its word and those of all it visits, and no ancestor's. */
static void a_memcg_flushes_by_its_own_threshold(void **state)
{
	struct play p;

	(void)state;
	raise(&p, &(struct rig_config){ .cpus = CPUS,
					.version = 608,
					.update = "rstat_memcg_threshold_cached",
					.flush = "memcg_threshold" });
	do_update(&p, p.leaf, CPUS * BATCH);
	assert_int_equal(flushes_of_read(&p, p.leaf), 0); /* not more than B x CPUs */
	do_update(&p, p.leaf, BATCH);
	assert_int_equal(p.leaf->stat->stats_updates, (CPUS + 1) * BATCH);
	assert_int_equal(p.root->stat->stats_updates, (CPUS + 1) * BATCH);
	assert_int_equal(flushes_of_read(&p, p.other), 0); /* nothing of its own */
	assert_int_equal(flushes_of_read(&p, p.leaf), 1);
	assert_int_equal(p.leaf->stat->stats_updates, 0);
	assert_int_equal(p.parent->stat->stats_updates, (CPUS + 1) * BATCH);
	do_update(&p, p.leaf, 2 * BATCH + 5);
	assert_int_equal(p.leaf->stat->stats_updates, 2 * BATCH);
	assert_int_equal(flushes_of_read(&p, p.parent), 1);
	assert_int_equal(p.leaf->stat->stats_updates, 0);
	assert_int_equal(rstat_pair_find(&p.rig->host, 0, p.leaf)->updates, 0);
	assert_int_equal(p.parent->stat->stats_updates, 0);
	assert_true(p.root->stat->stats_updates > CPUS * BATCH);
	rig_free(p.rig);
}

/* Ratelimited means "only when the root was not flushed for two periods", not "every two periods". */
static void ratelimited_callers_flush_when_the_worker_is_late(void **state)
{
	static const char *const policies[] = { "memcg_threshold", "memcg_ratelimited" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct play p;

		raise(&p, &(struct rig_config){ .cpus = CPUS,
						.version = 612,
						.update = "rstat_memcg_threshold_cached",
						.flush = policies[i] });
		assert_int_equal(flushes_of_call(&p, p.root, FLUSH_PERIODIC), 1);
		do_update(&p, p.leaf, 10 * BATCH);
		assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_REFAULT), 0);
		assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_RECLAIM), i == 0);
		do_update(&p, p.leaf, 10 * BATCH);
		wait_a_bit(&p, 2 * FLUSH_TIME);
		assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_REFAULT), 1);
		do_update(&p, p.leaf, 10 * BATCH);
		assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_RECLAIM), 1); /* a subtree moves no time */
		rig_free(p.rig);
	}
}

/* A long flush of the root by a reader, and a caller for a leaf while it is under way. */
static void second_caller(struct play *p, const char *flush, const char *lock, enum flush_caller caller,
			  bool relaxed)
{
	struct play first;
	const uint64_t options = relaxed;

	raise(p, &(struct rig_config){ .cpus = CPUS,
				       .version = 612,
				       .update = "rstat_memcg_threshold_cached",
				       .flush = flush,
				       .flush_options = &options,
				       .lock = lock });
	do_update(p, p->leaf, 10 * BATCH); /* first updated, last flushed */
	for (int i = 0; i < 60; i++)
		do_update(p, rig_memcg(p->rig, p->parent, "m"), 10);
	first = *p;
	first.of = p->root;
	rig_task(p->rig, 1, read, &first);
	wait_a_bit(p, 20 * SIM_US);
	p->of = p->leaf;
	p->caller = caller;
	rig_task(p->rig, 2, call, p);
	wait_a_bit(p, SIM_SEC);
	assert_int_equal(first.read.error, 0);
	first.begin = p->begin;
	p->begin = first.end; /* of the first flush; the second began before it ended */
	assert_true(first.begin < first.end);
}

static void covered_callers_wait_for_the_flush_under_way(void **state)
{
	struct play p;

	(void)state;
	second_caller(&p, "skip_if_ongoing", NULL, FLUSH_READER, true);
	assert_int_equal(p.rig->host.stat->count.flushes, 1);
	assert_true(p.end + p.rig->costs.read_format + SIM_US >= p.begin);
	assert_true(p.end < p.begin + 20 * SIM_US);
	assert_int_equal(stat_reported(p.leaf, NR_ANON_MAPPED), 10 * BATCH);
	rig_free(p.rig);
}

static void relaxed_callers_skip_it(void **state)
{
	struct play p;

	(void)state;
	second_caller(&p, "skip_if_ongoing", NULL, FLUSH_ZSWAP, true);
	assert_int_equal(p.rig->host.stat->count.flushes, 1);
	assert_true(p.end + 50 * SIM_US < p.begin);
	rig_free(p.rig);
	second_caller(&p, "skip_if_ongoing", NULL, FLUSH_ZSWAP, false);
	assert_true(p.end + p.rig->costs.read_format >= p.begin);
	rig_free(p.rig);
}

/* Without it the second one waits for the lock and flushes for itself. */
static void memcg_flushers_wait_for_the_lock(void **state)
{
	struct play p;

	(void)state;
	second_caller(&p, "memcg_ratelimited", "spin_hold", FLUSH_ZSWAP, false);
	assert_int_equal(p.rig->host.stat->count.flushes, 2);
	assert_true(p.end + p.rig->costs.read_format >= p.begin);
	rig_free(p.rig);
}

static void sublinear_thresholds(void **state)
{
	static const struct {
		uint32_t cpus, possible, factor[2];
	} cases[] = {
		{ 4, 14, { 3, 4 } }, { 64, 64, { 7, 8 } }, { 512, 512, { 10, 22 } }, { 1, 1, { 1, 1 } }
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (int formula = 0; formula < 2; formula++) {
			struct rig *r = rig_new(
				&(struct rig_config){ .cpus = cases[i].cpus,
						      .possible = cases[i].possible,
						      .version = 618,
						      .update = "rstat_memcg_threshold_cached_stop",
						      .flush = "sublinear_threshold",
						      .flush_options = &formula });

			assert_int_equal(r->host.stat->memcg_threshold, BATCH * cases[i].factor[formula]);
			rig_free(r);
		}
	}
}

static void be_busy(struct task *t, void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++)
		user_work(t, 10 * SIM_MS);
}

/* Calls of the worker in 9.9 s during which the CPUs below `busy` have something to do. */
static uint64_t calls_of_worker(const struct rig_config *config, uint32_t busy)
{
	struct play p;

	raise(&p, config);
	for (uint32_t cpu = 0; cpu < busy; cpu++)
		rig_task(p.rig, cpu, be_busy, NULL);
	stat_start(&p.rig->host);
	wait_a_bit(&p, 9900 * SIM_MS);
	uint64_t calls = p.rig->host.stat->count.calls[FLUSH_PERIODIC];

	assert_int_equal(p.rig->host.stat->count.flushes, calls);
	rig_free(p.rig);
	return calls;
}

/* The worker comes again two seconds, rounded up by the wheel, after it was done. */
static void the_worker_has_its_period(void **state)
{
	static const sim_time_t half = SIM_SEC / 2;
	struct rig_config config = { .cpus = CPUS };

	(void)state;
	assert_int_equal(calls_of_worker(&config, CPUS), 4);
	config.update = "rstat_none";
	config.flush = "always_subtree";
	config.version = 515;
	assert_int_equal(calls_of_worker(&config, CPUS), 4);
	config.version = 513;
	assert_int_equal(calls_of_worker(&config, CPUS), 0);
	config.flush = "periodic_only";
	config.flush_options = &half;
	config.version = 606;
	assert_in_range(calls_of_worker(&config, CPUS), 17, 19);
}

/*
 * Its timer goes on where the worker ran last. That is an idle CPU if there is one, and there a deferrable
 * timer waits for as long as the CPU has nothing else to do: why a nearly idle machine has the oldest
 * statistics.
 */
static void the_worker_lags_on_an_idle_machine(void **state)
{
	const struct rig_config config = { .cpus = CPUS };

	(void)state;
	assert_int_equal(calls_of_worker(&config, 1), 1);
	assert_int_equal(calls_of_worker(&config, 0), 0);
}

static void periodic_only_readers_take_what_is_there(void **state)
{
	static const sim_time_t period = 2 * SIM_SEC;
	struct play p;

	(void)state;
	raise(&p, &(struct rig_config){ .cpus = CPUS,
					.update = "rstat_none",
					.flush = "periodic_only",
					.flush_options = &period });
	do_update(&p, p.leaf, 1000);
	assert_int_equal(flushes_of_read(&p, p.leaf), 0);
	assert_int_equal(p.read.error, 1000);
	assert_int_equal(flushes_of_call(&p, p.root, FLUSH_PERIODIC), 1);
	assert_int_equal(flushes_of_read(&p, p.leaf), 0);
	assert_int_equal(p.read.error, 0);
	rig_free(p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reader_flushes_its_subtree),
		cmocka_unit_test(in_5_15_the_kernel_tries_for_the_root),
		cmocka_unit_test(nonunified_reads_and_the_threshold),
		cmocka_unit_test(what_is_counted_meanwhile),
		cmocka_unit_test(writeback_is_a_reader_in_version_1),
		cmocka_unit_test(unified_in_the_kernel),
		cmocka_unit_test(a_memcg_flushes_by_its_own_threshold),
		cmocka_unit_test(ratelimited_callers_flush_when_the_worker_is_late),
		cmocka_unit_test(covered_callers_wait_for_the_flush_under_way),
		cmocka_unit_test(relaxed_callers_skip_it),
		cmocka_unit_test(memcg_flushers_wait_for_the_lock),
		cmocka_unit_test(sublinear_thresholds),
		cmocka_unit_test(the_worker_has_its_period),
		cmocka_unit_test(the_worker_lags_on_an_idle_machine),
		cmocka_unit_test(periodic_only_readers_take_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
