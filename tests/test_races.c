/*
 * test_races.c - pages that reclaim has taken off their lists while others read, remove, activate or release
 * them: who drops the last reference frees the page, and nobody else. By hand where the order can be said;
 * otherwise many CPUs in a limit that holds a third of what they use, under both LRUs, by the rules of each
 * kernel: what is freed twice or stands on a list it does not belong to breaks an invariant or an assertion.
 */
#include "tests/evict_rig.h"
#include "tests/text_run.h"

/* ---- by hand ---- */

#define FULL_ZRAM \
	"devices: [ { name: z, device: zram, size: 1MiB, ratio: 1, limit: 8KiB } ]\nswap: { device: z }\n"

static struct tmpfs_object *one_page(struct task *t, struct rig *r, frame_t *frame)
{
	struct tmpfs_object *o = tmpfs_create(r->host, 1);

	assert_int_equal(tmpfs_write(t, r->c, o, 0, NULL), FILE_MISS);
	lru_add_drain(t);
	task_sync(t);
	*frame = rig_frame((struct page_object *)(void *)o, 0);
	return o;
}

static void take_off(struct task *t, struct rig *r, frame_t frame)
{
	struct lruvec *lruvec = lruvec_relock_irq(t, r->host, page_of(r->host, frame), NULL);

	fifo_del(t, lruvec, frame);
	assert_true(page_try_get(page_of(r->host, frame)));
	spin_unlock_irq(t, lruvec->lock);
	task_sync(t);
}

/* Meanwhile the batch is drained that has the page before. */
static enum fate drain_and_keep(struct task *t, struct lruvec *lruvec, frame_t frame, struct scan_control *sc)
{
	(void)lruvec, (void)frame, (void)sc;
	lru_add_drain(t);
	return FATE_KEEP;
}

static void removed_and_in_a_batch(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct scan_control sc = { .target = r->c };
	struct shrink_result result;
	enum fate fates[2];
	frame_t frames[2];
	struct tmpfs_object *goes = one_page(t, r, &frames[0]), *stays = one_page(t, r, &frames[1]);
	frame_t kept = frames[1];
	struct lruvec *lruvec = memcg_lruvec(r->c, page_of(r->host, kept)->node);

	take_off(t, r, frames[0]);
	take_off(t, r, frames[1]);
	tmpfs_remove(t, goes);
	task_sync(t);
	assert_true(page_of(r->host, frames[0])->flags & PG_ORPHAN);
	page_activate_later(t, r->host, frames[0]);
	assert_int_equal(shrink_folio_list(t, lruvec, frames, fates, 2, &sc, drain_and_keep, &result), 1);
	assert_int_equal(frames[0], kept);
	task_sync(t);
	assert_true(isolated_put(page_of(r->host, kept)));
	spin_lock_irq(t, lruvec->lock);
	fifo_add(t, lruvec, kept);
	spin_unlock_irq(t, lruvec->lock);
	tmpfs_remove(t, stays);
}

static void last_reference(struct task *t, void *arg)
{
	struct rig *r = arg;
	frame_t frame;
	struct tmpfs_object *o = one_page(t, r, &frame);
	struct page *page = page_of(r->host, frame);

	assert_true(page_try_get(page));
	assert_false(page_put(page)); /* it is the file's */
	assert_true(page_try_get(page));
	tmpfs_remove(t, o);
	task_sync(t);
	assert_true(page_try_get(page)); /* an orphan may be taken as long as somebody has it */
	assert_false(page_put(page));
	assert_true(page_put(page));
	assert_false(page_try_get(page));
	pages_release(t, r->host, &frame, 1);
}

/* Reclaim has unmapped it and finds no room in swap; nobody touches it before it is unmapped for good. */
static void unmapped_in_vain(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct anon_object *a = anon_create(r->host, r->c, 4);

	for (uint64_t i = 0; i < 4; i++)
		assert_true(anon_touch(t, a, i, NULL));
	lru_add_drain(t);
	task_sync(t);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(rig_evict(t, r->host, rig_frame((struct page_object *)(void *)a, i), r->c),
				 i < 2 ? EVICT_GONE : EVICT_NO_SWAP);
	anon_unmap(t, a);
	task_sync(t);
	assert_int_equal(anon_present(a), 0);
	assert_int_equal(stat_truth(r->c, NR_INACTIVE_ANON), 0);
}

static void by_hand(void **state)
{
	(void)state;
	rig_run_on(RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\n", 1, removed_and_in_a_batch);
	rig_run_on(RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\n", 1, last_reference);
	rig_run_on(RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\n" FULL_ZRAM, 1, unmapped_in_vain);
}

/* ---- many CPUs ---- */

#define CROWD                                                                                         \
	"host: { cpus: 48, nodes: 2, memory: 1GiB }\n"                                                \
	"devices: [ { name: z, device: zram, size: 256MiB, same_filled: 1 } ]\nswap: { device: z }\n" \
	"cgroups:\n"                                                                                  \
	"  - name: parent{1..2}\n"                                                                    \
	"    memory.max: %s\n"                                                                        \
	"    children:\n"                                                                             \
	"      - name: child{1..3}\n"                                                                 \
	"        tasks:\n"                                                                            \
	"          - { workload: tmpfs_worker, count: %u, size: 256KiB, block: 32KiB, passes: 3,\n"   \
	"              start_every: 20us }\n"                                                         \
	"run: { until: done, sample: 0, seed: 1 }\n"

static void crowd(const char *reclaim, const char *kernel, const char *limit, unsigned int tasks)
{
	char text[2048];

	snprintf(text, sizeof text,
		 "schema: 1\nscenario: test\nkernel: %s\npolicies: { reclaim: %s }\n" CROWD, kernel, reclaim,
		 limit, tasks);
	record_free(run_text(text));
}

static void many_under_mglru(void **state)
{
	(void)state;
	crowd("mglru", "v6.1", "1536KiB", 6);
	crowd("mglru", "v6.6", "1536KiB", 6);
	crowd("mglru", "v6.18", "1536KiB", 6);
}

static void many_under_classic(void **state)
{
	(void)state;
	crowd("classic", "v6.1", "1536KiB", 6);
	crowd("classic", "v6.18", "1536KiB", 6);
}

/* So small that tasks are killed, whose page tables are given back while their last fault sleeps. */
static void many_are_killed(void **state)
{
	(void)state;
	crowd("classic", "v6.18", "1MiB", 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(many_under_mglru),
		cmocka_unit_test(many_under_classic),
		cmocka_unit_test(many_are_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
