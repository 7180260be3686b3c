/*
 * shadow_budget: file_pages. The file pages of the cgroup itself on the node, nothing else.
 *
 * In 4.12 the number of LRU pages came from the lruvec's size array, exact at any time; for the root it is
 * the node's own counters of file pages.
 */
#include "models/workingset/budget/budget.h"

static uint64_t lruvec_files(struct memcg *m, uint32_t node)
{
	const struct lruvec *lruvec = memcg_lruvec(m, node);

	return lruvec->lru_zone_size[LRU_INACTIVE_FILE] + lruvec->lru_zone_size[LRU_ACTIVE_FILE];
}

static uint64_t file_pages(struct task *t, struct memcg *m, uint32_t node)
{
	uint64_t pages = 0;

	(void)t;
	if (!memcg_is_root(m))
		return lruvec_files(m, node);
	struct memcg *any;

	for (uint32_t i = 0; (any = memcg_at(m->host->cgroups, &i)); i++)
		pages += lruvec_files(any, node);
	return pages;
}

static const struct shadow_budget_ops ops = { .pages = file_pages };

MODULE(shadow_budget_file_pages) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "shadow_budget",
	.name = "file_pages",
	.help = "file pages on the lists of the cgroup",
	.source = "Linux 4.12, count_shadow_nodes()",
	.ops = &ops,
};
