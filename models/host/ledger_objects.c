/*
 * ledger_objects.c - what the kernel has in memory for what cgroups do, beside what it has for them: the
 * arrays of list_lru that hold a cgroup's lists, and nodes of page cache trees, of which those that hold
 * nothing but shadow entries are a class of their own.
 *
 * They are charged where they are allocated (models/page/cache.c) and counted here, of all cgroups and of the
 * root. Their slabs are in meminfo.Slab (slab.h).
 */
#include "models/host/ledger.h"
#include "models/list_lru/list_lru.h"
#include "models/page/cache_tree.h"
#include "models/page/page.h"
#include "models/workingset/workingset.h"

static uint64_t list_lru_bytes(const struct host *host)
{
	return list_lru_nr_memcgs(host) * list_lru_array_bytes(host);
}

static uint64_t shadow_nodes(const struct host *host)
{
	uint64_t nr = 0;

	for (uint32_t node = 0; node < host->nr_nodes; node++)
		nr += workingset_nodes(host, node);
	return nr;
}

static uint64_t shadow_bytes(const struct host *host)
{
	return shadow_nodes(host) * XA_NODE_BYTES;
}

static uint64_t xa_node_bytes(const struct host *host)
{
	return (host->pages->nr_cache_nodes - shadow_nodes(host)) * XA_NODE_BYTES;
}

const struct ledger_objects ledger_objects[NR_LEDGER_OBJECTS] = {
	{ "list_lru", list_lru_bytes },
	{ "xa_node", xa_node_bytes },
	{ "shadow", shadow_bytes },
};
