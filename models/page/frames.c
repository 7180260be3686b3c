/*
 * frames.c - page frames and who has the free ones, after mm/page_alloc.c of Linux 6.1 (rmqueue_pcplist,
 * rmqueue_bulk, free_unref_page_list).
 *
 * Every CPU keeps a list of free frames of each node and takes from, or gives back to, the node's own list
 * only whole batches, under the zone's lock. The lists are stacks, so the frame freed last is used next.
 * Frames that were never used are handed out in order, which is why a large host costs memory only for what
 * it uses.
 *
 * A node has one zone here. What happens when its free frames fall to the low watermark is the business of
 * models/reclaim.
 */
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"

#include <math.h>

#define PCP_BATCH_MOST 63u /* of every zone above 1 GiB */

static struct page_cpu_list *cpu_list(const struct host *host, const struct task *t, uint32_t node)
{
	return &host->pages->lists[(size_t)t->cpu->id * host->nr_nodes + node];
}

static frame_t pop(struct page *pages, frame_t *stack)
{
	frame_t frame = *stack;

	*stack = pages[frame].next;
	return frame;
}

static void push(struct page *pages, frame_t *stack, frame_t frame)
{
	pages[frame].next = *stack;
	*stack = frame;
}

static frame_t node_take(struct page_state *ps, uint32_t nid)
{
	struct page_node *node = &ps->nodes[nid];

	node->nr_free--;
	if (node->free)
		return pop(ps->pages, &node->free);
	ps->pages[node->fresh].node = (uint16_t)nid;
	return node->fresh++;
}

/* rmqueue_bulk(): a batch from the node to the running CPU's list; none if the node has none. */
static void refill(struct task *t, struct host *host, uint32_t nid)
{
	struct page_state *ps = host->pages;
	struct page_node *node = &ps->nodes[nid];

	spin_lock_irq(t, &node->lock);
	struct page_cpu_list *list = cpu_list(host, t, nid);
	uint32_t nr = node->nr_free < node->batch ? (uint32_t)node->nr_free : node->batch;
	frame_t batch[PCP_BATCH_MOST];

	for (uint32_t i = 0; i < nr; i++)
		batch[i] = node_take(ps, nid);
	while (nr--) {
		push(ps->pages, &list->free, batch[nr]);
		list->nr++;
		cpu_defer(t, host->costs->zone_page);
	}
	spin_unlock_irq(t, &node->lock);
}

static void give_back(struct task *t, struct host *host, uint32_t nid)
{
	struct page_state *ps = host->pages;
	struct page_node *node = &ps->nodes[nid];

	spin_lock_irq(t, &node->lock);
	struct page_cpu_list *list = cpu_list(host, t, nid);

	for (uint32_t i = 0; i < node->batch && list->free; i++) {
		push(ps->pages, &node->free, pop(ps->pages, &list->free));
		list->nr--;
		node->nr_free++;
		cpu_defer(t, host->costs->zone_page);
	}
	spin_unlock_irq(t, &node->lock);
}

/* From the running CPU's list of that node, which is filled if it is empty. */
static frame_t take(struct task *t, struct host *host, uint32_t nid)
{
	struct page_state *ps = host->pages;
	struct page_cpu_list *list = cpu_list(host, t, nid);

	if (!list->free && ps->nodes[nid].nr_free) {
		refill(t, host, nid);
		list = cpu_list(host, t, nid); /* the task may have been moved since */
	}
	if (!list->free)
		return NO_FRAME;
	list->nr--;
	return pop(ps->pages, &list->free);
}

/* get_page_from_freelist(); mark NULL: ALLOC_NO_WATERMARKS. */
static frame_t get_page(struct task *t, struct host *host, const enum watermark *mark)
{
	uint32_t local = t->cpu->node;
	frame_t frame = NO_FRAME;

	cpu_defer(t, host->costs->page_alloc);
	for (uint32_t i = 0; !frame && i < host->nr_nodes; i++) {
		uint32_t nid = (local + i) % host->nr_nodes;

		if (!mark || node_free(host, nid) > node_watermark(host, nid, *mark))
			frame = take(t, host, nid);
	}
	return frame;
}

frame_t frame_alloc_above(struct task *t, struct host *host, enum watermark mark)
{
	return get_page(t, host, &mark);
}

frame_t frame_alloc(struct task *t, struct host *host)
{
	if (task_reclaims(t))
		return get_page(t, host, NULL);
	frame_t frame = frame_alloc_above(t, host, WMARK_LOW);

	return frame ? frame : reclaim_alloc(t, host);
}

/* nr_pcp_high(): little while kswapd is at work, which can only count what is on the node's own list. */
static uint32_t cpu_list_most(const struct page_node *node)
{
	return node->reclaiming && node->high > 4 * node->batch ? 4 * node->batch : node->high;
}

void frame_free(struct task *t, struct host *host, frame_t frame)
{
	struct page_state *ps = host->pages;
	uint32_t nid = ps->pages[frame].node;
	struct page_cpu_list *list = cpu_list(host, t, nid);

	cpu_defer(t, host->costs->page_free);
	ps->pages[frame].flags = 0;
	push(ps->pages, &list->free, frame);
	if (++list->nr > cpu_list_most(&ps->nodes[nid]))
		give_back(t, host, nid);
}

void frames_drain(struct task *t, struct host *host)
{
	for (uint32_t nid = 0; nid < host->nr_nodes; nid++) {
		task_sync(t);
		while (cpu_list(host, t, nid)->free)
			give_back(t, host, nid);
	}
}

uint64_t frames_used(const struct host *host)
{
	uint64_t used = 0;

	for (uint32_t nid = 0; nid < host->nr_nodes; nid++) {
		const struct page_node *node = &host->pages->nodes[nid];

		used += node->end - node->first - node->nr_free;
		for (uint32_t cpu = 0; cpu < host->nr_cpus; cpu++)
			used -= host->pages->lists[(size_t)cpu * host->nr_nodes + nid].nr;
	}
	return used;
}

void page_charged(struct host *host, frame_t frame, const struct memcg *m, uint32_t object, uint32_t index,
		  uint32_t flags)
{
	struct page *page = page_of(host, frame);

	page->memcg = m->id;
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
static uint32_t cpu_high(const struct host *host, uint32_t batch)
{
	double kib = (double)(host->memory / 1024);
	double min_free = fmin(fmax(floor(sqrt(kib * 16)), 128), 262144); /* init_per_zone_wmark_min(), KiB */
	double low = min_free * 1.25 / (PAGE_SIZE / 1024);
	uint32_t high = (uint32_t)(low / host->nr_cpus); /* the machine's share of a CPU is the node's */

	return high > 4 * batch ? high : 4 * batch;
}

void frames_build(struct host *host)
{
	struct page_state *ps = host->pages;
	uint64_t per_node = host->memory / PAGE_SIZE / host->nr_nodes;
	struct lock_class *class = lock_class(host->sim, "&zone->lock");

	/* One more than there are: frame 0 stands for none. */
	ps->pages = arena_array(sim_arena(host->sim), per_node * host->nr_nodes + 1, sizeof *ps->pages);
	ps->nodes = sim_alloc(host->sim, host->nr_nodes * sizeof *ps->nodes);
	ps->lists = arena_array(sim_arena(host->sim), (size_t)host->nr_cpus * host->nr_nodes,
				sizeof *ps->lists);
	for (uint32_t i = 0; i < host->nr_nodes; i++) {
		struct page_node *node = &ps->nodes[i];

		spin_lock_init(&node->lock, class);
		node->first = node->fresh = (frame_t)(1 + i * per_node);
		node->end = (frame_t)(node->first + per_node);
		node->nr_free = per_node;
		node->batch = cpu_batch(per_node);
		node->high = cpu_high(host, node->batch);
	}
}
