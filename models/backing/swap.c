/*
 * swap.c - slots of swap: who has them, and pages out to the device and back; after mm/swapfile.c,
 * mm/page_io.c and __mem_cgroup_try_charge_swap() of mm/memcontrol.c, Linux 6.1.
 *
 * A slot is charged to its cgroup's memory.swap from when it is taken to when it gets free (swap_slots.c);
 * the cgroup stays the owner, whoever reads the page back. Which slot it is: swap_clusters.c.
 */
#include "models/backing/backing_impl.h"
#include "models/pressure/pressure.h"

static const struct axis anon_shadow_axis = { .fallback = "swap_xarray_root" };

MODULE(axis_anon_shadow) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "anon_shadow",
	.help = "where the shadow of an anonymous page is kept, and who is charged for it",
	.source = "mm/swap_state.c",
	.ops = &anon_shadow_axis,
};

enum { USED, OUT, IN, FULL };

static const struct metric metrics[] = {
	[USED] = { "swap.used", "pages", METRIC_GAUGE, "slots in use, as SwapTotal less SwapFree" },
	[OUT] = { "swap.out", "pages", METRIC_COUNTER, "pages written, as pswpout" },
	[IN] = { "swap.in", "pages", METRIC_COUNTER, "pages read, as pswpin" },
	[FULL] = { "swap.full", "1", METRIC_COUNTER, "pages that found no slot, or no room on the device" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(swap_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "swap",
	.help = "swap of the whole machine",
	.ops = &table,
};

bool swap_present(const struct host *host)
{
	return swap_of(host)->device;
}

bool swap_is_synchronous(const struct host *host)
{
	return swap_present(host) && swap_of(host)->device->ops->synchronous;
}

uint64_t swap_used_slots(const struct host *host)
{
	return swap_of(host)->used;
}

uint64_t swap_free_slots(const struct host *host)
{
	return swap_of(host)->nr_slots - swap_of(host)->used;
}

uint64_t swap_room(const struct host *host, const struct memcg *m)
{
	uint64_t room = swap_free_slots(host);

	for (; !memcg_is_root(m); m = m->parent) {
		uint64_t left = m->swap.usage < m->swap.max ? m->swap.max - m->swap.usage : 0;

		room = left < room ? left : room;
	}
	return room;
}

struct memcg *swap_owner(const struct host *host, swap_slot_t slot)
{
	return host->cgroups->all[swap_of(host)->owners[slot] - 1];
}

frame_t swap_cached(const struct host *host, swap_slot_t slot)
{
	return swap_of(host)->cached[slot];
}

void swap_set_cached(struct host *host, swap_slot_t slot, frame_t frame)
{
	struct swap_state *swap = swap_of(host);

	swap->cached[slot] = frame;
	if (frame && swap->slots)
		swap->slots[frame] = slot;
}

swap_slot_t swap_slot_of(const struct host *host, frame_t frame)
{
	return swap_of(host)->slots[frame];
}

/* ---- slots ---- */

static bool charge(struct task *t, struct memcg *m)
{
	struct page_counter *over;

	if (memcg_is_root(m))
		return true;
	if (!page_counter_try_charge(t, &m->swap, 1, &over))
		return false;
	m->swap.in_flight--; /* it is the slot's from now on */
	mod_memcg_state(t, m, MEMCG_SWAP, 1);
	return true;
}

static void uncharge(struct task *t, struct memcg *m)
{
	if (memcg_is_root(m))
		return;
	m->swap.in_flight++;
	page_counter_uncharge(t, &m->swap, 1);
	mod_memcg_state(t, m, MEMCG_SWAP, -1);
}

/* mem_cgroup_id_put(): slots name their owner by its id, and so keep a removed one's. */
static void forget(struct task *t, struct memcg *m)
{
	if (--m->nr_swap || m->life < MEMCG_OFFLINE)
		return;
	memcg_put_css_id(m);
	memcg_ref_gone(t, m);
}

/* mem_cgroup_id_get_online(): a removed cgroup's page that goes out now is charged to its parent's swap. */
static struct memcg *swap_payer(struct memcg *m)
{
	while (m->life >= MEMCG_OFFLINE && !m->nr_swap)
		m = m->parent;
	return m;
}

swap_slot_t swap_alloc(struct task *t, struct memcg *m)
{
	struct host *host = m->host;
	struct swap_state *swap = swap_of(host);
	swap_slot_t slot;

	shared_step(t);
	swap_slots_decide(t);
	m = swap_payer(m);
	if (swap->used == swap->nr_slots) {
		swap->full += swap->device != NULL;
		return NO_SWAP;
	}
	cpu_defer(t, host->costs->swap_slot);
	slot = swap_slot_take(swap, t->cpu->id);
	swap->owners[slot] = m->id + 1;
	swap->used++;
	m->nr_swap++;
	if (charge(t, m))
		return slot;
	swap->owners[slot] = 0;
	swap_slot_give(swap, slot);
	swap->used--;
	forget(t, m);
	return NO_SWAP;
}

void swap_slot_free_now(struct task *t, swap_slot_t slot)
{
	struct host *host = host_of(t);
	struct swap_state *swap = swap_of(host);
	struct memcg *m = swap_owner(host, slot);

	swap->shadows->clear(t, host, slot);
	task_sync(t);
	if (swap->device->ops->free)
		swap->device->ops->free(t, swap->device->state, slot);
	swap->owners[slot] = 0;
	swap_slot_give(swap, slot);
	swap->used--;
	uncharge(t, m);
	forget(t, m);
	task_sync(t);
}

void swap_free(struct task *t, swap_slot_t slot)
{
	shared_step(t);
	cpu_defer(t, host_of(t)->costs->swap_slot);
	swap_slot_put(t, slot);
	task_sync(t);
}

/* ---- pages ---- */

/* Whoever writes waits for it here, and yet the page has been under writeback meanwhile as any other. */
bool swap_write(struct task *t, swap_slot_t slot, frame_t frame)
{
	struct swap_state *swap = swap_of(host_of(t));

	page_begin_writeback(t, host_of(t), frame);
	bool done = swap->device->ops->write(t, swap->device->state, slot);

	page_end_writeback(t, host_of(t), frame, t->cpu->id);
	swap->out += done;
	swap->full += !done;
	return done;
}

/*
 * Up to 5.18 whoever reads is stalled, d8c47cc7bf60 (5.19) made that who reads a page of the workingset.
 * Assumed of kernels before 5.5: the same as of 5.15, though swap_readpage() itself may have said nothing
 * then.
 */
void swap_read(struct task *t, swap_slot_t slot, frame_t frame)
{
	struct host *host = host_of(t);
	struct swap_state *swap = swap_of(host);
	bool stalled = host->kernel_version < 519 || page_of(host, frame)->flags & PG_WORKINGSET;
	bool outer = stalled ? psi_memstall_enter(t) : false;

	swap->device->ops->read(t, swap->device->state, slot);
	swap->in++;
	task_sync(t);
	if (stalled)
		psi_memstall_leave(t, outer);
}

bool swap_cache_add(struct task *t, swap_slot_t slot, frame_t frame)
{
	return swap_of(host_of(t))->shadows->add(t, slot, frame);
}

void swap_cache_del(struct task *t, swap_slot_t slot, frame_t frame, struct memcg *target)
{
	swap_of(host_of(t))->shadows->del(t, slot, frame, target);
}

shadow_t swap_shadow(const struct host *host, swap_slot_t slot)
{
	return swap_of(host)->shadows->get(host, slot);
}

uint64_t swap_table_shadows(const struct host *host)
{
	return swap_present(host) ? swap_of(host)->shadows->kept(host) : 0;
}

/* ---- life ---- */

void swap_build(struct host *host)
{
	struct swap_state *swap = swap_of(host);

	if (!swap->device)
		return;
	swap->nr_slots = (uint32_t)swap->device->ops->pages(swap->device->options);
	swap_clusters_build(host);
	swap->owners = arena_array(sim_arena(host->sim), (size_t)swap->nr_slots + 1, sizeof *swap->owners);
	swap->waiting = arena_array(sim_arena(host->sim), host->nr_cpus, sizeof *swap->waiting);
	swap->cached = arena_array(sim_arena(host->sim), (size_t)swap->nr_slots + 1, sizeof *swap->cached);
	if (!swap->device->ops->synchronous)
		swap->slots = arena_array(sim_arena(host->sim), host->memory / PAGE_SIZE + 1,
					  sizeof *swap->slots);
	swap->shadows = host_policy_ops(host, "anon_shadow");
	swap->shadows->init(host, swap->nr_slots);
}

void swap_sample(struct host *host, sim_time_t now)
{
	if (!swap_present(host))
		return;
	record_sample(host->run->record, &metrics[USED], "all", now, (double)swap_of(host)->used);
	record_sample(host->run->record, &metrics[OUT], "all", now, (double)swap_of(host)->out);
	record_sample(host->run->record, &metrics[IN], "all", now, (double)swap_of(host)->in);
}

/* Slots, by who owns them: of a cgroup and those below it, what its counter says. */
static void check(struct host *host, struct record *record)
{
	const struct swap_state *swap = swap_of(host);
	uint64_t *owned = arena_array(sim_arena(host->sim), host->cgroups->nr, sizeof *owned);
	uint64_t used = 0;

	for (uint32_t slot = 1; slot <= swap->nr_slots; slot++)
		if (swap->owners[slot]) {
			owned[swap->owners[slot] - 1]++;
			used++;
		}
	record_invariant(record, "swap", used == swap->used, "%lld slots have owners, %lld are in use",
			 (long long)used, (long long)swap->used);
	uint32_t nr;
	struct memcg **order = memcg_order(host, &nr);

	while (--nr) {
		const struct memcg *m = order[nr];

		record_invariant(record, "swap", m->swap.usage == owned[m->id],
				 "%s: memory.swap %lld, has %lld slots", m->path, (long long)m->swap.usage,
				 (long long)owned[m->id]);
		owned[m->parent->id] += owned[m->id];
	}
	sim_free(host->sim, order, host->cgroups->nr * sizeof(*order));
}

void swap_finish(struct host *host)
{
	const struct swap_state *swap = swap_of(host);
	struct record *record = host->run->record;

	if (!swap->device)
		return;
	record_summary(record, &metrics[USED], "all", (double)swap->used);
	record_summary(record, &metrics[OUT], "all", (double)swap->out);
	record_summary(record, &metrics[IN], "all", (double)swap->in);
	record_summary(record, &metrics[FULL], "all", (double)swap->full);
	check(host, record);
}
