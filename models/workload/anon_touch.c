/*
 * anon_touch.c - a task that fills anonymous memory and then touches it in some order, pass by pass.
 *
 * After the harness of the counts from real kernels (E2, E8a, E8c): pass 0 writes the pages in order, each
 * with content of its own, and is not counted among the passes; what it costs is recorded as NAME/fill. A
 * touch that took `slow` or more is counted as a sleep, as the harness does it to see throttling.
 */
#include "models/host/costs.h"
#include "models/page/page.h"
#include "models/workload/access.h"
#include "models/workload/passes.h"
#include "sim/module.h"
#include "sim/results/record.h"

struct anon_touch {
	uint64_t pages, touches;
	uint32_t passes, offset;
	struct access_options access;
	struct passes_options record;
	sim_time_t work, slow;
	bool tmpfs;
};

static const struct option rows[] = {
	OPTION(struct anon_touch, pages, OPT_U64, .required = true, .min = "1", .max = "1G",
	       .help = "pages of the mapping"),
	OPTION(struct anon_touch, touches, OPT_U64, .fallback = "0",
	       .help = "in a pass; 0: as many as pages"),
	OPTION(struct anon_touch, passes, OPT_U32, .fallback = "0",
	       .help = "after that which fills the mapping"),
	OPTION(struct anon_touch, offset, OPT_U32, .fallback = "0", .max = "511",
	       .help = "pages from the beginning of its first page table (2 MiB) to that of the mapping; up "
		       "to 6.6 address space randomisation draws it, later kernels align large mappings"),
	OPTION(struct anon_touch, work, OPT_DURATION, .fallback = "0s",
	       .help = "time in user mode for each touch"),
	OPTION(struct anon_touch, slow, OPT_DURATION, .fallback = "3ms",
	       .help = "a touch of this length counts as a sleep"),
	OPTION(struct anon_touch, tmpfs, OPT_BOOL, .fallback = "false",
	       .help = "the memory is a file in tmpfs, filled by one write(2), in which no page counts as a "
		       "sleep"),
	ACCESS_OPTIONS(struct anon_touch, access),
	PASSES_OPTIONS(struct anon_touch, record),
};
static const struct option_table options = OPTION_TABLE("anon_touch", struct anon_touch, rows);

enum { POSITION, SLEEPS, SLEPT };

static const struct metric metrics[] = {
	[POSITION] = { "anon_touch.position", "pages", METRIC_COUNTER, "pages that it could fill" },
	[SLEEPS] = { "anon_touch.sleeps", "1", METRIC_COUNTER, "touches that took long" },
	[SLEPT] = { "anon_touch.slept", "ns", METRIC_GAUGE, "time in them" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(anon_touch_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "anon_touch",
	.help = "how far a task got that fills memory, and how long it waited",
	.ops = &table,
};

struct toucher {
	struct task *t;
	struct workload_task *w;
	const struct anon_touch *o;
	struct anon_object *memory;
	uint64_t filled, sleeps;
	sim_time_t slept;
};

static bool ends(const void *own)
{
	(void)own;
	return true;
}

static bool touch(struct toucher *c, uint64_t page)
{
	sim_time_t begin = c->t->clock;
	struct memcg *level;

	if (!anon_touch(c->t, c->memory, page, &level)) {
		workload_out_of_memory(c->w, level);
		return false;
	}
	workload_return(c->t, c->w);
	if (c->t->clock - begin >= c->o->slow) {
		c->sleeps++;
		c->slept += c->t->clock - begin;
	}
	c->w->ops++;
	if (c->o->work)
		user_work(c->t, c->o->work);
	return true;
}

/* One call: what is throttled is so within it. */
static void write_all(struct toucher *c)
{
	struct tmpfs_object *file = tmpfs_create(c->w->host, c->o->pages);
	struct memcg *level;

	cpu_work(c->t, c->w->host->costs->syscall);
	for (; c->filled < c->o->pages; c->filled++)
		if (tmpfs_write(c->t, c->w->memcg, file, c->filled, &level) == FILE_NOMEM) {
			workload_out_of_memory(c->w, level);
			return;
		}
	workload_return(c->t, c->w);
}

static bool fill(struct toucher *c)
{
	const char *entity = pass_entity(c->w->host, c->w->label, "fill");
	struct passes p;

	passes_begin(c->t, &p, c->w->memcg, entity, &c->o->record);
	if (c->o->tmpfs)
		write_all(c);
	for (; !c->o->tmpfs && c->filled < c->o->pages; c->filled++) {
		if (!touch(c, c->filled))
			break;
		passes_watch(&p, c->filled);
	}
	passes_next(c->t, &p, c->filled, 0);
	passes_end(&p);
	return c->filled == c->o->pages;
}

static bool pass(struct toucher *c, struct access *access, struct passes *p)
{
	uint64_t touches = c->o->touches ? c->o->touches : c->o->pages;

	for (uint64_t i = 0; i < touches; i++) {
		if (!touch(c, access_next(access)))
			return false;
		passes_watch(p, i);
	}
	passes_next(c->t, p, touches, 0);
	return true;
}

static void record_result(const struct toucher *c)
{
	struct record *r = c->w->host->run->record;

	record_summary(r, &metrics[POSITION], c->w->label, (double)c->filled);
	record_summary(r, &metrics[SLEEPS], c->w->label, (double)c->sleeps);
	record_summary(r, &metrics[SLEPT], c->w->label, sim_nanoseconds(c->slept));
}

static void run(struct task *t, struct workload_task *w)
{
	const struct anon_touch *o = w->own;
	struct toucher c = { .t = t, .w = w, .o = o, .memory = anon_create(w->host, w->memcg, o->pages) };
	struct access access;
	struct passes p;

	anon_place(c.memory, o->offset);
	access_open(&access, w, &o->access, o->pages, "page");
	if (fill(&c) && !o->tmpfs) {
		passes_begin(t, &p, w->memcg, w->label, &o->record);
		for (uint32_t i = 0; i < o->passes && pass(&c, &access, &p); i++)
			;
		passes_end(&p);
	}
	record_result(&c);
	anon_unmap(t, c.memory);
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct anon_touch *o = own;

	(void)s;
	(void)task;
	access_check(&o->access, o->pages, own, "pages", c);
}

static const struct workload_ops ops = { .check = check, .ends = ends, .run = run };

MODULE(anon_touch) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "anon_touch",
	.help = "fills anonymous memory, then touches it pass by pass; task.ops counts touches",
	.source = "E2, E8a and E8c of the counts from real kernels",
	.options = &options,
	.ops = &ops,
};
