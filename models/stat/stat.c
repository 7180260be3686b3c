/*
 * stat.c - an update of memory.stat, and the state that all of the statistics model hangs from.
 *
 * An update adds to the running CPU's block of the memcg (and to the copy that is kept by node), makes sure
 * that a flusher will find the block, and lets the update policy count it. Kernel 6.1:
 * __mod_memcg_lruvec_state(), __mod_memcg_state(), __count_memcg_events() and memcg_rstat_updated() of
 * mm/memcontrol.c. No line that other CPUs use is touched unless one of the last two steps does it, and
 * touching the block costs no transfer either: only a flusher takes it away, and pays for it. What has
 * streamed through this CPU's caches since the last update makes it dearer.
 *
 * The truth is added up the tree at the same instant, whatever the policies do, so that an update that gets
 * lost on the kernel's way shows as a difference (invariants.c).
 */
#include "models/stat/decision.h"
#include "models/stat/dying/dying.h"
#include "models/stat/stat_impl.h"

static const struct axis axes[NR_STAT_AXES] = { 0 };

MODULE(axis_stat_update) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "stat_update",
	.help = "who is told of a statistics update",
	.source = "mm/memcontrol.c, memcg_rstat_updated()",
	.ops = &axes[AXIS_UPDATE],
};

MODULE(axis_rstat_updated) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "rstat_updated",
	.help = "how a cgroup gets onto a CPU's list of those to flush",
	.source = "kernel/cgroup/rstat.c, cgroup_rstat_updated()",
	.ops = &axes[AXIS_UPDATED],
};

MODULE(axis_flush) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "flush",
	.help = "who flushes statistics when, and whether others wait",
	.source = "mm/memcontrol.c, mem_cgroup_flush_stats()",
	.ops = &axes[AXIS_FLUSH],
};

MODULE(axis_rstat_lock) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "rstat_lock",
	.help = "what a flusher holds, and when it lets go",
	.source = "kernel/cgroup/rstat.c, cgroup_rstat_flush_locked()",
	.ops = &axes[AXIS_LOCK],
};

static const char *const axis_names[NR_STAT_AXES] = {
	[AXIS_UPDATE] = "stat_update",
	[AXIS_UPDATED] = "rstat_updated",
	[AXIS_FLUSH] = "flush",
	[AXIS_LOCK] = "rstat_lock",
};

static void price_of_a_pair(const struct host *host, struct stat_state *st)
{
	const struct kernel_costs *costs = host->costs;
	uint32_t slots = st->items->state + st->items->events + st->items->node * host->nr_nodes;
	uint32_t values = slots * 2; /* the running one and the one last flushed */

	st->pair_cost = costs->flush_pair + slots * costs->flush_slot +
			(host->kernel_version < 616 ? costs->flush_others : 0);
	st->pair_lines = (values + SLOTS_PER_LINE - 1) / SLOTS_PER_LINE;
}

void stat_build_policies(struct host *host, const struct stat_policy policy[NR_STAT_AXES],
			 const struct stat_options *options)
{
	struct stat_state *st = sim_alloc(host->sim, sizeof *st);
	struct lock_class *cpu_class = lock_class(host->sim, "cgroup_rstat_cpu_lock");

	host->stat = st;
	for (int i = 0; i < NR_STAT_AXES; i++)
		st->policy[i] = policy[i];
	st->update = policy[AXIS_UPDATE].ops;
	st->updated = policy[AXIS_UPDATED].ops;
	st->flush = policy[AXIS_FLUSH].ops;
	st->lock = policy[AXIS_LOCK].ops;
	st->dying = &dying_stats_keep;
	st->options = *options;
	st->items = stat_inventory(host->kernel_version);
	price_of_a_pair(host, st);
	st->cpus = arena_array(sim_arena(host->sim), host->nr_possible, sizeof *st->cpus);
	for (uint32_t i = 0; i < host->nr_possible; i++)
		spin_lock_init(&st->cpus[i].lock, cpu_class);
	line_init(&st->line);
	spin_lock_init(&st->flush_lock, lock_class(host->sim, "stats_flush_lock"));
	st->flush_late = 2 * FLUSH_TIME; /* a machine that has been up: its root was flushed just now */
	st->memcg_threshold = (uint64_t)host->charge_batch * host->nr_cpus;
	stat_metrics_build(host);
	flush_metrics_build(host);
	decisions_build(host);
	st->lock->init(host);
	if (st->flush->init)
		st->flush->init(host);
}

void stat_build(struct host *host)
{
	struct stat_policy policy[NR_STAT_AXES];

	for (int i = 0; i < NR_STAT_AXES; i++) {
		const struct module_use *use = scenario_policy(host->scenario, axis_names[i]);

		policy[i] = (struct stat_policy){
			.module = use->module,
			.ops = use->module->ops,
			.options = use->options,
			.state = host_policy_state(host, axis_names[i]),
		};
	}
	stat_build_policies(host, policy, scenario_section(host->scenario, "statistics"));
	dying_build(host);
}

void stat_build_memcg(struct memcg *m)
{
	m->stat = sim_alloc(m->host->sim, sizeof *m->stat);
	m->stat->nodes = sim_alloc(m->host->sim, m->host->nr_nodes * sizeof(struct node_stat *));
	line_init(&m->stat->line);
}

static inline uint64_t size_of(int64_t val)
{
	return (uint64_t)(val < 0 ? -val : val);
}

static inline void change_pair(struct stat_pair *pair, enum stat_item item, int64_t val)
{
	pair->delta[item] += val;
	pair->changed |= (uint64_t)1 << item;
	pair->absolute += size_of(val);
}

/* The kernel's part of an update; what no flush has seen of it is measured at all levels. */
static inline void change(struct stat_pair *pair, enum stat_item item, int64_t val)
{
	change_pair(pair, item, val);
	for (struct memcg *m = pair->memcg; m; m = m->parent)
		m->stat->unflushed += size_of(val);
}

/* The same, with what is truly the owner's: one way up if that is who is counted, as nearly always. */
static inline void change_with_truth(struct stat_pair *pair, struct memcg *owner, enum stat_item item,
				     int64_t val)
{
	if (__builtin_expect(owner != pair->memcg, 0)) {
		change(pair, item, val);
		for (; owner; owner = owner->parent)
			owner->stat->truth[item] += val;
		return;
	}
	change_pair(pair, item, val);
	for (; owner; owner = owner->parent) {
		owner->stat->unflushed += size_of(val);
		owner->stat->truth[item] += val;
	}
}

/*
 * The lines of an update: three on the way to the block (the pointer to the memcg in its lruvec, that to the
 * block in the memcg, the block's place on the updated tree), the slot, and the lruvec's copy of it.
 * stat_update counts them as hits; this is what they cost beyond, one after the other since each holds the
 * address of the next.
 */
__attribute__((noinline)) static void touch_lines(struct task *t, struct stat_pair *pair, enum stat_item item)
{
	cpu_defer(t, 3 * line_cost_beyond(t, &pair->near_pointers) +
			     (item < NR_LRUVEC_ITEMS ? 2 : 1) *
				     line_cost_beyond(t, &pair->near_slots[item / SLOTS_PER_LINE]));
}

/* Adds to the running CPU's block of `counted`, and returns it, what is truly the owner's. */
static inline struct stat_pair *add(struct task *t, struct memcg *owner, struct memcg *counted,
				    enum stat_item item, int64_t val)
{
	struct memcg *m = counted;
	struct stat_pair *pair = rstat_pair(m->host, t->cpu->id, m);

	shared_step(t);
	change_with_truth(pair, owner, item, val);
	cpu_defer(t, m->host->costs->stat_update);
	if (__builtin_expect(t->cpu->caches, 0))
		touch_lines(t, pair, item);
	return pair;
}

/* The truth by node, where that is not all there is. */
static void add_node_truth(struct memcg *m, uint32_t node, enum stat_item item, int64_t val)
{
	if (m->host->nr_nodes == 1)
		return;
	for (; m; m = m->parent) {
		struct node_stat **n = &m->stat->nodes[node];

		if (!*n)
			*n = sim_alloc(m->host->sim, sizeof **n);
		(*n)->truth[item] += val;
	}
}

static inline void add_node(struct stat_pair *pair, uint32_t node, enum stat_item item, int64_t val)
{
	struct node_delta *delta = pair->nodes[node];

	if (!delta) {
		delta = sim_alloc(pair->memcg->host->sim, sizeof *delta);
		pair->nodes[node] = delta;
	}
	delta->of[item] += val;
	delta->changed |= (uint64_t)1 << item;
}

/*
 * memcg_state_val_in_pages() of 7bd5bc3ce963, 6.7; here only with what came in 6.8 (docs/limits.md): at
 * least a page. Bytes are divided as an unsigned long, so that a value below 0 is rounded away from 0: a
 * lump of slab that goes counts twice what it did when it came.
 */
static inline uint64_t in_pages(enum stat_item item, int64_t val)
{
	uint64_t unit = stat_item_unit(item), size = size_of(val) * unit;

	if (unit == PAGE_SIZE)
		return size / PAGE_SIZE;
	return size < PAGE_SIZE ? 1 : (size + (val < 0 ? PAGE_SIZE - 1 : 0)) / PAGE_SIZE;
}

static inline void notify(struct task *t, struct stat_pair *pair, enum stat_item item, int64_t val,
			  enum stat_kind kind)
{
	struct stat_state *st = stat_of(pair->memcg->host);
	uint64_t size = size_of(val);

	st->calls.calls[kind]++;
	st->calls.absval[kind] += size;
	if (val < 0) {
		st->calls.calls_below_0[kind]++;
		st->calls.absval_below_0[kind] += size;
	}
	st->updated->updated(t, pair);
	st->update->updated(t, pair, item, st->update->in_pages ? in_pages(item, val) : size);
}

void mod_lruvec_state(struct task *t, struct memcg *m, uint32_t node, enum stat_item item, int64_t val)
{
	assert(item < NR_LRUVEC_ITEMS && node < m->host->nr_nodes);
	if (!val)
		return;
	cpu_defer(t, stat_of(m->host)->dying_cost);
	struct memcg *counted = stat_counted(t, m);
	struct memcg *owner = stat_item_is_of_pages(item) ? page_owner(m, node) : m;
	struct stat_pair *pair = add(t, owner, counted, item, val);

	add_node(pair, node, item, val);
	add_node_truth(owner, node, item, val);
	notify(t, pair, item, val, STAT_LRUVEC);
}

void mod_memcg_state(struct task *t, struct memcg *m, enum stat_item item, int64_t val)
{
	assert(item >= NR_LRUVEC_ITEMS && item < NR_STATE_ITEMS);
	if (!val)
		return;
	cpu_defer(t, stat_of(m->host)->dying_cost);
	notify(t, add(t, m, stat_counted(t, m), item, val), item, val, STAT_STATE);
}

void count_memcg_events(struct task *t, struct memcg *m, enum stat_item event, uint64_t n)
{
	assert(event >= NR_STATE_ITEMS && event < NR_STAT_ITEMS);
	if (!n || (stat_event_is_v1(event) && m->host->kernel_version >= 611))
		return;
	notify(t, add(t, m, m, event, (int64_t)n), event, (int64_t)n, STAT_EVENT);
}

/* memcg_rstat_updated() returns at once; what comes before it has been done by then. */
void stat_update_by_0(struct task *t, const struct memcg *m)
{
	stat_of(m->host)->calls.calls[STAT_LRUVEC]++;
	cpu_defer(t, m->host->costs->stat_update);
}

void stat_cpu_time(struct task *t, struct memcg *m)
{
	struct host *host = m->host;

	if (m->parent && host->kernel_version < 616)
		stat_of(host)->updated->updated(t, rstat_pair(host, t->cpu->id, m));
}

void stat_move_local(struct task *t, struct memcg *m, const int64_t *moved, uint32_t node)
{
	struct host *host = m->host;
	struct stat_pair *from = rstat_pair(host, t->cpu->id, m),
			 *to = rstat_pair(host, t->cpu->id, m->parent);

	shared_step(t);
	for (int i = 0; i < NR_LRUVEC_ITEMS; i++) {
		enum stat_item item = (enum stat_item)i;

		if (!moved[i])
			continue;
		change(from, item, -moved[i]);
		add_node(from, node, item, -moved[i]);
		change(to, item, moved[i]);
		add_node(to, node, item, moved[i]);
		cpu_defer(t, 2 * host->costs->stat_update);
	}
	for (int i = 0; i < NR_LRUVEC_ITEMS; i++)
		if (moved[i]) {
			notify(t, from, (enum stat_item)i, -moved[i], STAT_LRUVEC);
			notify(t, to, (enum stat_item)i, moved[i], STAT_LRUVEC);
		}
}

int64_t stat_reported(const struct memcg *m, enum stat_item item)
{
	return m->stat->value[item];
}

int64_t stat_truth(const struct memcg *m, enum stat_item item)
{
	return m->stat->truth[item];
}

int64_t stat_local(const struct memcg *m, enum stat_item item)
{
	return m->stat->local[item];
}

int64_t stat_local_exact(const struct memcg *m, enum stat_item item)
{
	int64_t value = stat_local(m, item);

	for (const struct stat_pair *pair = m->stat->pairs; pair; pair = pair->of_memcg)
		value += pair->delta[item];
	return value;
}

int64_t stat_reported_node(const struct memcg *m, uint32_t node, enum stat_item item)
{
	const struct node_stat *n = m->stat->nodes[node];

	return n ? n->value[item] : 0;
}

int64_t stat_truth_node(const struct memcg *m, uint32_t node, enum stat_item item)
{
	const struct node_stat *n = m->stat->nodes[node];

	if (m->host->nr_nodes == 1)
		return m->stat->truth[item];
	return n ? n->truth[item] : 0;
}

int64_t stat_local_node(const struct memcg *m, uint32_t node, enum stat_item item)
{
	const struct node_stat *n = m->stat->nodes[node];

	return n ? n->local[item] : 0;
}

int64_t stat_local_node_exact(const struct memcg *m, uint32_t node, enum stat_item item)
{
	int64_t value = stat_local_node(m, node, item);

	for (const struct stat_pair *pair = m->stat->pairs; pair; pair = pair->of_memcg)
		if (pair->nodes[node])
			value += pair->nodes[node]->of[item];
	return value;
}

const struct stat_calls *stat_calls(const struct host *host)
{
	return &stat_of(host)->calls;
}

const struct flush_count *stat_flush_count(const struct host *host)
{
	return &stat_of(host)->count;
}

void stat_flush(struct task *t, struct memcg *m, enum flush_caller caller)
{
	struct flush f = { .memcg = m, .caller = caller };

	stat_of(m->host)->count.calls[caller]++;
	stat_of(m->host)->flush->flush(t, &f);
}
