/*
 * file_write.c - dirty pages of a file and their way to the disk, after generic_perform_write() of
 * mm/filemap.c, folio_account_dirtied() and write_cache_pages() of mm/page-writeback.c, Linux 6.1.
 *
 * A write of a whole page reads nothing first, leaves no mark of an access and, where it brings the page in,
 * makes no refault test. Which pages are dirty is a bit for each, as the XArray's mark is; a page that is
 * being written stays where it is until that is done. Nobody waits for that but file_sync(), and who writes
 * the page again (as for a device that needs stable pages): the flusher submits and goes on.
 */
#include <string.h>

#include "models/backing/device.h"
#include "models/page/page_impl.h"

#define WRITE_BATCH PAGE_BATCH_MOST /* pages under write at a time: of one bio here */

uint64_t file_dirty(const struct file_object *f)
{
	return f->nr_dirty;
}

static uint64_t *dirty_word(struct file_object *f, uint64_t index)
{
	return &f->dirty[index / 64];
}

static void set_dirty(struct task *t, struct file_object *f, uint64_t index, frame_t frame)
{
	struct host *host = f->object.host;
	struct page *page = page_of(host, frame);

	if (page->flags & PG_DIRTY)
		return;
	if (!f->dirty)
		f->dirty = arena_array(sim_arena(host->sim), f->object.nr_pages / 64 + 1, sizeof *f->dirty);
	page->flags = (uint16_t)((page->flags & ~PG_RECLAIM) | PG_DIRTY); /* folio_mark_dirty() */
	*dirty_word(f, index) |= (uint64_t)1 << index % 64;
	if (!f->nr_dirty++)
		f->dirtied = sim_now(host->sim);
	mod_lruvec_state(t, page_memcg(host, page), page->node, NR_FILE_DIRTY, 1);
}

/* ---- room on the disk ---- */

static uint64_t bit(uint64_t index)
{
	return (uint64_t)1 << index % 64;
}

void file_begin_empty(struct file_object *f)
{
	if (!f->blocks)
		f->blocks = arena_array(sim_arena(f->object.host->sim), f->object.nr_pages / 64 + 1,
					sizeof *f->blocks);
}

void file_give_room(struct file_object *f, uint64_t from)
{
	uint64_t nr = 0;

	for (uint64_t i = from; f->blocks && i < f->object.nr_pages; i++) {
		nr += !!(f->blocks[i / 64] & bit(i));
		f->blocks[i / 64] &= ~bit(i);
	}
	if (nr && f->disk)
		disk_give_room(f->disk, nr);
}

/*
 * ext4_da_reserve_space(), xfs_bmapi_reserve_delalloc(): where a page will lie is decided when it is written
 * out, that there is room for it when it is written to. Without any, what is dirty is written, since that
 * may free some of what was reserved in excess (nothing here), and the write fails.
 */
static bool reserve(struct task *t, struct file_object *f, uint64_t index)
{
	task_sync(t);
	if (!f->blocks || f->blocks[index / 64] & bit(index))
		return true;
	if (f->disk && !disk_take_room(f->disk)) {
		writeback_wake(t);
		return false;
	}
	f->blocks[index / 64] |= bit(index);
	return true;
}

enum file_result file_write(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
			    struct memcg **failed)
{
	struct host *host = f->object.host;
	frame_t frame;

	if (!reserve(t, f, index))
		return FILE_NOSPC;
	enum file_result result = file_get(t, m, f, index, FILE_FOR_WRITE, &frame, failed);

	if (result == FILE_NOMEM)
		return result;
	while (page_of(host, frame)->flags & PG_WRITEBACK) { /* FGP_STABLE */
		page_wait(t, host, frame, PG_WRITEBACK);
		if (file_get(t, m, f, index, FILE_FOR_WRITE, &frame, failed) == FILE_NOMEM)
			return FILE_NOMEM;
	}
	page_copy(t, host);
	set_dirty(t, f, index, frame);
	writeback_dirtied(t, f, m);
	return result;
}

/* ---- writing ---- */

/* The next dirty page from `from` on, in the step of the caller; NO_INDEX: none. */
static uint64_t next_dirty(const struct file_object *f, uint64_t from)
{
	for (uint64_t word = from / 64; word <= (f->object.nr_pages - 1) / 64; word++) {
		uint64_t bits = f->dirty[word] >> (word == from / 64 ? from % 64 : 0);

		if (bits)
			return (word == from / 64 ? from : word * 64) + (uint64_t)__builtin_ctzll(bits);
	}
	return NO_INDEX;
}

void file_cancel_dirty(struct task *t, struct file_object *f, uint64_t index, frame_t frame)
{
	struct page *page = page_of(f->object.host, frame);

	*dirty_word(f, index) &= ~((uint64_t)1 << index % 64);
	f->nr_dirty--;
	page->flags &= (uint16_t)~PG_DIRTY;
	mod_lruvec_state(t, page_memcg(f->object.host, page), page->node, NR_FILE_DIRTY, -1);
}

/* folio_clear_dirty_for_io(), folio_start_writeback() */
static void begin(struct task *t, struct file_object *f, uint64_t index, frame_t frame)
{
	struct host *host = f->object.host;
	struct page *page = page_of(host, frame);
	struct memcg *m = page_memcg(host, page);

	*dirty_word(f, index) &= ~((uint64_t)1 << index % 64);
	f->nr_dirty--;
	page_begin_writeback(t, host, frame); /* first: without either flag it could be evicted meanwhile */
	page->flags &= (uint16_t)~PG_DIRTY;
	if (page->flags & PG_MAPPED)
		cpu_defer(t, host->costs->rmap_remove); /* write-protected: folio_mkclean() */
	mod_lruvec_state(t, m, page->node, NR_FILE_DIRTY, -1);
}

struct file_io {                       /* a bio */
	struct device_request request; /* first */
	struct host *host;
	frame_t frames[WRITE_BATCH];
};

static void end(struct task *t, struct host *host, const frame_t *frames, uint32_t nr, uint32_t cpu)
{
	while (nr) {
		task_sync(t);
		page_end_writeback(t, host, frames[--nr], cpu);
	}
}

static void end_io(struct task *t, struct device_request *request)
{
	struct file_io *io = (struct file_io *)(void *)request;

	end(t, io->host, io->frames, request->nr, request->cpu);
	sim_free(io->host->sim, io, sizeof *io);
}

static void write(struct task *t, struct file_object *f, const frame_t *frames, uint32_t nr)
{
	struct host *host = f->object.host;

	cpu_work(t, host->costs->read_device);
	task_sync(t);
	if (!f->disk) {
		end(t, host, frames, nr, t->cpu->id);
		return;
	}
	struct file_io *io = sim_alloc(host->sim, sizeof *io);

	*io = (struct file_io){ .request = { .nr = nr, .end = end_io }, .host = host };
	memcpy(io->frames, frames, nr * sizeof *frames);
	disk_submit(t, f->disk, &io->request);
}

uint64_t file_write_out(struct task *t, struct file_object *f, uint64_t *from, uint64_t most)
{
	frame_t frames[WRITE_BATCH];
	uint64_t written = 0;

	while (written < most && f->nr_dirty) {
		uint32_t nr = 0;

		task_sync(t);
		while (nr < WRITE_BATCH && written + nr < most && *from != NO_INDEX) {
			*from = next_dirty(f, *from);
			if (*from == NO_INDEX)
				break;
			frames[nr] = slot_frame(f->object.slots[*from]);
			begin(t, f, *from, frames[nr++]);
			task_sync(t);
			if (++*from == f->object.nr_pages)
				*from = NO_INDEX;
		}
		if (!nr)
			break;
		write(t, f, frames, nr);
		written += nr;
	}
	return written;
}

void file_sync(struct task *t, struct file_object *f)
{
	uint64_t from = 0;

	cpu_work(t, f->object.host->costs->syscall);
	task_sync(t);
	if (f->dirty)
		file_write_out(t, f, &from, UINT64_MAX);
	for (uint64_t i = 0; f->dirty && i < f->object.nr_pages; i++) {
		frame_t frame = slot_frame(f->object.slots[i]);

		/* filemap_fdatawait(): what the flusher has under way. */
		while (frame && page_of(f->object.host, frame)->flags & PG_WRITEBACK) {
			page_wait(t, f->object.host, frame, PG_WRITEBACK);
			task_sync(t);
			frame = slot_frame(f->object.slots[i]);
		}
	}
}
