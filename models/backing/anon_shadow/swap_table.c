/*
 * anon_shadow: swap_table. A table of one word for each slot, made with its cluster: no nodes, so nothing to
 * be charged, listed or reclaimed; a shadow lives as long as its slot.
 */
#include "models/backing/backing_impl.h"
#include "models/reclaim/reclaim.h"

struct swap_words {
	shadow_t *shadows; /* by slot */
	uint64_t nr;
};

static struct swap_words *words(const struct host *host)
{
	return swap_of(host)->shadow_state;
}

static void init(struct host *host, uint32_t nr_slots)
{
	struct swap_words *w = sim_alloc(host->sim, sizeof *w);

	w->shadows = arena_array(sim_arena(host->sim), (size_t)nr_slots + 1, sizeof *w->shadows);
	swap_of(host)->shadow_state = w;
}

static void count_page(struct task *t, frame_t frame, int nr)
{
	struct host *host = host_of(t);
	const struct page *page = page_of(host, frame);

	mod_lruvec_state(t, page_memcg(host, page), page->node, NR_SWAPCACHE, nr);
}

static bool add(struct task *t, swap_slot_t slot, frame_t frame)
{
	(void)slot;
	page_of(host_of(t), frame)->flags |= PG_SWAPCACHE;
	count_page(t, frame, 1);
	return true;
}

static void del(struct task *t, swap_slot_t slot, frame_t frame, struct memcg *target)
{
	struct host *host = host_of(t);
	shadow_t shadow = target ? reclaim_ops(host)->eviction(t, frame, target) : NO_SHADOW;

	page_of(host, frame)->flags &= (uint16_t)~PG_SWAPCACHE;
	if (shadow) {
		words(host)->shadows[slot] = shadow;
		words(host)->nr++;
		workingset_shadow_made(host);
	}
	count_page(t, frame, -1);
}

static shadow_t get(const struct host *host, swap_slot_t slot)
{
	return words(host)->shadows[slot];
}

static void clear(struct task *t, struct host *host, swap_slot_t slot)
{
	(void)t;
	if (!words(host)->shadows[slot])
		return;
	words(host)->shadows[slot] = NO_SHADOW;
	words(host)->nr--;
	workingset_shadow_gone(host, 1);
}

static uint64_t kept(const struct host *host)
{
	return words(host)->nr;
}

static const struct anon_shadow_ops ops = {
	.init = init,
	.add = add,
	.del = del,
	.get = get,
	.clear = clear,
	.kept = kept,
};

MODULE(anon_shadow_swap_table) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "anon_shadow",
	.name = "swap_table",
	.help = "in a table beside the swap slots, without nodes",
	.source = "Linux 6.18, mm/swap_state.c, mm/swap_table.h",
	.ops = &ops,
};
