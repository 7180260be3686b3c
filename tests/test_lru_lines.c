/*
 * test_lru_lines.c - what moves with the lock of an lruvec, and of a file's tree: sections of one CPU alone
 * cost their own work, one that follows another CPU's pays for the lines that were written there. Pages come
 * from fallocate(2).
 */
#include "models/page/page_impl.h"
#include "sim/hw/lock.h"
#include "tests/host_fixture.h"

#define RUN 15 /* pages of a batch, so that a section is one run of neighbours */

/* Updates are told to nobody, so that each costs the same. */
#define ONE_CGROUP                                                                                         \
	"schema: 1\nscenario: test\nhost: { cpus: 4, nodes: 1, memory: 1GiB }\ncgroups: [ { name: c } ]\n" \
	"policies: { stat_update: rstat_none, flush: always_subtree, rstat_lock: spin_yield,\n"            \
	"  rstat_updated: cpu_lock, charge_batch: 64, charge_stock: 1 }\n"

struct lines {
	struct fixture f;
	struct memcg *c;
	struct tmpfs_object *file[2];
	const struct lock_class *class;
};

static void fill(struct task *t, const struct lines *x, uint32_t cpu)
{
	struct memcg *failed;

	task_pin(t, cpu);
	for (uint64_t i = 0; i < RUN; i++)
		assert_int_equal(tmpfs_fallocate(t, x->c, x->file[cpu], i, &failed), FILE_MISS);
	assert_int_equal(tmpfs_present(x->file[cpu]), RUN);
}

static void empty(struct task *t, const struct lines *x, uint32_t cpu)
{
	task_pin(t, cpu);
	tmpfs_remove(t, x->file[cpu]);
	assert_int_equal(tmpfs_present(x->file[cpu]), 0);
}

/* How long the lock was held in one section. */
static sim_time_t section(struct task *t, const struct lines *x, uint32_t cpu,
			  void (*what)(struct task *, const struct lines *, uint32_t))
{
	uint64_t acquisitions = x->class->acquisitions;
	sim_time_t held = x->class->hold_total;

	what(t, x, cpu);
	assert_int_equal(x->class->acquisitions - acquisitions, 1);
	return x->class->hold_total - held;
}

static void sections(struct task *t, void *arg)
{
	struct lines *x = arg;
	const struct machine *m = x->f.host->machine;
	sim_time_t line = m->line_socket - m->line_hit;

	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		fill(t, x, cpu); /* makes all that updates need */
		empty(t, x, cpu);
	}
	empty(t, x, 0);
	fill(t, x, 0);
	empty(t, x, 0);
	sim_time_t add = section(t, x, 0, fill), del = section(t, x, 0, empty);

	/* Alone it always costs the same. */
	assert_int_equal(section(t, x, 0, fill), add);
	assert_int_equal(section(t, x, 0, empty), del);

	/* After another CPU: heads, size, and nothing on the list. */
	assert_int_equal(section(t, x, 1, fill), add + 2 * line);
	/* Now there is a page of that CPU at the head, whose neighbour is written. */
	assert_int_equal(section(t, x, 0, fill), add + 3 * line);
	/*
	 * The run of CPU 1 has the end of the list behind it and a page of CPU 0 before it, which has written
	 * the neighbour of that.
	 */
	assert_int_equal(section(t, x, 1, empty), del + 4 * line);
	/* The run of CPU 0 is the list; its last page was written by CPU 1. */
	assert_int_equal(section(t, x, 0, empty), del + 3 * line);
}

/* All sections under the lock of the file's tree together. */
static sim_time_t held(struct task *t, const struct lines *x, uint32_t cpu,
		       void (*what)(struct task *, const struct lines *, uint32_t))
{
	sim_time_t before = x->class->hold_total;

	what(t, x, cpu);
	return x->class->hold_total - before;
}

static void tree_sections(struct task *t, void *arg)
{
	struct lines *x = arg;
	const struct machine *m = x->f.host->machine;
	sim_time_t line = m->line_socket - m->line_hit;

	x->file[1] = x->file[0]; /* both CPUs use one file */
	for (uint32_t cpu = 2; cpu--;) {
		fill(t, x, cpu); /* makes all that updates need */
		empty(t, x, cpu);
	}
	sim_time_t add = held(t, x, 0, fill), del = held(t, x, 0, empty);

	/* Alone it always costs the same. */
	assert_int_equal(held(t, x, 0, fill), add);
	/* The first removal elsewhere pays for the number of pages, the counts of the leaf and its slots. */
	assert_int_equal(held(t, x, 1, empty), del + 3 * line);
	/* A new leaf is its maker's; the number of pages is not. */
	assert_int_equal(held(t, x, 0, fill), add + line);
	assert_int_equal(held(t, x, 0, empty), del);
}

static void run_lines(void (*run)(struct task *, void *), const char *class)
{
	struct lines x = { 0 };

	fixture_open(&x.f, ONE_CGROUP);
	x.c = memcg_find(x.f.host, "/c");
	x.class = lock_class(x.f.run.sim, class);
	for (int i = 0; i < 2; i++)
		x.file[i] = tmpfs_create(x.f.host, RUN);
	fixture_spawn(&x.f, 0, run, &x);
	fixture_run(&x.f);
	assert_true(fixture_holds(&x.f));
	fixture_close(&x.f);
}

static void lines_move_with_the_lock(void **state)
{
	(void)state;
	run_lines(sections, "lruvec->lru_lock");
}

static void lines_move_with_the_tree(void **state)
{
	(void)state;
	run_lines(tree_sections, "&mapping->i_pages");
}

static void scaled_paths(struct task *t, void *arg)
{
	struct lines *x = arg;

	fill(t, x, 0);
	empty(t, x, 0);
}

/* path_scale: what the kernel does takes so many times as long, what lines, locks and flushes take stays. */
static void a_scale_applies_to_paths(void **state)
{
	static const char scaled[] = ONE_CGROUP "costs: { kernel: { path_scale: 3 } }\n";
	struct lines plain = { 0 }, slow = { 0 };

	(void)state;
	fixture_open(&plain.f, ONE_CGROUP);
	fixture_open(&slow.f, scaled);
	assert_int_equal(slow.f.host->costs->lru_add, 3 * plain.f.host->costs->lru_add);
	assert_int_equal(slow.f.host->costs->syscall, 3 * plain.f.host->costs->syscall);
	assert_int_equal(slow.f.host->costs->flush_pair, plain.f.host->costs->flush_pair);
	assert_int_equal(slow.f.host->machine->line_socket, plain.f.host->machine->line_socket);
	for (int i = 0; i < 2; i++) {
		struct lines *x = i ? &slow : &plain;

		x->c = memcg_find(x->f.host, "/c");
		x->class = lock_class(x->f.run.sim, "lruvec->lru_lock");
		x->file[0] = tmpfs_create(x->f.host, RUN);
		fixture_spawn(&x->f, 0, scaled_paths, x);
		fixture_run(&x->f);
	}
	assert_true(slow.class->hold_total > 2 * plain.class->hold_total);
	assert_true(slow.class->hold_total < 3 * plain.class->hold_total);
	fixture_close(&plain.f);
	fixture_close(&slow.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_move_with_the_lock),
		cmocka_unit_test(lines_move_with_the_tree),
		cmocka_unit_test(a_scale_applies_to_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
