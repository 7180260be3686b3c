/*
 * page_ops_watch.c - what counting a kernel's updates does to what is counted.
 *
 * The bench of E5f counts calls with a histogram for each of four functions: __mod_memcg_lruvec_state(),
 * __count_memcg_events(), __mod_memcg_state(), cgroup_rstat_updated(). The process that is watched handles
 * them itself: before a step it clears one after the other, after it pauses them in the same order, reads
 * them, and lets them run again. Each of these is a file opened, used and closed in its cgroup, so its struct
 * file is charged there, and so are the inodes of files that it is the first to open. A write to a trigger
 * takes effect and then waits for a grace period with the file open (tracepoint_synchronize_unregister()). So
 * three files come and go inside of the third function's window, and may take a page from the stock of bytes
 * and give it back each time; and what a step leaves to RCU is uncharged in there.
 *
 * Which objects there are, and of what size, is the kernel's matter and so the scenario's: sizes are those of
 * obj_full_size(), eight bytes of the owner pointer included.
 *
 *	objects:
 *	  - { at: file, bytes: 200 }
 *	  - { at: new_histogram, bytes: 672, reclaimable: true }
 */
#include "models/workload/page_ops.h"

#include "models/cgroup/stock.h"
#include "sim/hw/rcu.h"

#define NR_TRIGGERS (NR_STAT_KINDS + 1) /* that of cgroup_rstat_updated() counts nothing here */

enum object_at { AT_START, AT_FILE, AT_HISTOGRAM, AT_NEW_HISTOGRAM, AT_KNOB, AT_NEW_KNOB, AT_MAPPING };

struct kernel_object {
	int at;
	uint32_t bytes;
	bool reclaimable, rcu;
};

static const struct enum_name at_names[] = {
	{ "start", AT_START, "from the task's beginning on: what it opened before" },
	{ "file", AT_FILE, "while a file is open: struct file" },
	{ "histogram", AT_HISTOGRAM, "while a histogram is read: seq_file and its buffer" },
	{ "new_histogram", AT_NEW_HISTOGRAM, "from the first time on that a histogram is opened, for each" },
	{ "knob", AT_KNOB, "while memory.max is written: struct kernfs_open_file" },
	{ "new_knob", AT_NEW_KNOB, "from the first time on that memory.max is opened" },
	{ "mapping", AT_MAPPING, "as long as there is anonymous memory: vm_area_struct, anon_vma" },
	{ NULL, 0, NULL },
};

static const struct option object_rows[] = {
	OPTION(struct kernel_object, at, OPT_ENUM, .names = at_names, .required = true,
	       .help = "when there is one"),
	OPTION(struct kernel_object, bytes, OPT_U32, .max = "1M", .required = true,
	       .help = "charged for it, the owner pointer included; 0: there is none"),
	OPTION(struct kernel_object, reclaimable, OPT_BOOL, .fallback = "false",
	       .help = "counted in slab_reclaimable"),
	OPTION(struct kernel_object, rcu, OPT_BOOL, .fallback = "false",
	       .help = "freed when a grace period is over"),
};
const struct option_table page_ops_object_table = OPTION_TABLE("page_ops object", struct kernel_object,
							       object_rows);

static enum stat_item item_of(const struct kernel_object *o)
{
	return o->reclaimable ? NR_SLAB_RECLAIMABLE_B : NR_SLAB_UNRECLAIMABLE_B;
}

/* The first nr of them, in the opposite order. */
static void release_first(struct task *t, struct workload_task *w, enum object_at at, size_t nr)
{
	const struct option_list *objects = &((const struct page_ops *)w->own)->objects;

	while (nr-- > 0) {
		const struct kernel_object *o = objects->items[nr];
		uint32_t objcg = w->memcg->objcg->id;

		if (o->at != (int)at || !o->bytes)
			continue;
		if (o->rcu)
			object_uncharge_rcu(t, objcg, t->cpu->node, item_of(o), o->bytes);
		else
			object_uncharge(t, objcg, t->cpu->node, item_of(o), o->bytes);
		task_sync(t);
	}
}

static void release(struct task *t, struct workload_task *w, enum object_at at)
{
	release_first(t, w, at, ((const struct page_ops *)w->own)->objects.nr);
}

/* All, or none. */
static bool alloc(struct task *t, struct workload_task *w, enum object_at at)
{
	const struct option_list *objects = &((const struct page_ops *)w->own)->objects;

	for (size_t i = 0; i < objects->nr; i++) {
		const struct kernel_object *o = objects->items[i];
		struct memcg *level;

		if (o->at != (int)at || !o->bytes)
			continue;
		if (!object_charge(t, w->memcg, t->cpu->node, item_of(o), o->bytes, &level)) {
			workload_out_of_memory(w, level);
			release_first(t, w, at, i);
			return false;
		}
		task_sync(t);
	}
	return true;
}

bool page_ops_begin(struct task *t, struct workload_task *w)
{
	return alloc(t, w, AT_START);
}

bool page_ops_map(struct task *t, struct workload_task *w)
{
	struct page_ops_state *s = w->state;

	if (!s->has_mapping)
		s->has_mapping = alloc(t, w, AT_MAPPING);
	return s->has_mapping;
}

void page_ops_unmap(struct task *t, struct workload_task *w)
{
	struct page_ops_state *s = w->state;

	if (s->has_mapping)
		release(t, w, AT_MAPPING);
	s->has_mapping = false;
}

/*
 * A file is opened, with what stays of it from the first time on (`seen` says whether that is there), and
 * what it has while it is open.
 */
static bool open_file(struct task *t, struct workload_task *w, enum object_at new, bool *seen,
		      enum object_at open)
{
	if (!alloc(t, w, AT_FILE))
		return false;
	*seen = *seen || alloc(t, w, new);
	if (*seen && alloc(t, w, open))
		return true;
	release(t, w, AT_FILE);
	return false;
}

bool page_ops_write_max(struct task *t, struct workload_task *w, uint64_t pages)
{
	struct page_ops_state *s = w->state;

	if (!open_file(t, w, AT_NEW_KNOB, &s->knob_seen, AT_KNOB))
		return false;
	memcg_set_max(t, w->memcg, pages ? pages : COUNTER_NO_MAX);
	task_sync(t);
	release(t, w, AT_KNOB);
	release(t, w, AT_FILE);
	return true;
}

void page_ops_counted(struct stat_calls *sum, const struct stat_calls *before, const struct stat_calls *now,
		      int kind)
{
	sum->calls[kind] += now->calls[kind] - before->calls[kind];
	sum->absval[kind] += now->absval[kind] - before->absval[kind];
	sum->calls_below_0[kind] += now->calls_below_0[kind] - before->calls_below_0[kind];
	sum->absval_below_0[kind] += now->absval_below_0[kind] - before->absval_below_0[kind];
}

enum watch { WATCH_BEGINS, WATCH_ENDS, WATCH_RESTS }; /* triggers are cleared, paused, let run again */

static bool write_triggers(struct task *t, struct workload_task *w, enum watch when, struct step_done *done)
{
	struct stat_calls *before = ((struct page_ops_state *)w->state)->before;
	const struct stat_calls *now = stat_calls(w->host);

	for (int k = 0; k < NR_TRIGGERS; k++) {
		if (!alloc(t, w, AT_FILE))
			return false;
		if (when == WATCH_BEGINS && k < NR_STAT_KINDS)
			before[k] = *now;
		else if (when == WATCH_ENDS && k < NR_STAT_KINDS)
			page_ops_counted(&done->calls, &before[k], now, k);
		synchronize_rcu(t);
		release(t, w, AT_FILE);
	}
	return true;
}

static bool read_histograms(struct task *t, struct workload_task *w)
{
	struct page_ops_state *s = w->state;

	for (int k = 0; k < NR_TRIGGERS; k++) {
		bool seen = k < s->histograms_seen;
		bool done = open_file(t, w, AT_NEW_HISTOGRAM, &seen, AT_HISTOGRAM);

		if (seen && k == s->histograms_seen)
			s->histograms_seen++;
		if (!done)
			return false;
		release(t, w, AT_HISTOGRAM);
		release(t, w, AT_FILE);
	}
	return true;
}

bool page_ops_watch(struct task *t, struct workload_task *w)
{
	return write_triggers(t, w, WATCH_BEGINS, NULL);
}

bool page_ops_watched(struct task *t, struct workload_task *w, struct step_done *done)
{
	return write_triggers(t, w, WATCH_ENDS, done) && read_histograms(t, w) &&
	       write_triggers(t, w, WATCH_RESTS, NULL);
}
