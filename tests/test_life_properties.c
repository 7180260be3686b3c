/*
 * test_life_properties.c - statistics of cgroups that come and go in the kernel's own way, under random
 * schedules: mkdir, rmdir, updates, readers and flushes, interleaved as the simulated CPUs interleave them.
 *
 * Who updates a removed cgroup holds it, as a page does that is let go after rmdir(2). What is held, and what
 * was never removed, is looked at after every operation by a second way of counting: each update is added to
 * its cgroup and to all above, and stays there for ever, so whatever the end of a cgroup hands over has to
 * arrive exactly once. Then the last flush is spoiled on purpose, and every schedule in which that had an
 * effect has to be caught.
 */
#include "tests/draw.h"
#include "tests/host_fixture.h"

#include "models/cgroup/life.h"
#include "models/stat/stat_impl.h"

#define CPUS    2
#define NODES   2
#define TASKS   4
#define STEPS   40
#define GROUPS  48 /* ever made in a schedule; the first two are the root and /p */
#define LARGEST 6  /* of an update, in pages */

static const enum stat_item items[] = { NR_ANON_MAPPED, NR_FILE_PAGES, WORKINGSET_ACTIVATE_FILE, MEMCG_SWAP,
					PGFAULT };
#define NR_ITEMS (sizeof items / sizeof items[0])

enum group_state { LIVE, BUSY, HELD, LEFT }; /* BUSY: in mkdir below it, or in its own rmdir */

struct group {
	struct memcg *m;
	struct group *parent;
	enum group_state state;
	int64_t own[NR_ITEMS], sum[NR_ITEMS]; /* of all its updates; and of those of what was ever below it */
};

enum sabotage { NOTHING, LOSE, TAKE_TWICE };

struct world {
	struct fixture f;
	struct group groups[GROUPS];
	uint32_t nr;
	uint64_t seed;
	enum sabotage sabotage;
	bool spoiled;
	struct rstat_lock_ops real, ops;
	const char *broken; /* the first that was seen */
};

static struct world *world; /* the policy's hook is told of no context */

static void claim(bool holds, const char *invariant)
{
	if (!holds && !world->broken)
		world->broken = invariant;
}

/* ---- the second way of counting ---- */

static int64_t unflushed(struct memcg *root, enum stat_item item)
{
	int64_t sum = 0;

	for (struct memcg *m = NULL; (m = memcg_next(root, m));) {
		sum += m->stat->pending[item];
		for (const struct stat_pair *p = m->stat->pairs; p; p = p->of_memcg)
			sum += p->delta[item];
	}
	return sum;
}

static void look_at(const struct group *g, size_t k)
{
	enum stat_item item = items[k];
	int64_t nodes = 0;

	claim(stat_truth(g->m, item) == g->sum[k], "truth");
	claim(stat_reported(g->m, item) + unflushed(g->m, item) == g->sum[k], "I2");
	if (item >= NR_LRUVEC_ITEMS)
		return;
	for (uint32_t node = 0; node < NODES; node++)
		nodes += stat_reported_node(g->m, node, item);
	claim(nodes == stat_reported(g->m, item), "I5");
}

static void look(void)
{
	size_t k = (size_t)draw(&world->seed, NR_ITEMS);

	for (uint32_t i = 0; i < world->nr; i++)
		if (world->groups[i].state == LIVE || world->groups[i].state == HELD)
			look_at(&world->groups[i], k);
}

/* ---- what is spoiled ---- */

static void spoil(struct stat_pair *pair)
{
	int64_t delta = pair->delta[NR_ANON_MAPPED];

	if (world->spoiled || !delta)
		return;
	world->spoiled = true;
	if (world->sabotage == TAKE_TWICE) {
		rstat_take_in(stat_of(pair->memcg->host), pair);
		pair->changed |= (uint64_t)1 << NR_ANON_MAPPED;
		pair->delta[NR_ANON_MAPPED] = delta;
	} else {
		pair->delta[NR_ANON_MAPPED] = 0;
	}
}

static bool locked_flush(struct task *t, struct flush *f, struct memcg *root, bool may_sleep)
{
	if (world->sabotage && f->caller == FLUSH_RELEASE)
		for (struct stat_pair *pair = f->memcg->stat->pairs; pair; pair = pair->of_memcg)
			spoil(pair);
	return world->real.flush(t, f, root, may_sleep);
}

/* ---- what the tasks do ---- */

static struct group *some(enum group_state a, enum group_state b, uint32_t from)
{
	uint32_t first = (uint32_t)draw(&world->seed, GROUPS);

	for (uint32_t n = 0; n < GROUPS; n++) {
		uint32_t i = (first + n) % GROUPS;
		struct group *g = &world->groups[i];

		if (i >= from && i < world->nr && (g->state == a || g->state == b))
			return g;
	}
	return NULL;
}

static void add(struct memcg *m, struct group *parent)
{
	world->groups[world->nr++] = (struct group){ .m = m, .parent = parent };
}

static void make(struct task *t)
{
	struct group *parent = some(LIVE, LIVE, 0);
	struct memcg *m;
	char name[16];

	if (!parent || world->nr + TASKS > GROUPS)
		return;
	snprintf(name, sizeof name, "g%u-%u", world->nr, t->cpu->id);
	parent->state = BUSY;
	assert_int_equal(cgroup_mkdir(t, parent->m, name, &m), CGROUP_OK);
	task_sync(t);
	memcg_put(t, m); /* who removes it holds it himself */
	parent->state = LIVE;
	add(m, parent);
}

static void removed(struct task *t)
{
	struct group *g = some(LIVE, LIVE, 2);
	bool held = draw(&world->seed, 2);

	if (!g)
		return;
	g->state = BUSY;
	assert_true(memcg_tryget(g->m)); /* beyond rmdir(2), or else as long as it is under way */
	bool gone = cgroup_rmdir(t, g->m) == CGROUP_OK;

	task_sync(t);
	g->state = !gone ? LIVE : held ? HELD : LEFT;
	if (g->state != HELD)
		memcg_put(t, g->m);
}

static void let_go(struct task *t)
{
	struct group *g = some(HELD, HELD, 2);

	if (!g)
		return;
	g->state = LEFT;
	memcg_put(t, g->m);
}

static void update(struct task *t, struct group *g)
{
	size_t k = (size_t)draw(&world->seed, NR_ITEMS);
	int64_t val = 1 + (int64_t)draw(&world->seed, LARGEST);

	if (k < 2 && g->own[k] >= val && draw(&world->seed, 2))
		val = -val;
	g->own[k] += val;
	for (struct group *above = g; above; above = above->parent)
		above->sum[k] += val;
	if (items[k] < NR_LRUVEC_ITEMS)
		mod_lruvec_state(t, g->m, (uint32_t)draw(&world->seed, NODES), items[k], val);
	else if (items[k] < NR_STATE_ITEMS)
		mod_memcg_state(t, g->m, items[k], val);
	else
		count_memcg_events(t, g->m, items[k], (uint64_t)val);
}

/* Something that takes time, on a cgroup that its caller holds meanwhile. */
static void use(struct task *t)
{
	struct group *g = some(LIVE, HELD, 0);
	struct memcg *m = g ? g->m : NULL;
	struct stat_read read;

	if (!g || !memcg_tryget(m))
		return;
	switch (draw(&world->seed, 6)) {
	case 0:
		memory_stat_read(t, m, &read);
		break;
	case 1:
		stat_flush(t, m, (enum flush_caller)draw(&world->seed, NR_FLUSH_CALLERS));
		break;
	default:
		for (uint64_t n = 1 + draw(&world->seed, 12); n; n--) {
			task_sync(t);
			update(t, g);
		}
	}
	task_sync(t);
	memcg_put(t, m);
}

static void act(struct task *t, void *arg)
{
	(void)arg;
	for (int i = 0; i < STEPS; i++) {
		task_sync(t);
		switch (draw(&world->seed, 8)) {
		case 0:
			make(t);
			break;
		case 1:
			removed(t);
			break;
		case 2:
			let_go(t);
			break;
		default:
			use(t);
		}
		task_sync(t);
		look();
		if (draw(&world->seed, 4))
			cpu_work(t, draw(&world->seed, 20000) * SIM_NS);
		else
			task_sleep(t, draw(&world->seed, 8000) * SIM_US); /* of the order of a grace period */
	}
	task_sync(t);
	while (some(HELD, HELD, 2))
		let_go(t);
}

/* ---- a schedule ---- */

#define HEAD \
	"schema: 1\nscenario: test\nhost: { cpus: 2, nodes: 2, memory: 32MiB }\ncgroups: [ { name: p } ]\n"

static const char *const kinds[] = {
	HEAD "kernel: v5.15\n",
	HEAD "kernel: v6.1\n",
	HEAD "kernel: v6.6\npolicies: { flush: everyone_waits, rstat_lock: spin_hold }\n",
	HEAD "kernel: v6.12\n",
	HEAD "kernel: v6.18\n",
};
#define NR_KINDS (sizeof kinds / sizeof kinds[0])
#define ROUNDS   4
#define EPISODES 50 /* 1,000 schedules in all */

static void hook(struct world *w)
{
	struct stat_state *st = stat_of(w->f.host);

	w->real = *st->lock;
	w->ops = *st->lock;
	w->ops.flush = locked_flush;
	st->lock = &w->ops;
}

static void sweep(struct task *t, void *arg)
{
	(void)arg;
	while (some(LIVE, LIVE, 2)) /* parents are busy as long as their children are there */
		removed(t);
	while (some(HELD, HELD, 2))
		let_go(t);
}

/* But for those that an empty slot of a CPU's stock still names: a drain passes it over, as in the kernel. */
static bool all_gone(struct memcg *root)
{
	bool gone = true;

	for (struct memcg *m = NULL; (m = memcg_next(root, m));)
		gone &= m->life == MEMCG_ONLINE || m->nr_stocks;
	return gone;
}

/* The tasks one time, and time for all that they made to end; what is left has to add up. */
static void episode(struct world *w)
{
	w->nr = 2;
	for (uint32_t i = 0; i < TASKS; i++)
		fixture_spawn(&w->f, i % CPUS, act, NULL);
	fixture_run(&w->f);
	look();
	fixture_spawn(&w->f, 0, sweep, NULL);
	fixture_run(&w->f);
	look();
	assert_int_equal(w->f.host->cgroups->root->nr_descendants, 1);
	assert_true(all_gone(w->f.host->cgroups->root));
}

static void look_at_end(struct host *host)
{
	struct record *record = record_new(16);

	stat_invariants(host, record);
	claim(!record_invariants_broken(record), "I1, I2, I8");
	record_free(record);
}

/* So many schedules one after the other on one host. True if nothing was found. */
static bool schedule(size_t kind, uint64_t seed, enum sabotage sabotage, uint32_t episodes, bool *spoiled)
{
	static struct world w;

	w = (struct world){ .seed = seed * 7919 + 1, .sabotage = sabotage };
	world = &w;
	fixture_open(&w.f, kinds[kind]);
	hook(&w);
	add(w.f.host->cgroups->root, NULL);
	add(memcg_find(w.f.host, "/p"), &w.groups[0]);
	while (episodes--)
		episode(&w);
	look_at_end(w.f.host);
	fixture_close(&w.f);
	*spoiled = w.spoiled;
	return !w.broken;
}

static void test_random_schedules(void **state)
{
	bool spoiled;

	(void)state;
	for (uint64_t seed = 0; seed < ROUNDS; seed++)
		for (size_t kind = 0; kind < NR_KINDS; kind++)
			if (!schedule(kind, seed, NOTHING, EPISODES, &spoiled))
				fail_msg("kind %zu, seed %lu: %s", kind, (unsigned long)seed, world->broken);
}

static void test_a_spoiled_last_flush_is_seen(void **state)
{
	(void)state;
	for (enum sabotage s = LOSE; s <= TAKE_TWICE; s++) {
		uint32_t nr = 0;

		for (uint64_t seed = 1000; seed < 1008; seed++)
			for (size_t kind = 0; kind < NR_KINDS; kind++) {
				bool spoiled, clean = schedule(kind, seed, s, 1, &spoiled);

				if (spoiled == clean)
					fail_msg("sabotage %d, kind %zu, seed %lu", s, kind,
						 (unsigned long)seed);
				nr += spoiled;
			}
		assert_true(nr > 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_schedules),
		cmocka_unit_test(test_a_spoiled_last_flush_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
