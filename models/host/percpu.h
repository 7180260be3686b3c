/*
 * percpu.h - per-CPU memory as /proc/meminfo counts it: pages that are populated, of every possible CPU.
 *
 * An allocation takes its bytes on every unit, so on every possible CPU, at the same place. Percpu is not
 * the sum of allocations: a page of a unit is populated when something is first put into it, on all units at
 * once, some empty ones are kept ready, and what is freed lowers it only where whole pages become empty.
 * Kernel: mm/percpu.c, Linux 5.14 and later (pcpu_balance_populated(), pcpu_reclaim_populated()).
 */
#ifndef MODELS_HOST_PERCPU_H
#define MODELS_HOST_PERCPU_H

#include <stdbool.h>
#include <stdint.h>

struct host;
struct task;

/* Where an allocation is: in one page, or with its rest in the next. */
struct percpu_block {
	uint32_t page;
	uint16_t first, rest; /* bytes in each; first 0: there is none */
};

/*
 * pcpu_alloc(): `bytes` on every possible CPU, at most 8 KiB; false: the machine has no memory, nor can any
 * be made free. In a step, at the start and at the end.
 */
bool percpu_alloc(struct task *t, struct host *host, uint32_t bytes, struct percpu_block *block);
void percpu_free(struct host *host, struct percpu_block *block);
/* meminfo.Percpu, and the live sum: bytes on all possible CPUs. */
uint64_t percpu_populated(const struct host *host);
uint64_t percpu_live(const struct host *host);
/*
 * With so many bytes, of all CPUs, in use by the rest of the kernel; 0: nothing is said of it, and nothing is
 * populated. percpu_start(), when there are frames: what is populated takes some.
 */
void percpu_build(struct host *host, uint64_t boot_bytes);
void percpu_start(struct host *host);

#endif
