/*
 * watermarks.c - how many frames a node keeps free: init_per_zone_wmark_min(), __setup_per_zone_wmarks() and
 * setup_per_zone_lowmem_reserve() of mm/page_alloc.c, Linux 6.1.
 *
 * Below `low` kswapd is woken, it works until `high` is passed, and below `min` whoever allocates has to
 * reclaim himself. A node has one zone here, but the first node of a PC has a small one more (16 MiB for old
 * DMA devices), of which a part is reserved from ordinary allocations: 1/256 of what they could use
 * otherwise. An allocation falls back to that zone before kswapd is woken, so in sum that reserve lies on top
 * of all marks.
 */
#include <math.h>

#include "models/page/page_impl.h"

#define DMA_PAGES          3840u /* 15 MiB, as managed */
#define LOWMEM_RESERVE     256u  /* sysctl_lowmem_reserve_ratio[ZONE_DMA] */
#define SCALE_FACTOR       10u   /* watermark_scale_factor, of 10,000 */
#define MIN_FREE_LEAST_KIB 128.0
#define MIN_FREE_MOST_KIB  262144.0

void watermarks_build(struct host *host)
{
	double kib = (double)(host->memory / 1024);
	double min_kib = fmin(fmax(floor(sqrt(kib * 16)), MIN_FREE_LEAST_KIB), MIN_FREE_MOST_KIB);

	for (uint32_t i = 0; i < host->nr_nodes; i++) {
		struct page_node *node = &host->pages->nodes[i];
		uint64_t pages = node->end - node->first;
		uint64_t min = (uint64_t)(min_kib / (PAGE_SIZE / 1024)) / host->nr_nodes;
		uint64_t step = pages * SCALE_FACTOR / 10000, reserve = i ? 0 : pages / LOWMEM_RESERVE;

		if (step < min / 4)
			step = min / 4;
		if (reserve > DMA_PAGES)
			reserve = DMA_PAGES;
		for (int mark = 0; mark < NR_WMARKS; mark++)
			node->watermark[mark] = min + (uint64_t)mark * step + reserve;
	}
}
