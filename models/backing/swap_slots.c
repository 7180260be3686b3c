/*
 * swap_slots.c - slots of swap that nobody needs wait on the CPU that let them go until there are 64, after
 * free_swap_slot() of mm/swap_slots.c as it was up to Linux 6.13.
 *
 * What waits is still in use: it keeps its room on the device, its shadow and its charge, so that
 * memory.swap.current is up to 64 slots a CPU above what is out. (A kernel, 6.1, anonymous memory of 1.5
 * times the limit touched in turn: 2,123 where 2,077 pages are out.) Near the end of swap the lists are given
 * up, and taken up again when there is room. From 6.14 on there are none.
 *
 * The other half of that file, slots that a CPU has taken from its cluster ahead, changes nothing of who has
 * which slot.
 */
#include "models/backing/backing_impl.h"

#define GIVEN_UP_BELOW 128u /* free slots a CPU: THRESHOLD_DEACTIVATE_SWAP_SLOTS_CACHE */
#define TAKEN_UP_ABOVE 320u /* THRESHOLD_ACTIVATE_SWAP_SLOTS_CACHE */

/* swapcache_free_entries(); others may be put aside meanwhile, so the slots are first taken over. */
static void free_waiting(struct task *t, struct swap_cpu *cpu)
{
	swap_slot_t slots[SWAP_BATCH];
	uint32_t nr = cpu->nr;

	for (uint32_t i = 0; i < nr; i++)
		slots[i] = cpu->slots[i];
	cpu->nr = 0;
	for (uint32_t i = 0; i < nr; i++)
		swap_slot_free_now(t, slots[i]);
}

void swap_slots_decide(struct task *t)
{
	const struct host *host = host_of(t);
	struct swap_state *swap = swap_of(host);
	uint64_t room = swap_free_slots(host);

	if (!swap->device || host->kernel_version >= 614)
		return;
	if (swap->by_cpu && room < (uint64_t)GIVEN_UP_BELOW * host->nr_cpus) {
		swap->by_cpu = false;
		for (uint32_t i = 0; i < host->nr_cpus; i++)
			free_waiting(t, &swap->waiting[i]);
	} else if (room > (uint64_t)TAKEN_UP_ABOVE * host->nr_cpus) {
		swap->by_cpu = true;
	}
}

void swap_slot_put(struct task *t, swap_slot_t slot)
{
	struct swap_state *swap = swap_of(host_of(t));

	if (swap->by_cpu && swap->waiting[t->cpu->id].nr == SWAP_BATCH)
		free_waiting(t, &swap->waiting[t->cpu->id]);

	struct swap_cpu *cpu = &swap->waiting[t->cpu->id]; /* it may run elsewhere by now */

	if (swap->by_cpu && cpu->nr < SWAP_BATCH)
		cpu->slots[cpu->nr++] = slot;
	else
		swap_slot_free_now(t, slot);
}
