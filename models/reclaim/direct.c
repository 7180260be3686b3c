/*
 * direct.c - an allocation that finds no node above its low mark: __alloc_pages_slowpath() of mm/page_alloc.c
 * and try_to_free_pages() of mm/vmscan.c, Linux 6.1, for single pages that may wait.
 *
 * It wakes the kswapd of every node and takes what is above the min mark. If nothing is, it reclaims 32
 * pages for the whole machine and, if there still is none, gives back what its CPU has kept free, as often
 * as that makes progress, and 16 times more without; then the OOM killer is asked. Pages of users and of the
 * kernel itself come here alike.
 */
#include "models/pressure/pressure.h"
#include "models/reclaim/reclaim_impl.h"

uint64_t reclaim_direct(struct task *t)
{
	struct scan_control sc = {
		.target = host_of(t)->cgroups->root,
		.global = true,
		.may_swap = true,
		.may_unmap = true,
		.may_writepage = true,
		.nr_to_reclaim = SWAP_CLUSTER_MAX,
	};

	bool outer = psi_memstall_enter(t);
	uint64_t reclaimed = try_to_free_pages(t, &sc);

	task_sync(t);
	psi_memstall_leave(t, outer);
	return reclaimed;
}

static void wake_all(struct task *t, const struct host *host)
{
	for (uint32_t node = 0; node < host->nr_nodes; node++)
		kswapd_wake(t, node);
}

frame_t reclaim_alloc(struct task *t, struct host *host, uint32_t node, get_frame_fn *get)
{
	uint32_t fruitless = 0;
	frame_t frame;

	for (;;) {
		wake_all(t, host);
		frame = get(t, host, node, WMARK_MIN);
		if (frame || t->preempt_count || t->irq_count || task_killed(t))
			return frame;
		fruitless = reclaim_direct(t) ? 0 : fruitless + 1;
		if (!fruitless && (frame = get(t, host, node, WMARK_MIN)))
			return frame;
		frames_drain(t, host);
		if (fruitless && fruitless <= MAX_RECLAIM_RETRIES)
			throttle_before_retry(t, host, node);
		task_sync(t);
		if (fruitless <= MAX_RECLAIM_RETRIES)
			continue;
		if (!memcg_out_of_memory(t, host->cgroups->root, 1))
			return NO_FRAME;
		task_sync(t);
		fruitless = 0;
	}
}
