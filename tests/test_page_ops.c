/*
 * test_page_ops.c - updates by page operation, and what watching them adds: against counts that follow from
 * the sizes of the objects.
 */
#include <string.h>

#include "tests/text_run.h"

#define SCENARIO(kernel, own)                                                                     \
	"schema: 1\nscenario: test\nhost: { cpus: 1, nodes: 1, memory: 256MiB }\nkernel: " kernel \
	"\nrun: { until: done, sample: 0 }\n"                                                     \
	"cgroups: [ { name: c, memory.swap.max: 0, tasks: [ { workload: page_ops, " own " } ] } ]\n"

static int of(const struct record *r, const char *metric, const char *name)
{
	char entity[64];

	snprintf(entity, sizeof entity, "page_ops/%s", name);
	return (int)value(r, metric, entity);
}

#define WATCHED(bytes)                                                                                 \
	"objects: [ { at: mapping, bytes: " bytes " }, { at: file, bytes: 200 } ], "                   \
	"steps: [ { op: anon_fault, name: first, pages: 1 }, { op: anon_dontneed, pages: 1, watched: " \
	"true } ]"

/*
 * Of a page of the stock the mapping leaves a byte less than a file takes, or just enough. Where it does not,
 * each file takes a page and gives it back: in the third kind's window the second half of its own first file,
 * the fourth kind's first, two that pause the others, and the first half of the one that pauses it.
 */
static void watching(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(SCENARIO("v6.12", WATCHED("3897")));
	assert_int_equal(of(r, "page_ops.state_calls", "anon_dontneed"), 8);
	assert_int_equal(of(r, "page_ops.state_absval", "anon_dontneed"), 8);
	assert_int_equal(of(r, "page_ops.event_calls", "anon_dontneed"), 0);
	record_free(r);
	r = run_text(SCENARIO("v6.12", WATCHED("3896")));
	assert_int_equal(of(r, "page_ops.state_calls", "anon_dontneed"), 0);
	record_free(r);
}

/* Page tables go in one update of MEMCG_KMEM, which a reader takes for -1; from 6.14 on RCU has them. */
static void values_below_0(void **state)
{
	static const char steps[] = "steps: [ { op: anon_fault, name: first, pages: 5, stride: 512 }, "
				    "{ op: anon_exit }, { op: anon_exit, name: later, pause: 1s } ]";
	struct record *r;
	char text[1024];

	(void)state;
	snprintf(text, sizeof text, SCENARIO("v6.12", "%s"), steps);
	r = run_text(text);
	assert_int_equal(of(r, "page_ops.state_calls", "anon_exit"), 1);
	assert_int_equal(of(r, "page_ops.state_absval", "anon_exit"), 5);
	assert_int_equal(of(r, "page_ops.state_read", "anon_exit"), 1);
	record_free(r);
	snprintf(text, sizeof text, SCENARIO("v6.18", "%s"), steps);
	r = run_text(text);
	assert_int_equal(of(r, "page_ops.state_calls", "anon_exit"), 0);
	record_free(r);
}

/*
 * Reclaim past a full limit. 6.1 counts a node that holds nothing but shadows as an update of its owner, 6.12
 * does not; but 6.12 updates PGDEMOTE_DIRECT by 0 after each batch, which PGSCAN and PGSTEAL count as well.
 */
static void reclaim(void **state)
{
	static const char steps[] =
		"steps: [ { op: memory_max, pages: 1024 }, { op: file_read, name: fill, pages: 2048 }, "
		"{ op: file_read, from: 4096, pages: 1024 } ]";
	struct record *r;
	char text[1024];
	int nodes, batches, taken;

	(void)state;
	snprintf(text, sizeof text, SCENARIO("v6.1", "%s"), steps);
	r = run_text(text);
	batches = (of(r, "page_ops.event_calls", "file_read") - 1024) / 3;
	taken = (of(r, "page_ops.event_absval", "file_read") - 1024) / 3;
	/* Each page read: NR_FILE_PAGES and its list, in batches of 15; each taken: NR_FILE_PAGES. */
	nodes = of(r, "page_ops.lruvec_calls", "file_read") - 1024 - 1024 - taken - batches;
	assert_in_range(nodes, 16 - 15, 16 + 15 + 3); /* and lumps of slab statistics */
	assert_true(batches >= 5 * 17 && taken >= 1024 - 57);
	record_free(r);
	snprintf(text, sizeof text, SCENARIO("v6.12", "%s"), steps);
	r = run_text(text);
	batches = of(r, "page_ops.event_calls", "file_read") / 2;
	taken = of(r, "page_ops.event_absval", "file_read") / 2;
	nodes = of(r, "page_ops.lruvec_calls", "file_read") - 1024 - 1024 - taken - 2 * batches;
	assert_in_range(nodes + 31, 0, 31 + 3);
	assert_true(batches >= 5 * 17 && taken >= 1024 - 57);
	record_free(r);
}

/*
 * The second object of the mapping is above the limit, which has room for four pages: the first goes again,
 * and nothing is given back that never was taken.
 */
static void no_memory_for_a_mapping(void **state)
{
	struct validate_row killed = { .metric = "memory.events.oom_kill", .entity = "/c" };
	struct record *r;
	double v = 0;

	(void)state;
	r = run_text(SCENARIO("v6.12",
			      "objects: [ { at: mapping, bytes: 4000 }, { at: mapping, bytes: 1M } ], "
			      "steps: [ { op: memory_max, pages: 4 }, { op: anon_fault, pages: 1 } ]"));
	assert_true(validate_value(r, &killed, &v) && v == 1); /* so it was refused */
	record_free(r);
}

/*
 * Files on tmpfs, files that are written, mappings: calls for 1,024 pages as both kernels made them, but for
 * what the folio batches still hold and for lumps of slab statistics.
 */
static void kinds(void **state)
{
	static const char steps[] =
		"steps: [ { op: tmpfs_write, pages: 1024 }, { op: tmpfs_write, name: again, pages: 1024 }, "
		"{ op: tmpfs_remove }, { op: tmpfs_fallocate, pages: 1024 }, "
		"{ op: tmpfs_remove, name: remove_unread }, { op: file_write, pages: 1024 }, "
		"{ op: file_sync }, { op: file_remove }, { op: file_read, file: m, pages: 1024 }, "
		"{ op: file_map, file: m, pages: 1024 }, { op: file_unmap, file: m } ]";
	static const struct {
		const char *name;
		int lruvec; /* a page */
		int events; /* a page; PGPGIN on 6.1 alone */
	} expected[] = {
		{ "tmpfs_write", 3, 1 }, /* NR_FILE_PAGES, NR_SHMEM, its list; PGPGIN */
		{ "again", 2, 1 },
		/* a second access: to the active list; PGACTIVATE */ { "tmpfs_fallocate", 3, 1 },
		{ "file_write", 3, 1 }, /* NR_FILE_DIRTY */
		{ "file_sync", 3, 0 },  /* NR_FILE_DIRTY, NR_WRITEBACK up and down */
		{ "file_map", 1, 0 },   /* NR_FILE_MAPPED; PGFAULT for 16 pages */
		{ "file_unmap", 3, 1 }, /* to the active list: read and touched; PGACTIVATE */
	};

	(void)state;
	for (int k = 0; k < 2; k++) {
		char text[1024];

		snprintf(text, sizeof text, k ? SCENARIO("v6.12", "%s") : SCENARIO("v6.1", "%s"), steps);
		struct record *r = run_text(text);

		for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
			int lruvec = of(r, "page_ops.lruvec_calls", expected[i].name);
			int events = of(r, "page_ops.event_calls", expected[i].name);
			bool pgpgin = strstr(expected[i].name, "write") || strstr(expected[i].name, "alloc");

			assert_in_range(lruvec + 72, 1024 * expected[i].lruvec,
					1024 * expected[i].lruvec + 112);
			assert_int_equal((events + 31) / 1024, pgpgin && k ? 0 : expected[i].events);
		}
		record_free(r);
	}
}

/* Swap on zram is written at once, and yet is under writeback meanwhile: five updates a page and its list. */
static void swap_out(void **state)
{
	static const char scenario[] =
		"schema: 1\nscenario: test\nhost: { cpus: 1, nodes: 1, memory: 256MiB }\nkernel: v6.12\n"
		"policies: { reclaim: classic }\nrun: { until: done, sample: 0 }\n"
		"devices: [ { name: z, device: zram, size: 64MiB } ]\nswap: { device: z }\n"
		"cgroups: [ { name: c, tasks: [ { workload: page_ops, steps: [ { op: anon_fault, pages: 1024 "
		"}, "
		"{ op: memory_reclaim, pages: 512 }, { op: anon_fault, name: back, pages: 1024 } ] } ] } ]\n";
	struct record *r = run_text(scenario);
	int out = of(r, "page_ops.state_calls", "memory_reclaim"); /* MEMCG_SWAP */
	int calls = of(r, "page_ops.lruvec_calls", "memory_reclaim");

	(void)state;
	assert_in_range(out, 512, 543);
	/* NR_SWAPCACHE and NR_WRITEBACK up and down, NR_ANON_MAPPED; pages go round their list once. */
	assert_in_range(calls - 5 * out, 32, 1024 + 200);
	record_free(r);
}

/* The file is open when what else opening needs is above the limit: it is closed again, 256 pages. */
static void no_memory_for_a_knob(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(SCENARIO("v6.12",
			      "objects: [ { at: file, bytes: 1M }, { at: knob, bytes: 1M } ], "
			      "steps: [ { op: memory_max, pages: 300 }, { op: memory_max, pages: 0 } ]"));
	assert_int_equal(value(r, "memory.events.oom_kill", "/c"), 1);
	assert_true(value(r, "memory.current", "/c") <= 64 * 4096); /* no more than a stock */
	record_free(r);
}

/* A fault maps what is cached in its window of 64 KiB, and no more; with a window of a page only its own. */
static void around_a_fault(void **state)
{
	static const char own[] = "steps: [ { op: file_read, file: m, pages: 40 }, "
				  "{ op: file_map, file: m, name: windows, from: 5, pages: 3, stride: 16 }, "
				  "{ op: file_map, file: m, name: miss, from: 50, pages: 1 } ]";
	char text[1024];

	(void)state;
	for (int k = 0; k < 2; k++) {
		snprintf(text, sizeof text, SCENARIO("v6.12", "%s") "vm: { fault_around: %s }\n", own,
			 k ? "4KiB" : "64KiB");
		struct record *r = run_text(text);

		/* 16, 16 and the 8 of the last window that are cached; and the page table */
		assert_int_equal(of(r, "page_ops.lruvec_calls", "windows"), 1 + (k ? 3 : 40));
		assert_int_equal(of(r, "page_ops.event_calls", "windows"), 3);
		assert_int_equal(of(r, "page_ops.event_calls", "miss"), 2); /* PGFAULT, PGMAJFAULT */
		record_free(r);
	}
	/* A fault that reads is taken twice, and up to 6.3 counted twice; PGPGIN. */
	snprintf(text, sizeof text, SCENARIO("v6.1", "%s"), own);
	struct record *r = run_text(text);

	assert_int_equal(of(r, "page_ops.event_calls", "miss"), 4); /* and PGPGIN */
	record_free(r);
}

/*
 * A hundred reads of memory.stat from inside: calls and sums (a lump of slab below 0 taken for 1) as 6.12
 * has them. Struct file, 200 bytes, is kept back; seq_file and its buffer, 4,232 bytes, are a lump up and
 * one down.
 */
static void read_from_inside(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(SCENARIO(
		"v6.12",
		"steps: [ { op: stat_read, name: first, pages: 1 }, { op: stat_read, pages: 100 } ]"));
	assert_int_equal(of(r, "page_ops.lruvec_calls", "stat_read"), 200);
	assert_int_equal(of(r, "page_ops.lruvec_read", "stat_read"), 423300);
	assert_int_equal(of(r, "page_ops.state_calls", "stat_read"), 200);
	assert_int_equal(of(r, "page_ops.state_absval", "stat_read"), 400);
	assert_int_equal(of(r, "page_ops.event_calls", "stat_read"), 0);
	record_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(watching),
		cmocka_unit_test(values_below_0),
		cmocka_unit_test(reclaim),
		cmocka_unit_test(no_memory_for_a_mapping),
		cmocka_unit_test(kinds),
		cmocka_unit_test(swap_out),
		cmocka_unit_test(no_memory_for_a_knob),
		cmocka_unit_test(around_a_fault),
		cmocka_unit_test(read_from_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
