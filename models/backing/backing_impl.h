/*
 * backing_impl.h - inside of the backing model: devices, swap, the flusher.
 */
#ifndef MODELS_BACKING_BACKING_IMPL_H
#define MODELS_BACKING_BACKING_IMPL_H

#include "models/backing/device.h"
#include "models/page/page_impl.h"
#include "sim/module.h"

struct flusher; /* writeback.c */

/* Where shadows of pages in swap are kept: a value of the axis anon_shadow. */
struct anon_shadow_ops {
	void (*init)(struct host *host, uint32_t nr_slots);
	bool (*add)(struct task *t, swap_slot_t slot, frame_t frame);
	/* With target NULL no shadow is left. */
	void (*del)(struct task *t, swap_slot_t slot, frame_t frame, struct memcg *target);
	shadow_t (*get)(const struct host *host, swap_slot_t slot);
	void (*clear)(struct task *t, struct host *host, swap_slot_t slot);
	uint64_t (*kept)(const struct host *host); /* shadows that are in no tree */
};

#define SWAP_BATCH 64u /* SWAP_SLOTS_CACHE_SIZE */

struct swap_cpu { /* slots that wait on a CPU to get free; swap_slots.c */
	uint32_t nr;
	swap_slot_t slots[SWAP_BATCH];
};

struct swap_state {
	const struct device *device; /* NULL: no swap */
	uint32_t nr_slots;           /* slots are 1 .. nr_slots */
	uint32_t used;
	struct swap_clusters *clusters; /* swap_clusters.c */
	uint32_t *owners;               /* by slot: memcg id and one more; 0: free */
	struct swap_cpu *waiting;       /* by CPU */
	bool by_cpu;                    /* slots wait there */
	frame_t *cached;                /* by slot: swap_cached() */
	swap_slot_t *slots;             /* by frame: swap_slot_of(); NULL on a synchronous device */
	struct swap_io *spare;          /* swap_io.c */
	const struct anon_shadow_ops *shadows;
	void *shadow_state;
	uint64_t out, in, full; /* pages written, read, refused */
};

struct backing_state {
	struct device *devices;
	uint32_t nr_devices;
	struct swap_state swap;
	struct flusher *flusher;
};

static inline struct swap_state *swap_of(const struct host *host)
{
	return &host->backing->swap;
}

/* ---- swap_slots.c; in a step ---- */

/* check_cache_active(): are slots to wait, with what is free now? */
void swap_slots_decide(struct task *t);
/* free_swap_slot(): nobody needs it any more; it gets free now or later. */
void swap_slot_put(struct task *t, swap_slot_t slot);
/* swap_entry_free(), in swap.c */
void swap_slot_free_now(struct task *t, swap_slot_t slot);

/* ---- swap_clusters.c ---- */

/* A free slot for the CPU; there is one. It is free for others until its owner is written down. */
swap_slot_t swap_slot_take(struct swap_state *swap, uint32_t cpu);
void swap_slot_give(struct swap_state *swap, swap_slot_t slot);
void swap_clusters_build(struct host *host);

void swap_build(struct host *host);
void swap_sample(struct host *host, sim_time_t now);
void swap_finish(struct host *host);
void writeback_build(struct host *host);
void writeback_sample(struct host *host, sim_time_t now);
void writeback_finish(struct host *host);

#endif
