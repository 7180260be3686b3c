/*
 * backing.h - where pages come from and go to: disks, swap, zram.
 *
 * Devices are described in the scenario's `devices:` list; a host has at most one swap device. Times come from
 * distributions with a queue depth; counts do not depend on them. zram completes synchronously, compresses with
 * an algorithm's cost and ratio, and takes frames of the machine for what it stores. Kernel: mm/swapfile.c,
 * mm/swap_state.c, drivers/block/zram.
 */
#ifndef MODELS_BACKING_BACKING_H
#define MODELS_BACKING_BACKING_H

#include "models/page/page.h"

struct disk;
/* Sleeps until a read (write) of nr pages is done: queueing for one of the device's slots, then its latency. */
void disk_read(struct task *t, struct disk *d, uint32_t nr);
void disk_write(struct task *t, struct disk *d, uint32_t nr);
/* The disk of that name of the scenario; NULL: a device without latency (a RAM disk). */
struct disk *disk_find(struct host *host, const char *name);

/* Swap slots: 0 is none. */
typedef uint32_t swap_slot_t;
#define NO_SWAP 0u
/* Takes a slot for a page of m, charged to its memory.swap; NO_SWAP: none, or not allowed. In a step. */
swap_slot_t swap_alloc(struct task *t, struct memcg *m);
void swap_free(struct task *t, swap_slot_t slot);
/* Writes the page out; false: the device is full (zram without memory). Sleeps on a disk. */
bool swap_write(struct task *t, swap_slot_t slot, frame_t frame);
/* Reads it back into a frame; sleeps on a disk. */
void swap_read(struct task *t, swap_slot_t slot, frame_t frame);
struct memcg *swap_owner(const struct host *host, swap_slot_t slot);
bool swap_present(const struct host *host);          /* is there a swap device */
bool swap_is_synchronous(const struct host *host);   /* zram: no swap cache on the way in */
uint64_t swap_free_slots(const struct host *host);

void backing_build(struct host *host);
void backing_finish(struct host *host);

#endif
