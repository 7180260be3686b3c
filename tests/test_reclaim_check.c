/*
 * test_reclaim_check.c - builds with assertions look at invariants after reclaim: what is broken while a run
 * is under way ends it, with the name of the invariant.
 */
#include "models/cgroup/stock.h"
#include "models/reclaim/classic.h"
#include "models/reclaim/mglru.h"
#include "models/workingset/workingset_impl.h"
#include "tests/reclaim_rig.h"

#define TREE "cgroups: [ { name: p, memory.max: 2MiB, children: [ { name: c } ] } ]\n"

typedef void (*break_fn)(struct actor *a, struct file_object *f);

/* Reads until the limit makes it reclaim, breaks something, and goes on. */
static void read_on(struct task *t, struct actor *a)
{
	struct file_object *f = file_create(a->rig->host, 4096);
	break_fn break_it = *(break_fn *)a->arg;

	for (uint64_t i = 0; i < 4096; i++) {
		if (i == 2000) {
			task_sync(t);
			break_it(a, f);
		}
		file_read(t, a->memcg, f, i, NULL);
	}
	a->rig->done = true;
}

static void caught(const char *lru, break_fn break_it, const char *what)
{
	struct actor a = { .arg = &break_it };
	struct rig r;
	char text[512];

	snprintf(text, sizeof text, RIG_HOST(2, 64MiB, "v6.1") TREE "policies: { reclaim: %s }\n", lru);
	rig_open(&r, text, 0);
	rig_actor(&r, &a, "/p/c", read_on);
	sim_run(r.host->sim, SIM_SEC);
	if (!sim_error(r.host->sim))
		fail_msg("%s: not caught", what);
	if (!strstr(sim_error(r.host->sim), what) || !strstr(sim_error(r.host->sim), "after reclaim"))
		fail_msg("%s caught as: %s", what, sim_error(r.host->sim));
	fixture_close(&r.f);
}

static void nothing(struct actor *a, struct file_object *f)
{
	(void)a;
	(void)f;
}

/* What is not broken is not caught. */
static void test_whole(void **state)
{
	static const char *const lrus[] = { "classic", "mglru" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		break_fn break_it = nothing;
		struct actor a = { .arg = &break_it };
		struct rig r;
		char text[512];

		snprintf(text, sizeof text, RIG_HOST(2, 64MiB, "v6.1") TREE "policies: { reclaim: %s }\n",
			 lrus[i]);
		rig_open(&r, text, 0);
		rig_actor(&r, &a, "/p/c", read_on);
		rig_run(&r, 1);
		assert_true(r.done);
		rig_close(&r);
	}
}

/* ---- one for each invariant ---- */

static void list_size(struct actor *a, struct file_object *f)
{
	(void)f;
	a->memcg->lruvecs[0]->lru_zone_size[LRU_INACTIVE_FILE]++;
}

static void lost_flag(struct actor *a, struct file_object *f)
{
	page_of(a->rig->host, slot_frame(f->object.slots[1999]))->flags &= (uint16_t)~PG_CACHED;
}

static void stock(struct actor *a, struct file_object *f)
{
	struct stock_slot *slot = &a->rig->host->cgroups->stocks[1].slots[0]; /* nobody takes from it */

	(void)f;
	slot->memcg = a->memcg;
	slot->nr = 100;
}

static void usage(struct actor *a, struct file_object *f)
{
	(void)f;
	a->memcg->memory.usage++;
}

static void limit(struct actor *a, struct file_object *f)
{
	(void)f;
	a->memcg->parent->memory.max -= 100;
}

static void refaults(struct actor *a, struct file_object *f)
{
	(void)f;
	workingset_of(a->rig->host)->count.refaults += 100000;
}

static void leaf(struct actor *a, struct file_object *f)
{
	(void)a;
	f->object.tree->leaves[0].nr_values--;
}

static void node_count(struct actor *a, struct file_object *f)
{
	(void)f;
	workingset_of(a->rig->host)->nodes[0]++;
}

static void nodes_reclaimed(struct actor *a, struct file_object *f)
{
	(void)f;
	workingset_of(a->rig->host)->count.nodes_reclaimed++;
}

static void age(struct actor *a, struct file_object *f)
{
	(void)f;
	classic_of(a->memcg->parent->lruvecs[0])->nonresident_age++;
}

static void stamp(struct actor *a, struct file_object *f)
{
	(void)f;
	workingset_of(a->rig->host)->stamp_bits = 60; /* more than an entry has room for */
}

static void generation_size(struct actor *a, struct file_object *f)
{
	struct mglru *g = mglru_of(a->memcg->lruvecs[0]);

	(void)f;
	g->nr_pages[mglru_gen(g->max_seq)][LRU_FILE]++;
}

static void generations(struct actor *a, struct file_object *f)
{
	struct mglru *g = mglru_of(a->memcg->lruvecs[0]);

	(void)f;
	g->min_seq[LRU_ANON] = g->max_seq;
}

static void test_each(void **state)
{
	(void)state;
	caught("classic", list_size, "I5 list");
	caught("classic", lost_flag, "I5");
	caught("classic", stock, "I9");
	caught("classic", usage, "I10");
	caught("classic", limit, "I11");
	caught("classic", refaults, "I12");
	caught("classic", leaf, "I12");
	caught("classic", node_count, "I13");
	caught("classic", nodes_reclaimed, "I14");
	caught("classic", age, "I15");
	caught("classic", stamp, "I16");
	caught("mglru", generation_size, "I17 size");
	caught("mglru", generations, "I17 generations");
	caught("mglru", lost_flag, "I5");
	caught("mglru", node_count, "I13");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
