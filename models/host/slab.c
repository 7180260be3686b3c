/*
 * slab.c - slabs of each size on each node. See slab.h.
 *
 * A slab object of kmalloc() has the size of its class; caches of the same size are one here, but for those
 * of accounted objects. How large a slab is calculate_order() says, which wants more objects in it the more
 * CPUs there are (since 5.12, 045ab8c9487b, those that are present, unless that is one): at eight CPUs
 * slabs of 1 KiB objects are of 32 KiB, with one of 8.
 *
 * Which objects share a slab is left out: what is freed is taken to leave whole slabs, as it does when
 * cgroups go in the order in which they came. A slab that has become empty is its CPU's (put_cpu_partial())
 * until that has as many as hold cpu_partial objects; then these go to the node, which keeps min_partial
 * and frees the others. All CPUs count as one. Left out too is that SLUB makes do with smaller slabs when
 * no large block is free: all of a slab's pages are waited for.
 *
 * An object that finds room in a slab costs the machine nothing more. One that does not needs a slab's pages
 * (kernel_frames.c), for which it may reclaim; and while it does another may have made a slab.
 */
#include "models/host/slab.h"

#include "models/cgroup/stock.h"
#include "models/page/page_impl.h"
#include "sim/scenario/option.h"

#define MAX_ORDER     3u /* slub_max_order: PAGE_ALLOC_COSTLY_ORDER */
#define MIN_PARTIAL   5u
#define MAX_PARTIAL   10u
#define PRESENT_SINCE 512u

/* clang-format off */
static const struct slab_size {
	uint32_t bytes; /* of an object */
	bool own;       /* a cache of its own, as /proc/slabinfo of 6.1 and 6.12 has it */
} sizes[] = {
	{ 8, false },   { 16, false },   { 32, false },   { 64, false },  { 96, false },
	{ 104, true }, /* buffer_head */
	{ 128, false }, { KERNFS_NODE_BYTES, true }, { 192, false }, { 256, false },
	{ KMEM_CACHE_BYTES, true }, { 512, false },
	{ 584, true }, /* radix_tree_node */
	{ 632, true },  { 640, true }, /* inode_cache of 6.12, of 6.1 */
	{ 1024, false },
	{ 1168, true }, { 1192, true }, /* ext4_inode_cache of 6.12, of 6.1 */
	{ 1200, true }, /* other file systems' */
	{ 2048, false }, { 4096, false }, { 8192, false },
};
/* clang-format on */
#define NR_SLAB_SIZES (sizeof sizes / sizeof sizes[0])
#define NR_CACHES     (2 * NR_SLAB_SIZES) /* those with SLAB_CG behind */

struct slab_state {
	uint64_t pages, boot_pages;
	struct slab_kind {
		uint32_t pages, per_slab;     /* of a slab */
		uint32_t cpu_most, node_most; /* empty slabs that a CPU keeps, and a node */
	} kinds[NR_CACHES];
	struct slab_node {
		uint64_t objects, slabs;
	} * nodes; /* [cache * nr_nodes + node] */
	struct slab_rcu *rcu;
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

static uint32_t cache_index(uint32_t bytes)
{
	return size_index(bytes & ~SLAB_CG) + (bytes & SLAB_CG ? (uint32_t)NR_SLAB_SIZES : 0);
}

/* ---- how large slabs are ---- */

static uint32_t fls(uint64_t x)
{
	return x ? 64 - (uint32_t)__builtin_clzll(x) : 0;
}

static uint32_t get_order(uint64_t bytes)
{
	return fls((bytes - 1) / PAGE_SIZE);
}

/* calculate_order() and calc_slab_order(), in the form that they have since 6.8 */
static uint32_t slab_order(const struct host *host, uint32_t bytes)
{
	uint32_t cpus = host->kernel_version >= PRESENT_SINCE && host->nr_cpus > 1 ? host->nr_cpus
										   : host->nr_possible;
	uint32_t objects = 4 * (fls(cpus) + 1), most = ((uint32_t)PAGE_SIZE << MAX_ORDER) / bytes;

	for (uint32_t fraction = 16; fraction > 1; fraction /= 2)
		for (uint32_t order = get_order((uint64_t)(objects < most ? objects : most) * bytes);
		     order <= MAX_ORDER; order++)
			if ((PAGE_SIZE << order) % bytes <= (PAGE_SIZE << order) / fraction)
				return order;
	return MAX_ORDER;
}

/* slub_set_cpu_partial() and kmem_cache_open() */
static void init_kind(const struct host *host, struct slab_kind *kind, uint32_t bytes)
{
	uint32_t log = (fls(bytes) - 1) / 2;
	uint32_t objects = bytes >= PAGE_SIZE ? 6 : bytes >= 1024 ? 24 : bytes >= 256 ? 52 : 120;

	kind->pages = 1u << slab_order(host, bytes);
	kind->per_slab = (uint32_t)(kind->pages * PAGE_SIZE / bytes);
	kind->cpu_most = (2 * objects + kind->per_slab - 1) / kind->per_slab;
	kind->node_most = log < MIN_PARTIAL ? MIN_PARTIAL : log > MAX_PARTIAL ? MAX_PARTIAL : log;
}

/* ---- objects ---- */

bool slab_get(struct task *t, struct host *host, uint32_t node, uint32_t bytes)
{
	struct slab_state *s = host->slabs;
	uint32_t i = cache_index(bytes);
	const struct slab_kind *kind = &s->kinds[i];
	struct slab_node *n = &s->nodes[i * host->nr_nodes + node];

	shared_step(t);
	while (n->objects == n->slabs * kind->per_slab) {
		if (!kernel_frames_get(t, host, node, kind->pages))
			return false;
		n->slabs++;
		s->pages += kind->pages;
	}
	n->objects++;
	return true;
}

void slab_put(struct host *host, uint32_t node, uint32_t bytes)
{
	struct slab_state *s = host->slabs;
	uint32_t i = cache_index(bytes);
	const struct slab_kind *kind = &s->kinds[i];
	struct slab_node *n = &s->nodes[i * host->nr_nodes + node];

	assert(n->objects);
	n->objects--;
	uint64_t used = (n->objects + kind->per_slab - 1) / kind->per_slab;

	if (n->slabs <= used + kind->node_most + kind->cpu_most)
		return;
	/* The CPU's go to the node, and those that are too many there to the machine. */
	uint64_t pages = kind->cpu_most * kind->pages;

	n->slabs -= kind->cpu_most;
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

struct slab_rcu *slab_rcu(const struct host *host)
{
	return host->slabs->rcu;
}

/* ---- what they had at boot ---- */

struct cache_options {
	uint32_t bytes, objects;
	bool accounted;
};

static const struct option rows[] = {
	OPTION(struct cache_options, bytes, OPT_U32, .required = true, .min = "8", .max = "8192",
	       .help = "size of an object: of kmalloc-4k 4096"),
	OPTION(struct cache_options, objects, OPT_U32, .required = true, .max = "1M", .help = "in use"),
	OPTION(struct cache_options, accounted, OPT_BOOL, .fallback = "false", .help = "of kmalloc-cg-4k"),
};
const struct option_table slab_options = OPTION_TABLE("kernel_memory.caches", struct cache_options, rows);

uint64_t slab_boot_bytes(const struct option_list *caches)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < caches->nr; i++) {
		const struct cache_options *o = caches->items[i];

		sum += (uint64_t)o->bytes * o->objects;
	}
	return sum;
}

static void fill(struct host *host, const struct cache_options *o)
{
	struct slab_state *s = host->slabs;
	uint32_t i = cache_index(o->bytes | (o->accounted ? SLAB_CG : 0));
	const struct slab_kind *kind = &s->kinds[i];

	for (uint32_t node = 0; node < host->nr_nodes; node++) {
		struct slab_node *n = &s->nodes[i * host->nr_nodes + node];
		uint64_t before = n->slabs;

		n->objects += (o->objects + host->nr_nodes - 1 - node) / host->nr_nodes;
		n->slabs = (n->objects + kind->per_slab - 1) / kind->per_slab;
		s->pages += (n->slabs - before) * kind->pages;
	}
}

/* Where they lie is not known: spread over the nodes. */
void slab_start(struct host *host)
{
	const struct slab_state *s = host->slabs;

	for (uint32_t node = 0; node < host->nr_nodes; node++) {
		uint64_t pages = (s->boot_pages + host->nr_nodes - 1 - node) / host->nr_nodes;

		for (uint32_t i = 0; i < NR_CACHES; i++)
			pages += s->nodes[i * host->nr_nodes + node].slabs * s->kinds[i].pages;
		kernel_frames_boot(host, node, pages);
	}
}

void slab_build(struct host *host, uint64_t boot_bytes, const struct option_list *caches)
{
	struct slab_state *s = sim_alloc(host->sim, sizeof *s);

	host->slabs = s;
	s->boot_pages = boot_bytes / PAGE_SIZE;
	s->nodes = sim_alloc(host->sim, NR_CACHES * host->nr_nodes * sizeof *s->nodes);
	s->rcu = slab_rcu_new(host);
	for (uint32_t i = 0; i < NR_CACHES; i++)
		init_kind(host, &s->kinds[i], sizes[i % NR_SLAB_SIZES].bytes);
	for (size_t i = 0; i < caches->nr; i++)
		fill(host, caches->items[i]);
}
