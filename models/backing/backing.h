/*
 * backing.h - where pages come from and go to: disks, swap, zram, and who writes dirty pages.
 *
 * Devices are described in the scenario's `devices:` list; `swap:` names the one that is swap, if any. Times
 * come from distributions with a queue depth. zram completes synchronously,
 * compresses with an algorithm's cost and ratio, and takes frames of the machine for what it stores. Kernel:
 * mm/swapfile.c, mm/swap_state.c, drivers/block/zram, fs/fs-writeback.c, mm/page-writeback.c.
 */
#ifndef MODELS_BACKING_BACKING_H
#define MODELS_BACKING_BACKING_H

#include "models/page/page.h"
#include "models/workingset/workingset.h"

/* ---- disks; disk.c ---- */

struct disk;
struct device_request;
/*
 * Sleeps until a read (write) of nr pages is done: queueing for one of the device's slots, then its latency.
 */
void disk_read(struct task *t, struct disk *d, uint32_t nr);
void disk_write(struct task *t, struct disk *d, uint32_t nr);
/* A page more of files on it: false: there is no room. And nr pages fewer. */
bool disk_take_room(struct disk *d);
void disk_give_room(struct disk *d, uint64_t nr);
/* Begins a write that nobody waits for: device.h. */
void disk_submit(struct task *t, struct disk *d, struct device_request *request);
/* The disk of that name of the scenario; NULL: a device without latency (a RAM disk). */
struct disk *disk_find(struct host *host, const char *name);

/* ---- swap; swap.c. Slots: 0 is none. ---- */

typedef uint32_t swap_slot_t;
#define NO_SWAP 0u
/* Takes a slot for a page of m, charged to its memory.swap; NO_SWAP: none, or not allowed. In a step. */
swap_slot_t swap_alloc(struct task *t, struct memcg *m);
/* Gives it back, with the shadow and what the device stores for it. In a step. */
void swap_free(struct task *t, swap_slot_t slot);
/* To a synchronous device; false: it is full (zram without memory). */
bool swap_write(struct task *t, swap_slot_t slot, frame_t frame);
/*
 * To any other: the page, locked and in the swap cache, is under writeback from then on, and unlocked. It is
 * put together with those before it in neighbouring slots; swap_unplug() submits what is still to be. Both
 * sleep while the device's queue is full.
 */
struct swap_plug {
	struct swap_io *io; /* NULL: nothing */
};
void swap_write_later(struct task *t, struct swap_plug *plug, swap_slot_t slot, frame_t frame);
void swap_unplug(struct task *t, struct swap_plug *plug);
/*
 * swap_readpage(): back into a frame; sleeps on a disk, and who reads a page of the workingset, up to
 * 5.18 any page, is stalled for memory meanwhile. Ends in a step.
 */
void swap_read(struct task *t, swap_slot_t slot, frame_t frame);
/*
 * The page that has left its object for the slot and is still there, in the swap cache: NO_FRAME: none. On a
 * synchronous device that is a page of tmpfs while it is written. A step.
 */
frame_t swap_cached(const struct host *host, swap_slot_t slot);
void swap_set_cached(struct host *host, swap_slot_t slot, frame_t frame);
/* The slot of a page of which that was said last. */
swap_slot_t swap_slot_of(const struct host *host, frame_t frame);
struct memcg *swap_owner(const struct host *host, swap_slot_t slot);
bool swap_present(const struct host *host);        /* is there a swap device */
bool swap_is_synchronous(const struct host *host); /* zram: a page that is written is gone */
uint64_t swap_free_slots(const struct host *host);
uint64_t swap_used_slots(const struct host *host);
/* mem_cgroup_get_nr_swap_pages(): free slots that m may still take. */
uint64_t swap_room(const struct host *host, const struct memcg *m);

/* ---- the swap cache and the shadows in it; axis anon_shadow ---- */

/* The page stands under its slot while it is written. false: there was no node for it. */
bool swap_cache_add(struct task *t, swap_slot_t slot, frame_t frame);
/* It stands there no more; with a target, its shadow does, reclaimed for that memcg. */
void swap_cache_del(struct task *t, swap_slot_t slot, frame_t frame, struct memcg *target);
shadow_t swap_shadow(const struct host *host, swap_slot_t slot); /* NO_SHADOW: none (any more) */

uint64_t swap_table_shadows(const struct host *host); /* those that are in no tree */

/* ---- the flusher; writeback.c ---- */

/* Old dirty pages are looked for; else whatever is dirtied is at once looked at. */
bool writeback_is_periodic(const struct host *host);

/* wakeup_flusher_threads(): reclaim met dirty pages. In a step. */
void writeback_wake(struct task *t);
/* A page of f has just become dirty by m's doing; may sleep while too many are. In a step, which ends. */
void writeback_dirtied(struct task *t, struct file_object *f, struct memcg *m);
/* f has dirty pages: the flusher has to come by. */
void writeback_list(struct file_object *f);

void backing_check(const struct scenario *s, struct complaints *c);
/* Complains of a key that names a disk (NULL: none) where there is none of that name. */
void disk_check(const struct scenario *s, const char *name, const void *bound, const char *key,
		struct complaints *c);
void backing_build(struct host *host);
void backing_sample(struct host *host, sim_time_t now);
void backing_finish(struct host *host);

#endif
