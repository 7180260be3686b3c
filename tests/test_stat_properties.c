/*
 * test_stat_properties.c - the invariants I1 to I8 of statistics under random schedules: updates, flushes,
 * readers and removals, interleaved as the simulated CPUs happen to interleave them.
 *
 * After every operation and inside every flush all of it is looked at by a second, naive way. Then each
 * invariant is broken on purpose: a delta lost, taken in twice, flushed twice, and so on, at a random point
 * of a random schedule. Every schedule in which that had an effect has to be caught, and no other.
 */
#include <stdlib.h>

#include "models/stat/decision.h"
#include "tests/draw.h"
#include "tests/shared.h"
#include "tests/stat_rig.h"

#define CPUS    2
#define NODES   2
#define MEMCGS  6 /* with the root */
#define TASKS   4
#define STEPS   7
#define LARGEST 6 /* of an update, in pages */

enum sabotage {
	NOTHING,
	LOSE,           /* an update is in the truth and nowhere else: I1, I2 */
	TAKE_TWICE,     /* a CPU's part is added and stays where it was: I1, I2 */
	FLUSH_TWICE,    /* a pair is flushed a second time with what it had before: I1, I2 */
	KEEP_PENDING,   /* what was taken in stays pending: I2, I3 */
	CHILD_IN_LOCAL, /* a child's flush counts as the parent's own: I1, I4 */
	LOSE_NODE,      /* a by-node value misses what the total has: I5 */
	KEEP_WORD,      /* a flush leaves the number of updates: I6 */
	FORGET_WORD,    /* updates are not counted towards the threshold: I7 */
	NEGATIVE,       /* a size is taken out twice: I8 */
	NR_SABOTAGES
};

struct world {
	struct rig *rig;
	struct stat_update_ops real, ops;
	struct rstat_lock_ops real_lock, lock;
	uint32_t flushing;       /* flushes under way */
	uint64_t during[MEMCGS]; /* |updates| of the subtree made during flushes, since its last began */
	uint64_t seed;
	enum sabotage sabotage;
	uint32_t countdown; /* until it is done */
	bool done, thresholds, stops;
	bool may_pend[MEMCGS], removed[MEMCGS];
	int64_t own[MEMCGS][NR_STAT_ITEMS]; /* what this test has put in, by cgroup */
	int64_t local[MEMCGS][NR_STAT_ITEMS];
	const char *broken; /* the first invariant that was seen broken */
};

/* The policy hooks are told of no context. */
static struct world *world;

static void claim(bool holds, const char *invariant)
{
	if (!holds && !world->broken)
		world->broken = invariant;
}

static struct memcg *memcg(uint32_t id)
{
	return world->rig->host.cgroups->all[id];
}

/* ---- the second way of looking ---- */

static const enum stat_item items[] = { NR_ANON_MAPPED, NR_FILE_PAGES, WORKINGSET_ACTIVATE_FILE, MEMCG_SWAP,
					PGFAULT };
#define NR_ITEMS (sizeof items / sizeof items[0])

static int64_t unflushed(const struct memcg *root, enum stat_item item)
{
	int64_t sum = 0;

	for (struct memcg *m = NULL; (m = memcg_next((struct memcg *)root, m));) {
		sum += m->stat->pending[item];
		for (const struct stat_pair *p = m->stat->pairs; p; p = p->of_memcg)
			sum += p->delta[item];
	}
	return sum;
}

/* One of the items, whichever comes: a look at all of them would be most of the test's time. */
static void look_at_values(const struct memcg *m, enum stat_item item)
{
	int64_t truth = 0, nodes = 0;

	for (struct memcg *below = NULL; (below = memcg_next((struct memcg *)m, below));)
		truth += world->own[below->id][item];
	claim(truth == stat_truth(m, item), "truth");
	claim(stat_reported(m, item) + unflushed(m, item) == truth, "I2");
	claim(!m->stat->pending[item] || world->may_pend[m->id], "I3");
	if (item >= NR_LRUVEC_ITEMS)
		return;
	for (uint32_t node = 0; node < NODES; node++)
		nodes += stat_reported_node(m, node, item);
	claim(nodes == stat_reported(m, item), "I5");
}

/* What m's word and its CPUs hold: they move at other times than a child's, which was flushed alone. */
static uint64_t counted(const struct memcg *m)
{
	uint64_t sum = m->stat->stats_updates;

	for (const struct stat_pair *p = m->stat->pairs; p; p = p->of_memcg)
		sum += p->updates;
	return sum;
}

/* As first posted: a cgroup then may be due when its parent is not. */
static bool counters_outlive_flushes(void)
{
	return world->real.flushed == memcg_word_flushed;
}

/*
 * A flush sets a word to 0 once a CPU, and with it what others have counted since they were visited: so what
 * is updated during flushes is beyond the bound, and parents may be at rest when their children are not. Then
 * the walk of 6.16 stops at the child, and the parent never hears of what comes after.
 */
static void look_at_threshold(const struct memcg *m)
{
	const struct host *host = m->host;
	uint64_t threshold = stat_of(host)->memcg_threshold, batch = host->charge_batch;

	/* I7 before it has tripped; afterwards everything may come. */
	if (m->stat->stats_updates <= threshold)
		claim(world->flushing || (world->stops && world->during[m->id]) ||
			      m->stat->unflushed <=
				      threshold + (batch - 1) * CPUS + LARGEST + world->during[m->id],
		      "I7");
	else if (m->parent && !world->flushing && !world->during[m->parent->id] &&
		 !counters_outlive_flushes())
		claim(counted(m->parent) > threshold, "I6");
}

static void look(void)
{
	enum stat_item item = items[draw(&world->seed, NR_ITEMS)];

	for (uint32_t id = 0; id < MEMCGS; id++) {
		look_at_values(memcg(id), item);
		if (world->thresholds)
			look_at_threshold(memcg(id));
	}
}

/* ---- inside of a flush ---- */

static void look_at_local(const struct memcg *flushed)
{
	for (uint32_t id = 0; id < MEMCGS; id++)
		for (size_t k = 0; k < NR_ITEMS; k++) {
			int64_t now = stat_local(memcg(id), items[k]);

			claim(id == flushed->id || now == world->local[id][items[k]], "I4");
			world->local[id][items[k]] = now;
		}
}

/* The moment has come, and the sabotage would change something. */
static bool strikes(enum sabotage which, bool effective)
{
	if (world->sabotage != which || world->done || !effective)
		return false;
	if (world->countdown) {
		world->countdown--;
		return false;
	}
	world->done = true;
	return true;
}

static void spoil_flush(struct stat_pair *pair, const struct stat_pair *before)
{
	struct memcg *m = pair->memcg;
	struct memcg_stat *s = m->stat;
	int64_t delta = before->delta[NR_ANON_MAPPED];

	if (strikes(TAKE_TWICE, delta))
		pair->delta[NR_ANON_MAPPED] = delta;
	if (strikes(KEEP_PENDING, delta))
		s->pending[NR_ANON_MAPPED] += delta;
	if (strikes(CHILD_IN_LOCAL, delta && m->parent))
		m->parent->stat->local[NR_ANON_MAPPED] += delta;
	if (strikes(LOSE_NODE, delta && s->nodes[0]))
		s->nodes[0]->value[NR_ANON_MAPPED] -= delta;
	if (strikes(NEGATIVE, delta > 0))
		pair->delta[NR_ANON_MAPPED] = -s->value[NR_ANON_MAPPED] - 1;
	if (strikes(FLUSH_TWICE, delta)) {
		memcpy(pair->delta, before->delta, sizeof pair->delta);
		pair->changed = before->changed;
		pair->absolute = 0;
		rstat_take_in(stat_of(m->host), pair);
	}
}

/* What the pairs held when they were last updated: a flush has emptied them when it tells. */
static struct stat_pair held[MEMCGS][CPUS];

static void flushed(struct task *t, struct stat_pair *pair)
{
	struct memcg *m = pair->memcg;
	bool keep;

	spoil_flush(pair, &held[m->id][pair->cpu]);
	memset(held[m->id][pair->cpu].delta, 0, sizeof pair->delta);
	keep = strikes(KEEP_WORD, m->stat->stats_updates);
	if (world->real.flushed && !keep)
		world->real.flushed(t, pair);
	world->may_pend[m->id] = false;
	if (m->parent)
		world->may_pend[m->parent->id] = true;
	claim(!m->stat->pending_set && !pair->changed, "I3");
	claim(!m->stat->pending[NR_ANON_MAPPED], "I3");
	if (world->thresholds)
		claim(!m->stat->stats_updates && (!pair->updates || counters_outlive_flushes()), "I6");
	look_at_local(m);
}

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	if (strikes(LOSE, pair->delta[item]))
		pair->delta[item] -= pair->delta[item] > 0 ? 1 : -1;
	held[pair->memcg->id][pair->cpu] = *pair;
	if (world->sabotage == FORGET_WORD) {
		world->done = true;
		return;
	}
	world->real.updated(t, pair, item, size);
}

static bool locked_flush(struct task *t, struct flush *f, struct memcg *root, bool may_sleep)
{
	/* From 6.16 on a read of cpu.stat flushes nothing of memory. */
	for (struct memcg *m = NULL; f->caller != FLUSH_CPU_STAT && (m = memcg_next(root, m));)
		world->during[m->id] = 0;
	world->flushing++;
	bool done = world->real_lock.flush(t, f, root, may_sleep);

	world->flushing--;
	return done;
}

/* ---- what the tasks do ---- */

static void update(struct task *t)
{
	uint32_t id = (uint32_t)draw(&world->seed, MEMCGS);
	enum stat_item item = items[draw(&world->seed, NR_ITEMS)];
	int64_t val = 1 + (int64_t)draw(&world->seed, LARGEST);

	task_sync(t);
	if (world->removed[id])
		return;
	if (item < NR_STATE_ITEMS && item != WORKINGSET_ACTIVATE_FILE && world->own[id][item] >= val &&
	    draw(&world->seed, 2))
		val = -val;
	world->own[id][item] += val;
	for (struct memcg *m = memcg(id); m && world->flushing; m = m->parent)
		world->during[m->id] += (uint64_t)llabs(val);
	if (item < NR_LRUVEC_ITEMS)
		mod_lruvec_state(t, memcg(id), (uint32_t)draw(&world->seed, NODES), item, val);
	else if (item < NR_STATE_ITEMS)
		mod_memcg_state(t, memcg(id), item, val);
	else
		count_memcg_events(t, memcg(id), item, (uint64_t)val);
}

/* rmdir: the last flush, and nothing after it. */
static void remove_leaf(struct task *t)
{
	struct memcg *m = memcg(MEMCGS - 1 - (uint32_t)draw(&world->seed, 2));

	task_sync(t);
	if (world->removed[m->id])
		return;
	world->removed[m->id] = true;
	stat_flush(t, m, FLUSH_RELEASE);
}

static void act(struct task *t, void *arg)
{
	(void)arg;
	for (int i = 0; i < STEPS; i++) {
		struct stat_read read;
		struct memcg *m = memcg((uint32_t)draw(&world->seed, MEMCGS));

		switch (draw(&world->seed, 8)) {
		case 0:
			memory_stat_read(t, m, &read);
			claim(read.anon >= 0 && read.file >= 0, "I8");
			break;
		case 1:
			cpu_stat_read(t, m);
			break;
		case 2:
			stat_flush(t, m, (enum flush_caller)draw(&world->seed, NR_FLUSH_CALLERS));
			break;
		case 3:
			if (!draw(&world->seed, 8))
				remove_leaf(t);
			break;
		default:
			for (uint64_t n = 1 + draw(&world->seed, 12); n; n--)
				update(t);
		}
		task_sync(t);
		look();
		cpu_work(t, draw(&world->seed, 5000) * SIM_NS);
	}
}

/* ---- a schedule ---- */

static void plant(struct rig *r)
{
	struct memcg *a = rig_memcg(r, NULL, "a"), *b = rig_memcg(r, a, "b");

	rig_memcg(r, NULL, "c");
	rig_memcg(r, a, "d");
	rig_memcg(r, b, "e");
}

/* The checks at the end of every run, I1, I2 and I8 among them. */
static void look_at_end(struct rig *r)
{
	struct record *record = record_new(16);

	stat_invariants(&r->host, record);
	claim(!record_invariants_broken(record), "I1, I2, I8");
	record_free(record);
}

/* So many schedules one after the other, each from where the last ended. True if nothing was found. */
static bool schedule(const struct rig_config *config, enum sabotage sabotage, uint32_t episodes, bool *done)
{
	struct rig *r = rig_new(config);
	static struct world w;

	w = (struct world){
		.rig = r,
		.seed = config->seed * 7919 + 1,
		.sabotage = sabotage,
		.stops = config->update && strstr(config->update, "cached_stop"),
		.thresholds = config->update && strstr(config->update, "memcg_threshold"),
	};

	world = &w;
	memset(held, 0, sizeof held);
	w.countdown = (uint32_t)draw(&world->seed, 4);
	plant(r);
	r->host.charge_batch = 4;
	stat_of(&r->host)->memcg_threshold = 4 * CPUS;
	w.real = *stat_of(&r->host)->update;
	w.ops = (struct stat_update_ops){ .updated = updated, .flushed = flushed };
	stat_of(&r->host)->update = &w.ops;
	w.real_lock = *stat_of(&r->host)->lock;
	w.lock = (struct rstat_lock_ops){ .init = w.real_lock.init, .flush = locked_flush };
	stat_of(&r->host)->lock = &w.lock;
	for (uint32_t n = 1; n <= episodes && !w.broken; n++) {
		memset(w.removed, 0, sizeof w.removed); /* others of the same name */
		for (uint32_t i = 0; i < TASKS; i++)
			rig_task(r, i % CPUS, act, NULL);
		rig_run(r, n * SIM_SEC);
	}
	look_at_end(r);
	*done = w.done;
	rig_free(r);
	return !w.broken;
}

static const bool clears_late = false; /* the option of nonunified_user */
static const bool everyone = true;     /* of waits_if_ongoing */

static const struct rig_config kinds[] = {
	{ .cpus = CPUS, .nodes = NODES },
	{ .cpus = CPUS, .nodes = NODES, .flush = "everyone_waits", .lock = "spin_hold" },
	{ .cpus = CPUS, .nodes = NODES, .version = 515, .update = "rstat_none", .flush = "always_subtree" },
	{ .cpus = CPUS,
	  .nodes = NODES,
	  .version = 612,
	  .update = "rstat_memcg_threshold_cached",
	  .flush = "memcg_threshold",
	  .lock = "per_cpu_step" },
	{ .cpus = CPUS,
	  .nodes = NODES,
	  .version = 618,
	  .update = "rstat_memcg_threshold",
	  .flush = "always_subtree",
	  .lock = "per_subsystem",
	  .updated = "lockless" },
	{ .cpus = CPUS, .nodes = NODES, .flush = "nonunified_user", .flush_options = &clears_late },
	{ .cpus = CPUS, .nodes = NODES, .flush = "nonunified_user_mutex", .lock = "mutex" },
	{ .cpus = CPUS, .nodes = NODES, .flush = "waits_if_ongoing", .flush_options = &everyone },
	{ .cpus = CPUS,
	  .nodes = NODES,
	  .version = 615,
	  .update = "rstat_memcg_threshold_cached_stop",
	  .flush = "memcg_ratelimited",
	  .lock = "per_cpu_step" },
};
#define NR_KINDS (sizeof kinds / sizeof kinds[0])
#define ROUNDS   30
#define EPISODES 100 /* 27,000 schedules in both flavours */

static void test_random_schedules(void **state)
{
	bool done;

	(void)state;
	for (uint64_t seed = FIRST_SHARED; seed < ROUNDS; seed += NR_SHARING)
		for (size_t kind = 0; kind < NR_KINDS; kind++) {
			struct rig_config config = kinds[kind];

			config.seed = seed;
			if (!schedule(&config, NOTHING, EPISODES, &done))
				fail_msg("kind %zu, seed %lu: %s", kind, (unsigned long)seed, world->broken);
		}
}

/* Of `rounds` schedules: how many were spoiled, and how many of these were seen. */
static void spoil(enum sabotage sabotage, size_t kind, uint64_t rounds, uint64_t *spoiled, uint64_t *seen)
{
	for (uint64_t seed = 0; seed < rounds; seed++) {
		struct rig_config config = kinds[kind];
		bool done;

		config.seed = seed + 100000;
		bool clean = schedule(&config, sabotage, 1, &done);

		*spoiled += done;
		*seen += done && !clean;
		assert_true(done || clean);
	}
}

static void test_sabotage_is_seen(void **state)
{
	(void)state;
	for (enum sabotage s = LOSE; s < NR_SABOTAGES; s++) {
		uint64_t spoiled = 0, seen = 0;

		/*
		 * Words exist with a threshold of each memcg only; forgetting them shows once enough is
		 * there.
		 */
		for (size_t kind = s == KEEP_WORD || s == FORGET_WORD ? 3 : 0;
		     kind < (s == KEEP_WORD || s == FORGET_WORD ? 4 : NR_KINDS); kind++)
			spoil(s, kind, 100, &spoiled, &seen);
		if (spoiled < 20 || (s == FORGET_WORD ? seen < 20 : seen < spoiled))
			fail_msg("sabotage %d: %lu of %lu seen", s, (unsigned long)seen,
				 (unsigned long)spoiled);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_schedules),
		cmocka_unit_test(test_sabotage_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
