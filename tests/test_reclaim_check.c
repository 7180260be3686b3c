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

#define IDLE (1u << 20) /* indices of an object that is there to be looked at: too many for each call */

typedef void (*break_fn)(struct actor *a, struct file_object *f);

struct trial {
	break_fn break_it;
	bool large; /* the host has so much to look at that only what a call came to is */
};

/* Reads until the limit makes it reclaim, breaks something, and goes on. */
static void read_on(struct task *t, struct actor *a)
{
	struct file_object *f = file_create(a->rig->host, 4096);
	const struct trial *trial = a->arg;

	if (trial->large)
		file_create(a->rig->host, IDLE);
	for (uint64_t i = 0; i < 4096; i++) {
		if (i == 2000) {
			task_sync(t);
			trial->break_it(a, f);
		}
		file_read(t, a->memcg, f, i, NULL);
	}
	a->rig->done = true;
}

static void caught_in(const char *lru, struct trial trial, const char *what)
{
	struct actor a = { .arg = &trial };
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

static void caught(const char *lru, break_fn break_it, const char *what)
{
	caught_in(lru, (struct trial){ break_it, false }, what);
}

/* On a host where a sixteenth of what there is to look at is more than all that is scanned. */
static void caught_at_once(const char *lru, break_fn break_it, const char *what)
{
	caught_in(lru, (struct trial){ break_it, true }, what);
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
	for (size_t i = 0; i < 4; i++) {
		struct trial trial = { nothing, i >= 2 };
		struct actor a = { .arg = &trial };
		struct rig r;
		char text[512];

		snprintf(text, sizeof text, RIG_HOST(2, 64MiB, "v6.1") TREE "policies: { reclaim: %s }\n",
			 lrus[i % 2]);
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

/* Of the page that is to go next. */
static void leaf_of_last(struct actor *a, struct file_object *f)
{
	uint64_t i = 0;

	(void)a;
	while (!slot_frame(f->object.slots[i]))
		i++;
	f->object.tree->leaves[cache_tree_leaf(i)].nr_values++;
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

static void own_age(struct actor *a, struct file_object *f)
{
	(void)f;
	classic_of(a->memcg->lruvecs[0])->own_age++;
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

/* The same where only what the call came to is looked at; what is counted in no cgroup of its is not. */
static void test_large(void **state)
{
	(void)state;
	caught_at_once("classic", list_size, "beyond its children");
	caught_at_once("classic", stock, "I9");
	caught_at_once("classic", usage, "I10");
	caught_at_once("classic", limit, "I11");
	caught_at_once("classic", refaults, "I12");
	caught_at_once("classic", leaf_of_last, "I12");
	caught_at_once("classic", node_count, "I14");
	caught_at_once("classic", nodes_reclaimed, "I14");
	caught_at_once("classic", own_age, "I15");
	caught_at_once("classic", stamp, "I16");
	caught_at_once("mglru", generation_size, "I17 size");
	caught_at_once("mglru", generations, "I17 generations");
	caught_at_once("mglru", leaf_of_last, "I12");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
