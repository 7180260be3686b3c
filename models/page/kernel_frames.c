/*
 * kernel_frames.c - frames that the kernel has for itself, slabs, pages of per-CPU memory and page tables:
 * alloc_pages_node() for them, Linux 6.1.
 *
 * They come from the node that is asked for, or the next that is above its mark, straight from the zones and
 * in no time: what an object costs is in the costs of whoever makes one (models/host/costs.h). When no node
 * is above its low mark they are had as any page is (reclaim_alloc()): kswapd is woken, who may sleep
 * reclaims, and the OOM killer is called before an allocation fails.
 *
 * Which frame belongs to which slab is of no interest: a zone keeps those that the kernel has on a stack.
 * What is freed on a node comes from that node's, and if a shortage had put it elsewhere, from another's.
 */
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"

static void zone_give_kernel(struct page_state *ps, struct page_zone *zone, uint32_t nid)
{
	frame_push(ps->pages, &zone->kernel, zone_take(ps, zone, nid));
	zone->nr_kernel++;
	ps->nr_kernel++;
}

/* mark NULL: whatever is free. Returns the frame, which the kernel has by then. */
static frame_t get_from(struct host *host, uint32_t node, const enum watermark *mark)
{
	struct page_state *ps = host->pages;

	for (uint32_t i = 0; i < host->nr_nodes; i++) {
		uint32_t nid = (node + i) % host->nr_nodes;

		for (struct page_zone *z = node_zone(host, nid); z; z = node_zone_next(host, z)) {
			if (mark ? !zone_above(z, *mark) : !z->nr_free)
				continue;
			zone_give_kernel(ps, z, nid);
			return z->kernel;
		}
	}
	return NO_FRAME;
}

static frame_t get_above(struct task *t, struct host *host, uint32_t node, enum watermark mark)
{
	(void)t;
	return get_from(host, node, &mark);
}

static bool get_one(struct task *t, struct host *host, uint32_t node)
{
	if (task_reclaims(t))
		return get_from(host, node, NULL);
	return get_above(t, host, node, WMARK_LOW) || reclaim_alloc(t, host, node, get_above);
}

bool kernel_frames_get(struct task *t, struct host *host, uint32_t node, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (!get_one(t, host, node)) {
			kernel_frames_put(host, node, i);
			return false;
		}
	return true;
}

bool kernel_frames_try(struct host *host, uint32_t node, uint32_t nr)
{
	const enum watermark mark = WMARK_MIN;

	for (uint32_t i = 0; i < nr; i++)
		if (!get_from(host, node, &mark)) {
			kernel_frames_put(host, node, i);
			return false;
		}
	return true;
}

void kernel_frames_boot(struct host *host, uint32_t node, uint64_t nr)
{
	while (nr-- && get_from(host, node, NULL))
		;
}

static struct page_zone *zone_of_kernel(const struct host *host, uint32_t node)
{
	for (uint32_t i = 0; i < host->nr_nodes; i++) {
		struct page_zone *z = node_zone(host, (node + i) % host->nr_nodes);

		while (z && !z->nr_kernel)
			z = node_zone_next(host, z);
		if (z)
			return z;
	}
	return NULL;
}

void kernel_frames_put(struct host *host, uint32_t node, uint64_t nr)
{
	struct page_state *ps = host->pages;
	struct page_zone *zone;

	for (; nr && (zone = zone_of_kernel(host, node)); nr--) {
		frame_push(ps->pages, &zone->free, frame_pop(ps->pages, &zone->kernel));
		zone->nr_kernel--;
		zone->nr_free++;
		ps->nr_kernel--;
	}
}
