/*
 * options.c - `cgroups:`: the tree as a scenario writes it, and the tree that comes of it.
 */
#include "models/cgroup/options.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "models/cgroup/memcg.h"
#include "models/workload/workload.h"

static const struct option cpu_max_rows[] = {
	{ .name = "quota",
	  .type = OPT_DURATION,
	  .offset = offsetof(struct cgroup_options, cpu_max.quota) - offsetof(struct cgroup_options, cpu_max),
	  .never = "max",
	  .fallback = "max",
	  .min = "1ms",
	  .help = "CPU time in each period; max: no limit",
	  .source = "cgroup v2, cpu.max" },
	{ .name = "period",
	  .type = OPT_DURATION,
	  .offset = offsetof(struct cgroup_options, cpu_max.period) -
		    offsetof(struct cgroup_options, cpu_max),
	  .fallback = "100ms",
	  .min = "1ms",
	  .max = "1s",
	  .help = "length of a period",
	  .source = "cgroup v2, cpu.max" },
};
static const struct option_table cpu_max_table = {
	.name = "cpu.max",
	.size = sizeof(((struct cgroup_options *)NULL)->cpu_max),
	.rows = cpu_max_rows,
	.nr = sizeof cpu_max_rows / sizeof cpu_max_rows[0],
};

static const struct option_table cgroup_table;

static const struct option cgroup_rows[] = {
	OPTION(struct cgroup_options, name, OPT_NAME, .required = true,
	       .help = "name of the cgroup; a range makes many: web{1..50}"),
	OPTION_AS("memory.max", struct cgroup_options, memory_max, OPT_BYTES, .allow_max = true,
		  .fallback = "max",
		  .help = "limit; what would pass it reclaims first, then the OOM killer is called",
		  .source = "cgroup v2, memory.max"),
	OPTION_AS("memory.high", struct cgroup_options, memory_high, OPT_BYTES, .allow_max = true,
		  .fallback = "max",
		  .help = "above it tasks reclaim on their way to user mode, and wait if that does not help",
		  .source = "cgroup v2, memory.high"),
	OPTION_AS("memory.low", struct cgroup_options, memory_low, OPT_BYTES, .allow_max = true,
		  .fallback = "0",
		  .help = "usage up to which nothing is reclaimed as long as there is something elsewhere",
		  .source = "cgroup v2, memory.low"),
	OPTION_AS("memory.min", struct cgroup_options, memory_min, OPT_BYTES, .allow_max = true,
		  .fallback = "0", .help = "usage up to which nothing is ever reclaimed",
		  .source = "cgroup v2, memory.min"),
	OPTION_AS("memory.swap.max", struct cgroup_options, memory_swap_max, OPT_BYTES, .allow_max = true,
		  .fallback = "max", .help = "limit of swap space; 0: none is used",
		  .source = "cgroup v2, memory.swap.max"),
	OPTION_AS("memory.oom.group", struct cgroup_options, memory_oom_group, OPT_BOOL, .fallback = "false",
		  .help = "the OOM killer ends all of its tasks or none",
		  .source = "cgroup v2, memory.oom.group"),
	OPTION_AS("cpu.max", struct cgroup_options, cpu_max, OPT_MAP, .sub = &cpu_max_table,
		  .help = "limit of CPU time, of the cgroup and all below it together"),
	OPTION_AS("cpu.weight", struct cgroup_options, cpu_weight, OPT_U32, .fallback = "100", .min = "1",
		  .max = "10K",
		  .help = "weight of each of its tasks on a CPU's run queue (not of all together)",
		  .source = "cgroup v2, cpu.weight"),
	OPTION(struct cgroup_options, tasks, OPT_LIST, .sub = &task_options_table, .help = "tasks in it"),
	OPTION(struct cgroup_options, children, OPT_LIST, .sub = &cgroup_table, .help = "cgroups below it"),
};
static const struct option_table cgroup_table = OPTION_TABLE("cgroup", struct cgroup_options, cgroup_rows);

MODULE(cgroups_section) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "cgroups",
	.help = "the cgroups below the root",
	.options = &cgroup_table,
	.order = 100,
	.list = true,
};

/* ---- checks ---- */

static uint64_t matches_below(const struct scenario *s, const struct option_list *list, const char *pattern);

static uint64_t matches(const struct scenario *s, const struct cgroup_options *o, const char *component,
			const char *rest)
{
	const char *const *names;
	size_t nr = scenario_expand_name(s, o->name, &names), fit = 0;

	for (size_t i = 0; i < nr; i++)
		fit += !fnmatch(component, names[i], 0);
	return fit ? fit * matches_below(s, &o->children, rest) : 0;
}

static uint64_t matches_below(const struct scenario *s, const struct option_list *list, const char *pattern)
{
	char component[256];
	uint64_t nr = 0;

	if (!cgroup_next_component(&pattern, component))
		return !*pattern;
	for (size_t i = 0; i < list->nr; i++)
		nr += matches(s, list->items[i], component, pattern);
	return nr;
}

uint64_t cgroup_options_match(const struct scenario *s, const char *pattern)
{
	return matches_below(s, scenario_section(s, "cgroups"), pattern);
}

void cgroup_check_pattern(const struct scenario *s, const char *pattern, const void *bound, const char *key,
			  struct complaints *c)
{
	const struct option_list *list = scenario_section(s, "cgroups");
	const struct cgroup_options *first = list->nr ? list->items[0] : NULL;

	if (cgroup_options_match(s, pattern))
		return;
	if (!first)
		complain(c, option_where(bound, key), "%s: there is no cgroup '%.200s', nor any other", key,
			 pattern);
	else
		complain(c, option_where(bound, key),
			 "%s: there is no cgroup '%.200s'; a pattern has a part a level, as 'a*/b*', and "
			 "right below the root '%.60s' is the first",
			 key, pattern, first->name);
}

struct named {
	const char *name;
	const struct cgroup_options *from;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Siblings whose ranges overlap: said once for each pair of items. */
static void check_names(const struct scenario *s, const struct option_list *list, struct complaints *c)
{
	size_t nr = 0, at = 0;
	const char *const *names;

	for (size_t i = 0; i < list->nr; i++)
		nr += scenario_expand_name(s, ((struct cgroup_options *)list->items[i])->name, &names);
	struct named *all = calloc(nr ? nr : 1, sizeof *all);

	for (size_t i = 0; all && i < list->nr; i++) {
		const struct cgroup_options *o = list->items[i];
		size_t n = scenario_expand_name(s, o->name, &names);

		for (size_t k = 0; k < n; k++)
			all[at++] = (struct named){ names[k], o };
	}
	qsort(all, at, sizeof *all, by_name);
	const struct cgroup_options *said = NULL;

	for (size_t i = 1; i < at; i++) {
		if (strcmp(all[i - 1].name, all[i].name))
			continue;
		if (said != all[i].from)
			complain(c, option_where(all[i].from, "name"), "name: a sibling is called '%s' too",
				 all[i].name);
		said = all[i].from;
	}
	free(all);
}

/* Limits are pages. One of a few bytes was meant in another unit, and would be none at all. */
static void remark_size(const struct cgroup_options *o, const char *key, uint64_t bytes, struct complaints *c)
{
	if (option_where(o, key).line)
		remark(c, option_where(o, key), !bytes || bytes >= PAGE_SIZE,
		       "%s: %u bytes are less than a page: 0", key, (unsigned int)bytes);
}

static void check_list(const struct scenario *s, const struct option_list *list, struct complaints *c)
{
	check_names(s, list, c);
	for (size_t i = 0; i < list->nr; i++) {
		const struct cgroup_options *o = list->items[i];

		remark_size(o, "memory.max", o->memory_max, c);
		remark_size(o, "memory.high", o->memory_high, c);
		remark_size(o, "memory.low", o->memory_low, c);
		remark_size(o, "memory.min", o->memory_min, c);
		remark_size(o, "memory.swap.max", o->memory_swap_max, c);
		check_list(s, &o->children, c);
	}
}

/* Of a list and all below it: a million at most, as the language has it. */
static uint64_t count_below(const struct scenario *s, const struct option_list *list)
{
	const char *const *names;
	uint64_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const struct cgroup_options *o = list->items[i];

		nr += scenario_expand_name(s, o->name, &names) * (1 + count_below(s, &o->children));
	}
	return nr;
}

/* The root has an id too. */
static void check_ids(const struct scenario *s, const struct option_list *list, struct complaints *c)
{
	uint64_t nr = count_below(s, list);

	if (nr >= MOST_CSS_IDS)
		complain(c, option_where(list->items[0], "name"),
			 "cgroups: beside the root the kernel has ids for %u, not for %llu", MOST_CSS_IDS - 1,
			 (unsigned long long)nr);
}

void cgroup_check(const struct scenario *s, struct complaints *c)
{
	check_ids(s, scenario_section(s, "cgroups"), c);
	check_list(s, scenario_section(s, "cgroups"), c);
}

/* ---- building ---- */

static void build_list(struct memcg *parent, const struct option_list *list);

static uint64_t pages(uint64_t bytes)
{
	return bytes == UINT64_MAX ? COUNTER_NO_MAX : bytes / PAGE_SIZE;
}

static void build_one(struct memcg *parent, const char *name, const struct cgroup_options *o)
{
	struct memcg *m = memcg_create(parent, name);

	m->options = o;
	m->memory.max = pages(o->memory_max);
	m->memory.high = pages(o->memory_high);
	m->memory.low = pages(o->memory_low);
	m->memory.min = pages(o->memory_min);
	m->swap.max = pages(o->memory_swap_max);
	m->oom_group = o->memory_oom_group;
	if (o->cpu_max.quota != SIM_NEVER)
		m->bandwidth = bandwidth_create(m->host->sim, o->cpu_max.quota, o->cpu_max.period,
						parent->bandwidth);
	m->weight = cgroup_weight(o->cpu_weight);
	build_list(m, &o->children);
}

static void build_list(struct memcg *parent, const struct option_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct cgroup_options *o = list->items[i];
		const char *const *names;
		size_t nr = scenario_expand_name(parent->host->scenario, o->name, &names);

		for (size_t k = 0; k < nr; k++)
			build_one(parent, names[k], o);
	}
}

uint32_t cgroup_weight(uint32_t cpu_weight)
{
	return (uint32_t)((uint64_t)cpu_weight * 1024 / 100); /* sched_weight_from_cgroup() */
}

void cgroup_options_build(struct host *host)
{
	build_list(host->cgroups->root, scenario_section(host->scenario, "cgroups"));
}
