/*
 * device.h - what a kind of device is: a module of kind MODULE_DEVICE, whose ops are a struct device_ops.
 *
 * Devices are listed in a scenario with their own options beside their name:
 *
 *	devices:
 *	  - { name: nvme0, device: disk, read: { lognormal: [85us, 0.2] }, depth: 64 }
 *	  - { name: zram0, device: zram, algorithm: lz4, size: 16GiB }
 *	swap: { device: zram0 }
 */
#ifndef MODELS_BACKING_DEVICE_H
#define MODELS_BACKING_DEVICE_H

#include "models/backing/backing.h"

/*
 * A write that nobody waits for. Its owner keeps it until `end` is called, by a task of the device and in a
 * step, when it is done.
 */
struct device_request {
	struct device_request *next;
	sim_time_t issued, done;
	uint32_t nr;  /* pages */
	uint32_t cpu; /* whose interrupt tells of the end: that of the submitter */
	void (*end)(struct task *t, struct device_request *request);
};

struct device_ops {
	/* The device at time 0; `name` lives as long as the scenario. Never NULL. */
	void *(*create)(struct host *host, const char *name, const void *options);
	uint64_t (*pages)(const void *options); /* how much swap fits on it */
	bool synchronous;                       /* SWP_SYNCHRONOUS_IO */
	/* Of a swap slot, by the running task; write, of a synchronous one, may find no room. */
	bool (*write)(struct task *t, void *device, swap_slot_t slot);
	void (*read)(struct task *t, void *device, swap_slot_t slot);
	/*
	 * Of one that is not: begins to write request->nr pages that lie together. Sleeps if its queue is
	 * full.
	 */
	void (*submit)(struct task *t, void *device, struct device_request *request);
	/* May be NULL. */
	void (*free)(struct task *t, void *device, swap_slot_t slot);
	void (*sample)(void *device, sim_time_t now); /* NULL: nothing to record */
	void (*finish)(void *device);
};

struct device {
	const char *name;
	const struct device_ops *ops;
	const void *options;
	void *state;
};

#endif
