/*
 * test_events.c - `events:`: writes to files of cgroups while a run is under way, what each of them does, and
 * what is said of those that make no sense.
 */
#include "tests/reclaim_rig.h"
#include "tests/text_run.h"

#define HOST                                                               \
	"schema: 1\nscenario: events\nhost: { cpus: 2, memory: 256MiB }\n" \
	"kernel: v6.12\nrun: { until: done, sample: 0 }\n"
#define HOLDER(name_, pages_) \
	"  tasks: [ { workload: memhog, name: " name_ ", pages: " #pages_ ", grow: 1, grow_at: 3s } ]"

/* A limit below what is held, with nowhere to go: its holder is killed at once, and no page comes back. */
static void max_below_use(void **state)
{
	(void)state;
	struct record *r = run_text(HOST "cgroups:\n- name: a\n" HOLDER(
		"h", 4000) "\n"
			   "events: [ { at: 1s, cgroup: /a, memory.max: 4MiB } ]\n");

	assert_int_equal(value_or_0(r, "memory.events.oom_kill", "/a"), 1);
	assert_int_equal(value_or_0(r, "memory.max", "/a"), 4 << 20);
	assert_true(value_or_0(r, "memory.peak", "/a") >= 4000 * 4096);
	assert_true(value_or_0(r, "cgroup_write.time", "/a") > 0);
	record_free(r);
}

/* Where cache can go, it goes, and nobody is killed; raised again, the limit is the new one. */
static void max_down_and_up(void **state)
{
	(void)state;
	struct record *r = run_text(
		HOST
		"cgroups:\n- name: a\n  tasks: [ { workload: file_churn, name: f, pages: 4000, passes: 2, "
		"pause: 2s } ]\n"
		"events:\n- { at: 1s, cgroup: /a, memory.max: 4MiB }\n- { at: 1500ms, cgroup: /a, "
		"memory.max: max }\n");

	assert_int_equal(value_or_0(r, "memory.events.oom_kill", "/a"), 0);
	assert_true(value_or_0(r, "task.file_misses", "f") > 4000 + 2900);
	assert_true(value_or_0(r, "memory.current", "/a") > 4000 * 4096);
	record_free(r);
}

/* memory.high takes back what can be had and kills nobody. */
static void high_below_use(void **state)
{
	(void)state;
	struct record *r = run_text(HOST "cgroups:\n- name: a\n  tasks: [ { workload: memhog, name: h, "
					 "pages: 1000, file_pages: 3000,\n"
					 "    grow: 1, grow_at: 3s } ]\n"
					 "events: [ { at: 1s, cgroup: /a, memory.high: 2MiB } ]\n");

	assert_int_equal(value_or_0(r, "memory.events.oom_kill", "/a"), 0);
	assert_int_equal(value_or_0(r, "memhog.position", "h"), 1001);
	assert_true(value_or_0(r, "pgsteal", "/a") + value_or_0(r, "workingset.evictions", "all") >= 2900);
	record_free(r);
}

/* What is asked for and cannot be had is refused; what can be had is not. */
static void reclaim_on_demand(void **state)
{
	(void)state;
	struct record *r = run_text(HOST "cgroups:\n- name: a\n" HOLDER(
		"h",
		1000) "\n- name: b\n"
		      "  tasks: [ { workload: memhog, name: i, file_pages: 2000, grow: 1, grow_at: 3s } ]\n"
		      "events:\n- { at: 1s, cgroup: /a, memory.reclaim: 1MiB }\n"
		      "- { at: 1s, cgroup: /b, memory.reclaim: 1MiB }\n");

	assert_int_equal(value_or_0(r, "cgroup_write.refused", "/a"), 1);
	assert_int_equal(value_or_0(r, "cgroup_write.refused", "/b"), 0);
	assert_true(value_or_0(r, "workingset.evictions", "all") >= 256);
	record_free(r);
}

/* Protection that is given late protects, and its sums agree all the way up. */
static void protection(struct task *t, struct actor *a)
{
	struct memcg *p = memcg_find(a->rig->host, "/p"), *c = memcg_find(a->rig->host, "/p/c");

	assert_true(memcg_charge(t, c, 100, NULL));
	memcg_set_min(t, c, 40);
	assert_int_equal(p->memory.children_min_usage, 40);
	assert_int_equal(a->rig->host->cgroups->root->memory.children_min_usage, 0);
	memcg_set_min(t, p, 1000);
	assert_int_equal(a->rig->host->cgroups->root->memory.children_min_usage, p->memory.usage);
	memcg_set_low(t, c, 70);
	assert_int_equal(p->memory.children_low_usage, 70);
	memcg_set_min(t, c, 0);
	memcg_set_low(t, c, 0);
	assert_int_equal(p->memory.children_min_usage, 0);
	assert_int_equal(p->memory.children_low_usage, 0);
	c->nr_charged -= 100;
	c->memory.in_flight += 100;
	page_counter_uncharge(t, &c->memory, 100);
	a->rig->done = true;
}

static void new_protection(void **state)
{
	struct actor a = { 0 };
	struct rig r;

	(void)state;
	rig_open(&r, HOST "cgroups: [ { name: p, children: [ { name: c } ] } ]\n", 0);
	rig_actor(&r, &a, "/p/c", protection);
	rig_run(&r, 1);
	assert_true(r.done);
	rig_close(&r);
}

/* A pattern writes to all that it names. */
static void many(void **state)
{
	(void)state;
	struct record *r = run_text(HOST "cgroups:\n- name: job{1..3}\n" HOLDER(
		"h", 300) "\n"
			  "events: [ { at: 1s, cgroup: 'job*', memory.max: 8MiB } ]\n");

	assert_int_equal(value_or_0(r, "memory.max", "/job1"), 8 << 20);
	assert_int_equal(value_or_0(r, "memory.max", "/job3"), 8 << 20);
	record_free(r);
}

/* rmdir of what is empty, and of what is not. */
static void removed(void **state)
{
	(void)state;
	struct record *r = run_text(HOST "cgroups:\n- name: a\n" HOLDER(
		"h", 100) "\n- name: b\n"
			  "events: [ { at: 1s, cgroup: /*, rmdir: true } ]\n");

	assert_int_equal(value_or_0(r, "cgroup_write.refused", "/a"), 1);
	assert_int_equal(value_or_0(r, "cgroup_write.refused", "/b"), 0);
	assert_int_equal(value_or_0(r, "memhog.position", "h"), 101);
	record_free(r);
}

#define SMALL                                                            \
	"schema: 1\nscenario: small\nhost: { cpus: 2, memory: 64MiB }\n" \
	"kernel: v6.12\nrun: { until: 1s }\n"

/*
 * Who worked in a cgroup that is then removed is killed before. In a fault that waits for memory its
 * pages go, but not the page tables that the fault goes on with: they would be given back twice.
 */
static void killed_in_a_fault_and_removed(void **state)
{
	(void)state;
	static const char *const workloads[] = {
		"{ workload: tmpfs_worker, count: 2, size: 1MiB, passes: 1000 }",
		"{ workload: memhog, count: 2, pages: 100, repeat: 3, hold: ever }",
	};

	for (int i = 0; i < 2; i++) {
		char text[1024];

		snprintf(text, sizeof text,
			 SMALL "cgroups: [ { name: x, memory.max: 300KiB, tasks: [ %s ] } ]\n"
			       "events: [ { at: 500ms, cgroup: x, rmdir: true } ]\n",
			 workloads[i]);
		struct record *r = run_text(text);

		assert_true(value_or_0(r, "cgroup_write.refused", "/x") == 0);
		record_free(r);
	}
}

/* What a workload says at the end of a cgroup that was removed is what it was. */
static void removed_before_the_results(void **state)
{
	(void)state;
	struct record *r = run_text(SMALL
				    "cgroups: [ { name: x, tasks: [ { workload: memhog, count: 2, pages: "
				    "100, hold: ever } ] } ]\n"
				    "events: [ { at: 500ms, cgroup: x, memory.max: 40KiB, rmdir: true } ]\n");

	assert_true(value_or_0(r, "memhog.position", "memhog/0") == 100);
	record_free(r);
}

/* The run ends while mkdir waits for memory: nobody has the structures that were not paid for yet. */
static void ends_in_the_middle_of_mkdir(void **state)
{
	(void)state;
	struct record *r = run_text(SMALL "cgroups: [ { name: x, memory.max: 4096, tasks: [ { workload: "
					  "cgroup_churn, count: 2, rate: 1000, lifetime: 1ms } ] } ]\n");

	record_free(r);
}

static void refused(const char *event, const char *what)
{
	char text[1024], said[1024];

	snprintf(text, sizeof text,
		 "schema: 1\nscenario: e\nhost: { cpus: 1, memory: 64MiB }\nkernel: v6.12\n"
		 "cgroups: [ { name: a } ]\nrun: { until: 5s }\nevents: [ %s ]\n",
		 event);
	assert_true(modules_init());
	fixture_complaints(text, said, sizeof said);
	if (!strstr(said, what) || !strstr(said, "test.yaml:7:"))
		fail_msg("%s: %s", event, said);
}

static void nonsense(void **state)
{
	(void)state;
	refused("{ at: 1s, cgroup: /b, memory.max: 1MiB }", "there is no cgroup '/b'");
	refused("{ at: 1s, cgroup: /a }", "names no file that is written");
	refused("{ at: 1s, cgroup: /a, drop_caches: true }",
		"drop_caches: is the machine's; the cgroup is /");
	refused("{ at: 9s, cgroup: /a, memory.max: 1MiB }", "at: the run is over by then");
	refused("{ at: 1s, cgroup: /, memory.max: 1MiB }", "memory.max: the root has no such file");
	refused("{ cgroup: /a, memory.max: 1MiB }", "at");
	refused("{ at: 1s, cgroup: /a, memory.maximum: 1MiB }", "memory.maximum");
	refused("{ at: 1s, cgroup: /a, memory.reclaim: max }", "memory.reclaim");
}

/* Once a second; who comes back twice a second misses every other time. */
static void drop_caches_again(void **state)
{
	(void)state;
	struct record *r = run_text(HOST
				    "cgroups:\n- name: a\n  tasks: [ { workload: file_churn, pages: 100, "
				    "passes: 10, pause: 500ms } ]\n"
				    "events: [ { at: 250ms, every: 1s, cgroup: /, drop_caches: true } ]\n");

	assert_int_equal(value_or_0(r, "task.file_reads", "/a"), 1000);
	assert_int_equal(value_or_0(r, "task.file_misses", "/a"), 600);
	assert_true(value_or_0(r, "cgroup_write.time", "/") > 0);
	record_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(max_below_use),
		cmocka_unit_test(max_down_and_up),
		cmocka_unit_test(high_below_use),
		cmocka_unit_test(reclaim_on_demand),
		cmocka_unit_test(new_protection),
		cmocka_unit_test(many),
		cmocka_unit_test(removed),
		cmocka_unit_test(drop_caches_again),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(killed_in_a_fault_and_removed),
		cmocka_unit_test(removed_before_the_results),
		cmocka_unit_test(ends_in_the_middle_of_mkdir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
