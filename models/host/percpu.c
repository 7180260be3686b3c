/*
 * percpu.c - chunks of per-CPU memory and their pages. See percpu.h.
 *
 * A chunk has a unit for each possible CPU; all units are alike, so one is kept here, as the bytes in use in
 * each of its pages. Allocations go to the lowest page with room, which is what the kernel's hints come to
 * as long as sizes are alike. Where exactly in a page they lie is left out: what is free in it counts as one
 * piece, and may be continued in the page behind.
 *
 * Populated and empty pages: when fewer than two are left, as many are populated as make it four
 * (PCPU_EMPTY_POP_PAGES_LOW, _HIGH). Since 5.14 (f183324133ea) a chunk of whose pages a quarter are populated
 * and empty gives them back as long as four remain elsewhere; the first chunk never does. The kernel does
 * both in a work item soon after, here it is done at once. Before 5.14 only whole free chunks go: left out.
 *
 * A page is populated on all possible CPUs at once, from each one's node (pcpu_alloc_pages(), GFP_KERNEL):
 * for what somebody needs now memory is reclaimed, and in the end a process killed. Pages kept ready do
 * without that (__GFP_NORETRY, for which the work item would try once). pcpu_alloc_mutex is left out: while
 * somebody waits for frames others may allocate and free, so he looks again.
 */
#include "models/host/percpu.h"

#include <assert.h>
#include <string.h>

#include "models/page/page_impl.h"

#define EMPTY_LOW  2u
#define EMPTY_HIGH 4u

struct percpu_page {
	uint16_t used;
	bool populated;
};

struct percpu_state {
	struct percpu_page *pages; /* of all chunks, one after another */
	uint32_t nr, capacity;
	uint32_t unit_pages; /* of a chunk, for each CPU */
	uint32_t units;
	uint32_t *units_on;        /* by node */
	uint32_t populated, empty; /* empty: and populated */
	uint32_t hint;             /* below it all pages are full */
	bool depopulates;          /* gives back pages of chunks that are in use */
	uint64_t live;             /* bytes of a unit */
};

/*
 * pcpu_embed_first_chunk() on x86-64: a chunk comes of 2 MiB for each node's CPUs, cut into as many units as
 * the static part, some 200 KiB, leaves room for.
 */
static uint32_t unit_pages(uint32_t cpus)
{
	uint32_t units = 1;

	while (units < 8 && units < cpus)
		units *= 2;
	return 512 / units;
}

static void add_chunk(struct host *host, struct percpu_state *s)
{
	if (s->nr + s->unit_pages > s->capacity) {
		uint32_t capacity = s->capacity ? 2 * s->capacity : 16 * s->unit_pages;
		struct percpu_page *pages = sim_alloc(host->sim, capacity * sizeof *pages);

		if (s->nr) {
			memcpy(pages, s->pages, s->nr * sizeof *pages);
			sim_free(host->sim, s->pages, s->capacity * sizeof *pages);
		}
		s->pages = pages;
		s->capacity = capacity;
	}
	s->nr += s->unit_pages;
}

static void populate(struct percpu_state *s, uint32_t page)
{
	if (s->pages[page].populated)
		return;
	s->pages[page].populated = true;
	s->populated++;
	s->empty++;
}

/* ---- frames ---- */

/* pcpu_alloc_pages(): a page of every unit, or none. t NULL: only what is there above the min marks. */
static bool get_frames(struct task *t, struct host *host)
{
	const struct percpu_state *s = host->percpu;

	for (uint32_t node = 0; node < host->nr_nodes; node++) {
		if (t ? kernel_frames_get(t, host, node, s->units_on[node])
		      : kernel_frames_try(host, node, s->units_on[node]))
			continue;
		while (node--)
			kernel_frames_put(host, node, s->units_on[node]);
		return false;
	}
	return true;
}

static void put_frames(struct host *host)
{
	for (uint32_t node = 0; node < host->nr_nodes; node++)
		kernel_frames_put(host, node, host->percpu->units_on[node]);
}

/* ---- allocating ---- */

/* pcpu_balance_populated() */
static void keep_ready(struct host *host, struct percpu_state *s, bool boot)
{
	if (s->empty >= EMPTY_LOW)
		return;
	for (uint32_t page = s->hint; s->empty < EMPTY_HIGH; page++) {
		if (page == s->nr)
			add_chunk(host, s);
		if (s->pages[page].populated)
			continue;
		if (!boot && !get_frames(NULL, host))
			return;
		populate(s, page);
	}
}

static void use(struct percpu_state *s, uint32_t page, uint32_t bytes)
{
	if (!bytes)
		return;
	s->empty -= !s->pages[page].used;
	s->pages[page].used = (uint16_t)(s->pages[page].used + bytes);
	s->live += bytes;
}

static uint32_t room(const struct percpu_state *s, uint32_t page)
{
	return page < s->nr ? PAGE_SIZE - s->pages[page].used : 0;
}

/* Where so many bytes would be. What does not fit into a page goes on into the next only within a chunk. */
static struct percpu_block find(struct host *host, struct percpu_state *s, uint32_t bytes)
{
	uint32_t page = s->hint, here;

	while (page < s->nr && !room(s, page))
		page++;
	s->hint = page;
	for (;; page++) {
		bool last = (page + 1) % s->unit_pages == 0;

		if (page == s->nr)
			add_chunk(host, s);
		here = room(s, page);
		if (here >= bytes || (here && !last && here + room(s, page + 1) >= bytes))
			break;
	}
	here = here < bytes ? here : bytes;
	return (struct percpu_block){ .page = page,
				      .first = (uint16_t)here,
				      .rest = (uint16_t)(bytes - here) };
}

/* Its pages are populated. */
static void use_block(struct host *host, struct percpu_state *s, const struct percpu_block *block, bool boot)
{
	use(s, block->page, block->first);
	use(s, block->page + 1, block->rest);
	keep_ready(host, s, boot);
}

/* The first of its pages that is not populated; false: all are. */
static bool lacks(const struct percpu_state *s, const struct percpu_block *block, uint32_t *page)
{
	*page = block->page;
	if (s->pages[*page].populated)
		++*page;
	return *page == block->page || (block->rest && !s->pages[*page].populated);
}

bool percpu_alloc(struct task *t, struct host *host, uint32_t bytes, struct percpu_block *block)
{
	struct percpu_state *s = host->percpu;
	uint32_t page;

	assert(bytes && bytes <= 2 * PAGE_SIZE);
	bytes = (bytes + 3) & ~3u;
	for (;;) {
		*block = find(host, s, bytes);
		if (!lacks(s, block, &page))
			break;
		if (!get_frames(t, host))
			return false;
		if (s->pages[page].populated)
			put_frames(host);
		else
			populate(s, page);
	}
	use_block(host, s, block, false);
	return true;
}

/* pcpu_reclaim_populated() of the chunk that a page is in. */
static void give_back(struct host *host, struct percpu_state *s, uint32_t page)
{
	uint32_t first = page / s->unit_pages * s->unit_pages, empty = 0;

	if (!first || !s->depopulates)
		return;
	for (uint32_t i = first; i < first + s->unit_pages; i++)
		empty += s->pages[i].populated && !s->pages[i].used;
	if (empty < s->unit_pages / 4 || s->empty <= EMPTY_HIGH + empty)
		return;
	for (uint32_t i = first + s->unit_pages; i-- > first && s->empty > EMPTY_HIGH;)
		if (s->pages[i].populated && !s->pages[i].used) {
			s->pages[i].populated = false;
			s->populated--;
			s->empty--;
			put_frames(host);
		}
}

static void unuse(struct host *host, struct percpu_state *s, uint32_t page, uint32_t bytes)
{
	if (!bytes)
		return;
	s->pages[page].used = (uint16_t)(s->pages[page].used - bytes);
	s->live -= bytes;
	if (!s->pages[page].used) {
		s->empty++;
		give_back(host, s, page);
	}
	if (page < s->hint)
		s->hint = page;
}

void percpu_free(struct host *host, struct percpu_block *block)
{
	struct percpu_state *s = host->percpu;

	unuse(host, s, block->page, block->first);
	unuse(host, s, block->page + 1, block->rest);
	*block = (struct percpu_block){ 0 };
}

uint64_t percpu_populated(const struct host *host)
{
	const struct percpu_state *s = host->percpu;

	return (uint64_t)s->populated * s->units * PAGE_SIZE;
}

uint64_t percpu_live(const struct host *host)
{
	return host->percpu->live * host->percpu->units;
}

/* CPUs that may yet come are taken to be spread over the nodes, numa_init_array(). */
static void count_units(const struct host *host, struct percpu_state *s)
{
	for (uint32_t cpu = 0; cpu < host->nr_possible; cpu++)
		s->units_on[cpu < host->nr_cpus ? machine_node(host->machine, cpu) : cpu % host->nr_nodes]++;
}

void percpu_start(struct host *host)
{
	const struct percpu_state *s = host->percpu;

	for (uint32_t node = 0; node < host->nr_nodes; node++)
		kernel_frames_boot(host, node, (uint64_t)s->populated * s->units_on[node]);
}

void percpu_build(struct host *host, uint64_t boot_bytes)
{
	struct percpu_state *s = sim_alloc(host->sim, sizeof *s);
	uint64_t left = boot_bytes / host->nr_possible;
	struct percpu_block block;

	host->percpu = s;
	s->units = host->nr_possible;
	s->units_on = sim_alloc(host->sim, host->nr_nodes * sizeof *s->units_on);
	count_units(host, s);
	s->depopulates = host->kernel_version >= 514;
	s->unit_pages = unit_pages(host->nr_possible);
	add_chunk(host, s);
	if (!boot_bytes)
		return;
	keep_ready(host, s, true);
	/* What the boot left: so many pages are populated, of which four are empty. */
	for (left = left > EMPTY_HIGH * PAGE_SIZE ? left - EMPTY_HIGH * PAGE_SIZE : 0; left;) {
		uint32_t part = left < PAGE_SIZE ? (uint32_t)left : PAGE_SIZE;

		block = find(host, s, part);
		populate(s, block.page);
		if (block.rest)
			populate(s, block.page + 1);
		use_block(host, s, &block, true);
		left -= part;
	}
}
