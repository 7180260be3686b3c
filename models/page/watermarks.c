/*
 * watermarks.c - how many frames a zone keeps free: init_per_zone_wmark_min(), __setup_per_zone_wmarks() and
 * setup_per_zone_lowmem_reserve() of mm/page_alloc.c, Linux 6.1.
 *
 * kswapd is woken when no zone is above its `low` mark, works until *some* zone of its node is above `high`
 * (pgdat_balanced()), and whoever finds none above `min` has to reclaim himself. A node has one zone here,
 * but the first node of a PC has a small one more for old DMA devices. Ordinary allocations come to that one
 * last and find a reserve on top of its marks, 1/256 of what the other zone manages. As it needs only a few
 * frames more to get from `low` to `high`, it often is the one that ends a run of kswapd.
 *
 * A guest of 256 MiB: DMA 33, 41, 49 and 187 in reserve, the other 420, 525, 630. kswapd is woken with some
 * 750 free frames in all, and direct reclaim begins below 640.
 */
#include <math.h>

#include "models/page/page_impl.h"

#define LOWMEM_RESERVE     256u /* sysctl_lowmem_reserve_ratio[ZONE_DMA] */
#define SCALE_FACTOR       10u  /* watermark_scale_factor, of 10,000 */
#define MIN_FREE_LEAST_KIB 128.0
#define MIN_FREE_MOST_KIB  262144.0

uint64_t node_free(const struct host *host, uint32_t node)
{
	uint64_t nr = 0;

	for (const struct page_zone *z = node_zone(host, node); z; z = node_zone_next(host, z))
		nr += z->nr_free;
	return nr;
}

uint64_t node_watermark(const struct host *host, uint32_t node, enum watermark mark)
{
	uint64_t nr = 0;

	for (const struct page_zone *z = node_zone(host, node); z; z = node_zone_next(host, z))
		nr += z->watermark[mark];
	return nr;
}

bool node_above(const struct host *host, uint32_t node, enum watermark mark)
{
	for (const struct page_zone *z = node_zone(host, node); z; z = node_zone_next(host, z))
		if (zone_above(z, mark))
			return true;
	return false;
}

bool node_all_above(const struct host *host, uint32_t node, enum watermark mark, uint64_t more)
{
	for (const struct page_zone *z = node_zone(host, node); z; z = node_zone_next(host, z))
		if (z->nr_free <= z->watermark[mark] + z->reserve + more)
			return false;
	return true;
}

void watermarks_build(struct host *host)
{
	struct page_state *ps = host->pages;
	double kib = (double)(host->memory / 1024);
	double min_kib = fmin(fmax(floor(sqrt(kib * 16)), MIN_FREE_LEAST_KIB), MIN_FREE_MOST_KIB);
	uint64_t min_pages = (uint64_t)min_kib / (PAGE_SIZE / 1024), managed = host->memory / PAGE_SIZE;

	for (uint32_t i = 0; i < ps->nr_zones; i++) {
		struct page_zone *zone = &ps->zones[i];
		uint64_t pages = zone->end - zone->first;
		uint64_t min = min_pages * pages / managed, step = pages * SCALE_FACTOR / 10000;

		if (step < min / 4)
			step = min / 4;
		for (int mark = 0; mark < NR_WMARKS; mark++)
			zone->watermark[mark] = min + (uint64_t)mark * step;
	}
	if (ps->nr_zones > host->nr_nodes)
		ps->zones[host->nr_nodes].reserve = (ps->zones[0].end - ps->zones[0].first) / LOWMEM_RESERVE;
}
