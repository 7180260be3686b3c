/*
 * test_list_lru.c - list_lru against lists kept by hand: one task that adds, deletes, walks and reparents at
 * random, where order and counts must be the same after every step; and several at once, where every item
 * must be in the end on the list of whom it belongs to.
 */
#include "models/host/slab.h"
#include "models/list_lru/list_lru_impl.h"
#include "models/page/page_impl.h"
#include "sim/engine/random.h"
#include "tests/host_fixture.h"

#define HEAD                                                                                         \
	"schema: 1\nscenario: test\nhost: { cpus: 4, nodes: 2, memory: 64MiB }\n"                    \
	"policies: { stat_update: rstat_global_threshold, flush: unified, rstat_lock: spin_yield,\n" \
	"  rstat_updated: cpu_lock, charge_batch: 64, charge_stock: 1"
#define TREE                                                                                            \
	" }\ncgroups: [ { name: p, children: [ { name: a, children: [ { name: b }, { name: c } ] }, { " \
	"name: d } ] } ]\n"

enum { NODES = 2, MEMCGS = 6, ITEMS = 60, STEPS = 3000 };

static const char *const axes[] = {
	HEAD ", list_lru_lock: per_node, list_lru_alloc: eager" TREE,
	HEAD ", list_lru_lock: per_node, list_lru_alloc: lazy" TREE,
	HEAD ", list_lru_lock: per_memcg, list_lru_alloc: lazy" TREE,
};

struct thing {
	struct list_lru_item item;
	struct spinlock lock; /* the object's own, outside of the list's */
	uint32_t owner;       /* memcg id */
	uint32_t node;
	bool listed;
};

/* Lists as arrays: the item numbers in order. */
struct model {
	uint32_t items[MEMCGS][NODES][ITEMS], nr[MEMCGS][NODES];
	bool offline[MEMCGS];
};

static struct world {
	struct fixture f;
	struct list_lru lru;
	struct shrinker shrinker;
	struct thing things[ITEMS];
	struct model model;
	struct stream random;
	uint64_t walked, taken, reparented;
} w;

static struct memcg *memcg_of(uint32_t id)
{
	return w.f.host->cgroups->all[id];
}

static struct thing *thing_of(struct list_lru_item *item)
{
	return (struct thing *)(void *)item;
}

static uint32_t number_of(const struct thing *thing)
{
	return (uint32_t)(thing - w.things);
}

static uint64_t nothing(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node)
{
	(void)t;
	(void)s;
	(void)m;
	(void)node;
	return SHRINK_EMPTY;
}

/* The lists alone stand here for what a memcg pays for. */
static void reparent_things(struct task *t, struct memcg *m)
{
	(void)t;
	for (uint32_t i = 0; i < ITEMS; i++)
		if (w.things[i].owner == m->id)
			w.things[i].owner = m->parent->id;
}

static void open_world(const char *text)
{
	memset(&w, 0, sizeof w);
	fixture_open(&w.f, text);
	stream_init(&w.random, 1, "test_list_lru", "steps");
	w.shrinker = (struct shrinker){ .name = "test", .seeks = 2, .count = nothing };
	shrinker_register(w.f.host, &w.shrinker);
	list_lru_init(&w.lru, w.f.host, "test", &w.shrinker);
	assert_int_equal(w.f.host->cgroups->nr, MEMCGS);
	for (uint32_t i = 0; i < ITEMS; i++) {
		spin_lock_init(&w.things[i].lock, lock_class(w.f.run.sim, "thing"));
		w.things[i].owner = (uint32_t)stream_below(&w.random, MEMCGS);
		w.things[i].node = (uint32_t)stream_below(&w.random, NODES);
	}
}

static void close_world(void)
{
	assert_true(fixture_holds(&w.f));
	fixture_close(&w.f);
}

/* ---- what must hold at rest ---- */

static void check_list(uint32_t memcg, uint32_t node, int64_t *total)
{
	const struct list_lru_one *one = list_lru_find(&w.lru, memcg, node);
	int64_t nr = 0;

	for (struct list_lru_item *item = one ? one->head.next : NULL; item && item != &one->head;
	     item = item->next, nr++) {
		assert_ptr_equal(item->next->prev, item);
		assert_int_equal(thing_of(item)->owner, memcg);
		assert_int_equal(thing_of(item)->node, node);
		assert_true(thing_of(item)->listed);
	}
	assert_int_equal(nr, one ? one->nr_items : 0);
	assert_int_equal(list_lru_count_one(&w.lru, memcg_of(memcg), node), nr);
	if (nr && memcg)
		assert_true(shrinker_bit(memcg_of(memcg), node, &w.shrinker));
	*total += nr;
}

static void check_all(void)
{
	uint64_t listed = 0, lists = 0;

	for (uint32_t node = 0; node < NODES; node++) {
		int64_t total = 0;

		for (uint32_t m = 0; m < MEMCGS; m++)
			if (!memcg_of(m)->kmemcg)
				check_list(m, node, &total);
		assert_int_equal(list_lru_count_node(&w.lru, node), total);
		listed += (uint64_t)total;
	}
	for (uint32_t i = 0; i < ITEMS; i++) {
		assert_int_equal(list_lru_listed(&w.things[i].item), w.things[i].listed);
		listed -= w.things[i].listed;
	}
	assert_int_equal(listed, 0);
	for (uint32_t m = 1; m < MEMCGS; m++)
		lists += list_lru_memcg_find(&w.lru, m) != NULL;
	assert_int_equal(w.lru.nr_memcgs, lists);
}

/* ---- one task, against the arrays ---- */

static void model_remove(uint32_t m, uint32_t node, uint32_t at)
{
	uint32_t *items = w.model.items[m][node];

	memmove(items + at, items + at + 1, (--w.model.nr[m][node] - at) * sizeof *items);
}

static void model_add(uint32_t m, uint32_t node, uint32_t item)
{
	w.model.items[m][node][w.model.nr[m][node]++] = item;
}

static uint32_t model_find(uint32_t m, uint32_t node, uint32_t item)
{
	for (uint32_t i = 0; i < w.model.nr[m][node]; i++)
		if (w.model.items[m][node][i] == item)
			return i;
	fail_msg("item %u is not on the list of %u", item, m);
	return 0;
}

/* What becomes of an item: by its number and the step, so that the arrays can do the same. */
static enum lru_status fate(uint32_t item, uint64_t step)
{
	switch ((item * 7 + step) % 8) {
	case 0:
		return LRU_ROTATE;
	case 1:
		return LRU_SKIP;
	case 2:
		return LRU_REMOVED_RETRY;
	case 3:
		return LRU_RETRY;
	case 4:
		return item % 5 ? LRU_SKIP : LRU_STOP;
	default:
		return LRU_REMOVED;
	}
}

static enum lru_status isolate(struct task *t, struct list_lru_walk *walk, struct list_lru_item *item)
{
	struct thing *thing = thing_of(item);
	enum lru_status status = fate(number_of(thing), *(uint64_t *)walk->arg);

	if (status == LRU_REMOVED || status == LRU_REMOVED_RETRY) {
		list_lru_isolate(walk, item);
		thing->listed = false;
	}
	if (status == LRU_RETRY || status == LRU_REMOVED_RETRY)
		spin_unlock(t, walk->lock);
	return status;
}

/* The same walk over the array. */
static uint64_t model_walk(uint32_t m, uint32_t node, uint64_t step, uint64_t *nr)
{
	uint64_t taken = 0;
	uint32_t at = 0;

	while (*nr && at < w.model.nr[m][node]) {
		uint32_t item = w.model.items[m][node][at];
		enum lru_status status = fate(item, step);

		--*nr;
		if (status == LRU_STOP)
			break;
		if (status == LRU_SKIP) {
			at++;
		} else if (status == LRU_RETRY) {
			at = 0;
		} else if (status == LRU_ROTATE) {
			bool last = at + 1 == w.model.nr[m][node];

			model_remove(m, node, at);
			model_add(m, node, item);
			if (last) /* the one after it was the end already */
				break;
		} else {
			model_remove(m, node, at);
			taken++;
			at = status == LRU_REMOVED_RETRY ? 0 : at;
		}
	}
	return taken;
}

static void compare(void)
{
	for (uint32_t m = 0; m < MEMCGS; m++)
		for (uint32_t node = 0; node < NODES; node++) {
			const struct list_lru_one *one = list_lru_find(&w.lru, m, node);
			struct list_lru_item *item = one ? one->head.next : NULL;

			if (w.model.offline[m])
				continue;
			for (uint32_t i = 0; i < w.model.nr[m][node]; i++, item = item->next)
				assert_int_equal(number_of(thing_of(item)), w.model.items[m][node][i]);
			assert_true(!one || item == &one->head);
		}
}

static void toggle(struct task *t, uint32_t i)
{
	struct thing *thing = &w.things[i];
	uint32_t m = thing->owner;

	assert_true(list_lru_prepare(t, &w.lru, memcg_of(m)));
	if (thing->listed) {
		assert_false(list_lru_add(t, &w.lru, &thing->item, thing->node, memcg_of(m)));
		assert_true(list_lru_del(t, &w.lru, &thing->item, thing->node, memcg_of(m)));
		model_remove(m, thing->node, model_find(m, thing->node, i));
	} else {
		assert_false(list_lru_del(t, &w.lru, &thing->item, thing->node, memcg_of(m)));
		assert_true(list_lru_add(t, &w.lru, &thing->item, thing->node, memcg_of(m)));
		model_add(m, thing->node, i);
	}
	thing->listed = !thing->listed;
}

static void walk(struct task *t, uint64_t step)
{
	uint32_t m = (uint32_t)stream_below(&w.random, MEMCGS),
		 node = (uint32_t)stream_below(&w.random, NODES);
	uint64_t nr = stream_below(&w.random, 20), left = nr;

	if (w.model.offline[m])
		return;
	uint64_t taken = list_lru_walk_one(t, &w.lru, memcg_of(m), node, isolate, &step, &nr);

	assert_int_equal(taken, model_walk(m, node, step, &left));
	assert_int_equal(nr, left);
	w.walked++;
	w.taken += taken;
}

static bool has_children(uint32_t m)
{
	for (const struct memcg *child = memcg_of(m)->first_child; child; child = child->next_sibling)
		if (!w.model.offline[child->id])
			return true;
	return false;
}

/* What it has goes before what the parent has. */
static void go_offline(struct task *t, uint32_t m)
{
	uint32_t parent = memcg_of(m)->parent->id;

	for (uint32_t node = 0; node < NODES; node++) {
		uint32_t *mine = w.model.items[m][node], *theirs = w.model.items[parent][node];
		uint32_t nr = w.model.nr[m][node];

		memmove(theirs + nr, theirs, w.model.nr[parent][node] * sizeof *theirs);
		memcpy(theirs, mine, nr * sizeof *theirs);
		w.model.nr[parent][node] += nr;
		w.model.nr[m][node] = 0;
		w.reparented += nr;
	}
	w.model.offline[m] = true;
	memcg_offline_kmem(t, memcg_of(m), reparent_things);
	task_sync(t);
	reparent_shrinker_deferred(memcg_of(m));
}

static void alone(struct task *t, void *arg)
{
	(void)arg;
	for (uint64_t step = 0; step < STEPS; step++) {
		task_sync(t);
		if (stream_below(&w.random, 10))
			toggle(t, (uint32_t)stream_below(&w.random, ITEMS));
		else
			walk(t, step);
		uint32_t m;

		/* Every 700 steps one without children goes: the deepest first. */
		for (m = MEMCGS - 1; step % 700 == 699 && m && (w.model.offline[m] || has_children(m)); m--)
			;
		if (step % 700 == 699 && m)
			go_offline(t, m);
		task_sync(t);
		compare();
		if (step % 50 == 0)
			check_all();
	}
}

static void against_arrays(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
		open_world(axes[i]);
		fixture_spawn(&w.f, 0, alone, NULL);
		fixture_run(&w.f);
		check_all();
		assert_true(w.walked > 100 && w.taken > 100 && w.reparented > 20);
		close_world();
	}
}

/* ---- several at once ---- */

/* Takes those whose lock is free, one lock of the list for each. */
static enum lru_status isolate_tried(struct task *t, struct list_lru_walk *walk, struct list_lru_item *item)
{
	struct thing *thing = thing_of(item);

	(void)walk;
	if (!spin_trylock(t, &thing->lock))
		return LRU_SKIP;
	list_lru_isolate(walk, item);
	thing->listed = false;
	w.taken++;
	spin_unlock(t, walk->lock);
	spin_unlock(t, &thing->lock);
	return LRU_REMOVED_RETRY;
}

static void worker(struct task *t, void *arg)
{
	(void)arg;
	for (int step = 0; step < 600; step++) {
		struct thing *thing = &w.things[stream_below(&w.random, ITEMS)];

		task_sync(t);
		spin_lock(t, &thing->lock);
		if (thing->listed)
			list_lru_del(t, &w.lru, &thing->item, thing->node, memcg_of(thing->owner));
		else
			list_lru_add(t, &w.lru, &thing->item, thing->node, memcg_of(thing->owner));
		task_sync(t);
		thing->listed = !thing->listed;
		spin_unlock(t, &thing->lock);
		if (step % 8 == 0) {
			uint64_t nr = 4;

			task_sync(t);
			list_lru_walk_one(t, &w.lru, memcg_of((uint32_t)stream_below(&w.random, MEMCGS)),
					  (uint32_t)stream_below(&w.random, NODES), isolate_tried, NULL, &nr);
		}
	}
}

/* Children first; the rest of the time the items of the dead are used on. */
static void reaper(struct task *t, void *arg)
{
	(void)arg;
	for (uint32_t m = MEMCGS - 1; m; m--) {
		task_sleep(t, 40 * SIM_US);
		if (m == memcg_find(w.f.host, "/p")->id || has_children(m))
			continue;
		task_sync(t);
		w.model.offline[m] = true;
		memcg_offline_kmem(t, memcg_of(m), reparent_things);
		w.reparented++;
	}
}

static void together(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
		open_world(axes[i]);
		for (uint32_t cpu = 0; cpu < 3; cpu++)
			fixture_spawn(&w.f, cpu, worker, NULL);
		fixture_spawn(&w.f, 3, reaper, NULL);
		fixture_run(&w.f);
		check_all();
		assert_true(w.taken > 50 && w.reparented >= 3);
		close_world();
	}
}

/* ---- when lists are made ---- */

static void lists_are_made(void **state)
{
	static const uint64_t before[] = { MEMCGS - 1, 0, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
		open_world(axes[i]);
		assert_int_equal(w.lru.nr_memcgs, before[i]);
		/* With the first object of a cgroup, and for all above it. */
		list_lru_prepare(NULL, &w.lru, memcg_find(w.f.host, "/p/a/b"));
		assert_int_equal(w.lru.nr_memcgs, before[i] ? before[i] : 3);
		close_world();
	}
}

/* Memory for one array, and none to wait for: it is the root's, and the child goes offline without any. */
static void short_of_memory(struct task *t, void *arg)
{
	struct host *host = w.f.host;
	struct memcg *b = memcg_find(host, "/p/a/b");
	uint32_t bytes = list_lru_array_bytes(host), node = t->cpu->node;
	uint64_t before = slab_pages(host);
	struct spinlock lock;

	(void)arg;
	spin_lock_init(&lock, lock_class(host->sim, "test"));
	task_sync(t);
	assert_true(slab_get(t, host, node, bytes));
	for (uint64_t left = (slab_pages(host) - before) * PAGE_SIZE / bytes - 2; left; left--)
		assert_true(slab_get(t, host, node, bytes));
	for (uint32_t n = 0; n < NODES; n++)
		kernel_frames_boot(host, n, node_free(host, n));
	spin_lock_irq(t, &lock);
	task_sync(t);
	assert_false(list_lru_prepare(t, &w.lru, b));
	spin_unlock_irq(t, &lock);
	assert_non_null(list_lru_find(&w.lru, host->cgroups->root->id, 0));
	assert_null(list_lru_find(&w.lru, b->id, 0));
	memcg_offline_kmem(t, b, reparent_things);
}

static void lists_from_the_top(void **state)
{
	(void)state;
	for (size_t i = 1; i < sizeof axes / sizeof *axes; i++) {
		open_world(axes[i]);
		fixture_spawn(&w.f, 0, short_of_memory, NULL);
		fixture_run(&w.f);
		close_world();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_arrays),
		cmocka_unit_test(together),
		cmocka_unit_test(lists_are_made),
		cmocka_unit_test(lists_from_the_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
