/*
 * swap_io.c - pages on their way to a swap device that takes its time, after swap_writepage(),
 * __swap_writepage() and end_swap_bio_write() of mm/page_io.c and the plug of block/blk-core.c, Linux 6.1.
 *
 * Who reclaims starts the write and goes on. Pages that follow each other in neighbouring slots, as slots of
 * a cluster do, become one request: the block layer merges their bios while the plug of shrink_lruvec()
 * holds them back. Here a plug is one request that grows up to SWAP_CLUSTER_MAX pages, and is submitted by
 * the first page that does not follow, or at the end of the list that is being shrunk.
 */
#include "models/backing/backing_impl.h"
#include "models/page/swap_cache.h"
#include "models/reclaim/reclaim.h"

struct swap_io {
	struct device_request request; /* first */
	struct host *host;
	swap_slot_t first;
	frame_t frames[SWAP_CLUSTER_MAX];
};

/* end_swap_bio_write() */
static void end(struct task *t, struct device_request *request)
{
	struct swap_io *io = (struct swap_io *)(void *)request;
	struct swap_state *swap = swap_of(io->host);

	for (uint32_t i = 0; i < request->nr; i++) {
		frame_t frame = io->frames[i];

		task_sync(t);
		page_of(io->host, frame)->batched++; /* until all of it is done, as folio_end_writeback() */
		page_end_writeback(t, io->host, frame, request->cpu);
		swap_cache_written(t, io->host, frame);
		task_sync(t);
		if (page_put(page_of(io->host, frame)))
			pages_release(t, io->host, &frame, 1);
	}
	io->request.next = swap->spare ? &swap->spare->request : NULL;
	swap->spare = io;
}

static struct swap_io *new_io(struct host *host, swap_slot_t slot)
{
	struct swap_state *swap = swap_of(host);
	struct swap_io *io = swap->spare;

	if (io)
		swap->spare = (struct swap_io *)(void *)io->request.next;
	else
		io = sim_alloc(host->sim, sizeof *io);
	*io = (struct swap_io){ .request.end = end, .host = host, .first = slot };
	return io;
}

void swap_unplug(struct task *t, struct swap_plug *plug)
{
	struct swap_io *io = plug->io;

	if (!io)
		return;
	const struct device *device = swap_of(io->host)->device;

	plug->io = NULL;
	device->ops->submit(t, device->state, &io->request);
}

void swap_write_later(struct task *t, struct swap_plug *plug, swap_slot_t slot, frame_t frame)
{
	struct host *host = host_of(t);

	shared_step(t);
	swap_of(host)->out++;
	page_of(host, frame)->flags |= PG_RECLAIM;
	page_begin_writeback(t, host, frame);
	task_sync(t);
	page_done(t, host, frame, PG_LOCKED);
	if (plug->io &&
	    (slot != plug->io->first + plug->io->request.nr || plug->io->request.nr == SWAP_CLUSTER_MAX))
		swap_unplug(t, plug);
	if (!plug->io)
		plug->io = new_io(host, slot);
	plug->io->frames[plug->io->request.nr++] = frame;
}
