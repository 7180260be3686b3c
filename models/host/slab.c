/*
 * slab.c - slabs of each size on each node. See slab.h.
 *
 * A slab object of kmalloc() has the size of its class. SLUB makes slabs of up to 32 KiB, so that large
 * objects waste little, and keeps five on a node that are empty (min_partial). Which objects share a slab is
 * left out: what is freed is taken to leave whole slabs, as it does when cgroups go in the order in which
 * they came. Left out too is that SLUB makes do with smaller slabs when no large block is free: all of a
 * slab's pages are waited for.
 *
 * An object that finds room in a slab costs the machine nothing more. One that does not needs a slab's pages
 * (kernel_frames.c), for which it may reclaim; and while it does another may have made a slab.
 */
#include "models/host/slab.h"

#include "models/cgroup/stock.h"
#include "models/page/page_impl.h"

#define MIN_PARTIAL 5u

/* clang-format off */
static const struct slab_size {
	uint32_t bytes, pages; /* of an object, of a slab */
	bool own;              /* a cache of its own: buffer heads, nodes of XArrays, inodes */
} sizes[] = {
	{ 8, 1, false },    { 16, 1, false },  { 32, 1, false },   { 64, 1, false },
	{ 96, 1, false },   { 104, 1, true },  { 128, 1, false },  { 192, 1, false },
	{ 256, 2, false },  { 512, 4, false }, { 584, 4, true },   { 1024, 8, false },
	{ 1200, 8, true },  { 2048, 8, false }, { 4096, 8, false }, { 8192, 8, false },
};
/* clang-format on */
#define NR_SLAB_SIZES (sizeof sizes / sizeof sizes[0])

struct slab_state {
	uint64_t pages, boot_pages;
	struct slab_node {
		uint64_t objects, slabs;
	} * nodes; /* [size * nr_nodes + node] */
};

static uint32_t size_index(uint32_t bytes)
{
	uint32_t i = 0;

	while (i < NR_SLAB_SIZES - 1 && sizes[i].bytes < bytes)
		i++;
	return i;
}

uint32_t kmalloc_size(uint32_t bytes)
{
	uint32_t i = size_index(bytes);

	while (sizes[i].own && sizes[i].bytes != bytes)
		i++;
	return sizes[i].bytes;
}

static uint64_t per_slab(uint32_t i)
{
	return sizes[i].pages * PAGE_SIZE / sizes[i].bytes;
}

bool slab_get(struct task *t, struct host *host, uint32_t node, uint32_t bytes)
{
	struct slab_state *s = host->slabs;
	uint32_t i = size_index(bytes);
	struct slab_node *n = &s->nodes[i * host->nr_nodes + node];

	shared_step(t);
	while (n->objects == n->slabs * per_slab(i)) {
		if (!kernel_frames_get(t, host, node, sizes[i].pages))
			return false;
		n->slabs++;
		s->pages += sizes[i].pages;
	}
	n->objects++;
	return true;
}

void slab_put(struct host *host, uint32_t node, uint32_t bytes)
{
	struct slab_state *s = host->slabs;
	uint32_t i = size_index(bytes);
	struct slab_node *n = &s->nodes[i * host->nr_nodes + node];

	assert(n->objects);
	n->objects--;
	uint64_t most = (n->objects + per_slab(i) - 1) / per_slab(i) + MIN_PARTIAL;

	if (n->slabs <= most)
		return;
	uint64_t pages = (n->slabs - most) * sizes[i].pages;

	n->slabs = most;
	s->pages -= pages;
	kernel_frames_put(host, node, pages);
}

/* The object first, as since 6.10: before, it is charged first, which makes a difference where both fail. */
bool slab_alloc(struct task *t, struct memcg *m, uint32_t node, enum stat_item item, uint32_t bytes,
		struct memcg **failed)
{
	if (failed)
		*failed = NULL;
	if (!slab_get(t, m->host, node, bytes))
		return false;
	if (object_charge(t, m, node, item, bytes + OWNER_BYTES, failed))
		return true;
	task_sync(t);
	slab_put(m->host, node, bytes);
	return false;
}

void slab_free(struct task *t, uint32_t objcg, uint32_t node, enum stat_item item, uint32_t bytes)
{
	slab_put(host_of(t), node, bytes);
	object_uncharge(t, objcg, node, item, bytes + OWNER_BYTES);
}

void slab_free_rcu(struct task *t, uint32_t objcg, uint32_t node, enum stat_item item, uint32_t bytes)
{
	if (objcg == host_of(t)->cgroups->root->objcg->id)
		slab_put(host_of(t), node, bytes);
	else
		object_free_rcu(t, objcg, node, item, bytes + OWNER_BYTES, bytes);
}

uint64_t slab_pages(const struct host *host)
{
	return host->slabs->boot_pages + host->slabs->pages;
}

/* Where they lie is not known: spread over the nodes. */
void slab_start(struct host *host)
{
	for (uint32_t node = 0; node < host->nr_nodes; node++)
		kernel_frames_boot(host, node,
				   (host->slabs->boot_pages + host->nr_nodes - 1 - node) / host->nr_nodes);
}

void slab_build(struct host *host, uint64_t boot_bytes)
{
	host->slabs = sim_alloc(host->sim, sizeof *host->slabs);
	host->slabs->boot_pages = boot_bytes / PAGE_SIZE;
	host->slabs->nodes = sim_alloc(host->sim,
				       NR_SLAB_SIZES * host->nr_nodes * sizeof *host->slabs->nodes);
}
