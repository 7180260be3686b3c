/*
 * frames.c - page frames and who has the free ones, after mm/page_alloc.c of Linux 6.1 (rmqueue_pcplist,
 * rmqueue_bulk, free_unref_page_list).
 *
 * Every CPU keeps a list of free frames of each zone and takes from, or gives back to, the zone's own list
 * only whole batches, under the zone's lock. The lists are stacks, so the frame freed last is used next.
 * Frames that were never used are handed out in order, which is why a large host costs memory only for what
 * it uses.
 *
 * The zones of a host lie in one array: one a node, and after them the small one for DMA that a PC has on its
 * first node (watermarks.c says what follows from it). What happens when free frames fall to the low
 * watermark is the business of models/reclaim. The kernel takes frames of its own in kernel_frames.c.
 */
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"

#define PCP_BATCH_MOST 63u   /* of every zone above 1 GiB */
#define DMA_PAGES      3840u /* 15 MiB, as managed */

static struct page_cpu_list *cpu_list(const struct host *host, const struct task *t,
				      const struct page_zone *zone)
{
	const struct page_state *ps = host->pages;

	return &ps->lists[(size_t)t->cpu->id * ps->nr_zones + (size_t)(zone - ps->zones)];
}

static struct page_zone *frame_zone(const struct host *host, frame_t frame)
{
	const struct page_state *ps = host->pages;

	return frame < ps->dma_end ? &ps->zones[host->nr_nodes] : node_zone(host, ps->pages[frame].node);
}

frame_t zone_take(struct page_state *ps, struct page_zone *zone, uint32_t nid)
{
	zone->nr_free--;
	if (zone->free)
		return frame_pop(ps->pages, &zone->free);
	ps->pages[zone->fresh].node = (uint16_t)nid;
	return zone->fresh++;
}

/* rmqueue_bulk(): a batch from the zone to the running CPU's list; none if the zone has none. */
static void refill(struct task *t, struct host *host, struct page_zone *zone, uint32_t nid)
{
	struct page_state *ps = host->pages;

	spin_lock_irq(t, &zone->lock);
	struct page_cpu_list *list = cpu_list(host, t, zone);
	uint32_t nr = zone->nr_free < zone->batch ? (uint32_t)zone->nr_free : zone->batch;
	frame_t batch[PCP_BATCH_MOST];

	for (uint32_t i = 0; i < nr; i++)
		batch[i] = zone_take(ps, zone, nid);
	while (nr--) {
		frame_push(ps->pages, &list->free, batch[nr]);
		list->nr++;
		cpu_defer(t, host->costs->zone_page);
	}
	spin_unlock_irq(t, &zone->lock);
}

static void give_back(struct task *t, struct host *host, struct page_zone *zone, uint32_t nr)
{
	struct page_state *ps = host->pages;

	spin_lock_irq(t, &zone->lock);
	struct page_cpu_list *list = cpu_list(host, t, zone);

	for (uint32_t i = 0; i < nr && list->free; i++) {
		frame_push(ps->pages, &zone->free, frame_pop(ps->pages, &list->free));
		list->nr--;
		zone->nr_free++;
		cpu_defer(t, host->costs->zone_page);
	}
	spin_unlock_irq(t, &zone->lock);
}

/* From the running CPU's list of that zone, which is filled if it is empty. */
static frame_t take(struct task *t, struct host *host, struct page_zone *zone, uint32_t nid)
{
	struct page_cpu_list *list = cpu_list(host, t, zone);

	list->free_factor /= 2;
	if (!list->free && zone->nr_free) {
		refill(t, host, zone, nid);
		list = cpu_list(host, t, zone); /* the task may have been moved since */
	}
	if (!list->free)
		return NO_FRAME;
	list->nr--;
	frame_t frame = frame_pop(host->pages->pages, &list->free);

	host->pages->pages[frame].cpu = (uint16_t)t->cpu->id;
	return frame;
}

/* get_page_from_freelist(); mark NULL: ALLOC_NO_WATERMARKS. */
static frame_t get_page(struct task *t, struct host *host, const enum watermark *mark)
{
	uint32_t local = t->cpu->node;

	cpu_defer(t, host->costs->page_alloc);
	for (uint32_t i = 0; i < host->nr_nodes; i++) {
		uint32_t nid = (local + i) % host->nr_nodes;

		for (struct page_zone *z = node_zone(host, nid); z; z = node_zone_next(host, z)) {
			frame_t frame = !mark || zone_above(z, *mark) ? take(t, host, z, nid) : NO_FRAME;

			if (frame)
				return frame;
		}
	}
	return NO_FRAME;
}

static frame_t get_page_above(struct task *t, struct host *host, uint32_t node, enum watermark mark)
{
	(void)node; /* the running CPU's */
	return get_page(t, host, &mark);
}

frame_t frame_alloc(struct task *t, struct host *host)
{
	if (task_reclaims(t))
		return get_page(t, host, NULL);
	enum watermark low = WMARK_LOW;
	frame_t frame = get_page(t, host, &low);

	return frame ? frame : reclaim_alloc(t, host, t->cpu->node, get_page_above);
}

/* nr_pcp_high(): little while kswapd is at work, which can only count what is on the zone's own list. */
static uint32_t cpu_list_most(const struct page_zone *zone)
{
	return zone->reclaiming && zone->high > 4 * zone->batch ? 4 * zone->batch : zone->high;
}

/* nr_pcp_free(): a batch, twice as much each time that nothing was taken meanwhile, but a batch is left. */
static uint32_t nr_to_give_back(const struct page_zone *zone, struct page_cpu_list *list, uint32_t most)
{
	uint32_t nr = zone->batch << list->free_factor, least = zone->batch;

	if (nr < most - zone->batch)
		list->free_factor++;
	else
		nr = most - zone->batch;
	return nr > least ? nr : least;
}

void frame_free(struct task *t, struct host *host, frame_t frame)
{
	struct page_state *ps = host->pages;
	struct page_zone *zone = frame_zone(host, frame);
	struct page_cpu_list *list = cpu_list(host, t, zone);
	uint32_t most = cpu_list_most(zone);

	cpu_defer(t, host->costs->page_free);
	ps->pages[frame].flags = 0;
	ps->pages[frame].cpu = (uint16_t)t->cpu->id;
	frame_push(ps->pages, &list->free, frame);
	if (++list->nr >= most)
		give_back(t, host, zone, nr_to_give_back(zone, list, most));
}

void frames_drain(struct task *t, struct host *host)
{
	for (uint32_t i = 0; i < host->pages->nr_zones; i++) {
		struct page_zone *zone = &host->pages->zones[i];

		task_sync(t);
		while (cpu_list(host, t, zone)->free)
			give_back(t, host, zone, zone->batch);
	}
}

uint64_t frames_used(const struct host *host)
{
	const struct page_state *ps = host->pages;
	uint64_t used = 0;

	for (uint32_t i = 0; i < ps->nr_zones; i++) {
		const struct page_zone *zone = &ps->zones[i];

		used += zone->end - zone->first - zone->nr_free;
		for (uint32_t cpu = 0; cpu < host->nr_cpus; cpu++)
			used -= ps->lists[(size_t)cpu * ps->nr_zones + i].nr;
	}
	return used;
}

/* A charge may outlast its cgroup: what a page names is an objcg then, and that is the parent's by now. */
void page_charged(struct host *host, frame_t frame, struct memcg *m, uint32_t object, uint32_t index,
		  uint32_t flags)
{
	struct page *page = page_of(host, frame);

	page->memcg = m->id;
	if (host->cgroups->lru_reparent) {
		m->objcg->refs++;
		memcg_charge_outlasted(m);
	}
	page->object = object;
	page->index = index;
	page->flags = (uint16_t)(flags | PG_CHARGED);
	page->batched = 0;
	page->refs = page->gen = 0;
}

/* zone_batchsize(): 1/4096 of the zone, near a power of two. */
static uint32_t cpu_batch(uint64_t pages)
{
	uint64_t quarter = pages / 1024 / 4, power = 1;

	if (quarter >= PCP_BATCH_MOST + 1)
		return PCP_BATCH_MOST;
	while (2 * power <= quarter + quarter / 2)
		power *= 2;
	return power > 1 ? (uint32_t)power - 1 : 1;
}

/* zone_highsize(): the low watermark, shared by the node's CPUs, but at least four batches. */
static uint32_t cpu_high(const struct host *host, const struct page_zone *zone)
{
	uint64_t high = zone->watermark[WMARK_LOW] * host->nr_nodes / host->nr_cpus;

	return high > 4 * zone->batch ? (uint32_t)high : 4 * zone->batch;
}

static void zone_range(struct page_zone *zone, struct lock_class *class, uint64_t first, uint64_t end)
{
	spin_lock_init(&zone->lock, class);
	zone->first = zone->fresh = (frame_t)first;
	zone->end = (frame_t)end;
	zone->nr_free = end - first;
	zone->batch = cpu_batch(zone->nr_free);
}

void frames_build(struct host *host)
{
	struct page_state *ps = host->pages;
	uint64_t per_node = host->memory / PAGE_SIZE / host->nr_nodes;
	struct lock_class *class = lock_class(host->sim, "&zone->lock");
	uint32_t dma = per_node > 4 * DMA_PAGES ? DMA_PAGES : 0; /* what is smaller is no PC */

	/* One more than there are: frame 0 stands for none. */
	ps->pages = arena_array(sim_arena(host->sim), per_node * host->nr_nodes + 1, sizeof *ps->pages);
	ps->nodes = sim_alloc(host->sim, host->nr_nodes * sizeof *ps->nodes);
	ps->nr_zones = host->nr_nodes + !!dma;
	ps->dma_end = 1 + dma;
	ps->zones = sim_alloc(host->sim, ps->nr_zones * sizeof *ps->zones);
	ps->lists = arena_array(sim_arena(host->sim), (size_t)host->nr_cpus * ps->nr_zones,
				sizeof *ps->lists);
	for (uint32_t i = 0; i < host->nr_nodes; i++)
		zone_range(&ps->zones[i], class, 1 + i * per_node + (i ? 0 : dma), 1 + (i + 1) * per_node);
	if (dma)
		zone_range(&ps->zones[host->nr_nodes], class, 1, 1 + dma);
	watermarks_build(host);
	for (uint32_t i = 0; i < ps->nr_zones; i++)
		ps->zones[i].high = cpu_high(host, &ps->zones[i]);
}
