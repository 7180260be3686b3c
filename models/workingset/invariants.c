/*
 * invariants.c - what must hold of shadows and their nodes, by walking every tree.
 *
 *  I12  refaults are never more than evictions; shadows made and gone differ by those that exist; a slot
 *       holds a page or a value, and its leaf counts both right; a page names the object and the index where
 *       it is, and there are as many as the object says
 *  I13  workingset_nodes is the number of leaves that hold only values, and of what the lists hold; a leaf
 *       whose tree is locked may just be on its way onto a list or off it
 *  I14  nodes put on lists and taken off again, by use or by the shrinker, differ by those that are there
 *  I16  a time stamp comes out of an entry as it went in, cut to its bits; a distance is never negative
 */
#include "models/backing/backing.h"
#include "models/workingset/workingset_impl.h"

struct found {
	uint64_t shadows, wrong; /* entries; leaves whose counts or list state are wrong */
	uint64_t *nodes;         /* by NUMA node: leaves that have to be listed */
	uint64_t moving;         /* leaves on their way onto a list or off it */
	uint64_t present;        /* pages of the object at hand */
};

static void look_at_page(const struct host *host, const struct page_object *object, uint64_t index,
			 struct found *found)
{
	const struct page *page = page_of(host, slot_frame(object->slots[index]));

	found->present++;
	found->wrong += object->kind != OBJECT_SWAP && /* there it is another object's */
			(page->object != object->id || page->index != index);
}

static void look_at_leaf(const struct host *host, const struct page_object *object, uint64_t i,
			 struct found *found)
{
	const struct shadow_node *leaf = &object->tree->leaves[i];

	if (object->tree->single) {
		found->shadows += slot_is_shadow(object->slots[0]);
		if (object->slots[0] && !slot_is_value(object->slots[0]))
			look_at_page(host, object, 0, found);
		return;
	}
	uint64_t from = i << CACHE_SLOTS_LOG, count = 0, values = 0;

	if (!leaf->count && !leaf->nr_values && !leaf->listed && !list_lru_listed(&leaf->item))
		return;
	for (uint64_t k = from; k < from + (1u << CACHE_SLOTS_LOG) && k < object->nr_pages; k++) {
		slot_t slot = object->slots[k];

		if (!slot)
			continue;
		count++;
		if (slot_is_value(slot)) {
			values++;
			found->shadows += slot_is_shadow(slot);
			continue;
		}
		look_at_page(host, object, k, found);
	}
	bool shadows_only = object->tree->lists && count && count == values;

	if (object->tree->lock.owner)
		shadows_only = leaf->listed;
	found->moving += leaf->listed != list_lru_listed(&leaf->item);
	found->wrong += leaf->count != count || leaf->nr_values != values || leaf->listed != shadows_only;
	found->nodes[leaf->node] += shadows_only;
}

/* Of one list: what it counts and what it has; of a list that a cgroup leaves behind both may be off. */
static uint64_t length(const struct list_lru_one *one)
{
	uint64_t nr = 0;

	for (const struct list_lru_item *item = one->head.next; item != &one->head; item = item->next)
		nr++;
	return nr;
}

static void check_lists(struct host *host, const struct found *found, struct record *record)
{
	const struct list_lru *lru = &workingset_of(host)->shadow_nodes;

	for (uint32_t node = 0; node < host->nr_nodes; node++) {
		int64_t counted = 0, listed = 0;

		for (uint32_t i = 0; i < lru->capacity; i++) {
			const struct list_lru_one *one = list_lru_find(lru, i, node);

			counted += one ? one->nr_items : 0;
			listed += one ? (int64_t)length(one) : 0;
		}
		int64_t off = (int64_t)workingset_nodes(host, node) - listed;

		record_invariant(record, "I13", counted == listed,
				 "node %u: the lists count %lld nodes, they have %lld", node,
				 (long long)counted, (long long)listed);
		record_invariant(
			record, "I13",
			(uint64_t)(off < 0 ? -off : off) <= found->moving &&
				workingset_nodes(host, node) == found->nodes[node],
			"node %u: workingset_nodes %lld, on lists %lld, leaves of shadows alone %lld", node,
			(long long)workingset_nodes(host, node), (long long)listed,
			(long long)found->nodes[node]);
	}
}

static void check_stamps(const struct host *host, struct record *record)
{
	const uint64_t last = ((uint64_t)1 << workingset_stamp_bits(host)) - 1;
	const struct shadow_fields f = {
		.workingset = true, .node = host->nr_nodes - 1, .css_id = MOST_CSS_IDS, .stamp = last
	};
	/* By way of a slot, which holds 63 bits. */
	const struct shadow_fields back = shadow_unpack(host,
							slot_shadow(slot_of_shadow(shadow_pack(host, f))));
	uint64_t wrapped = (3 - back.stamp) & last;

	record_invariant(
		record, "I16",
		back.workingset && back.node == f.node && back.css_id == f.css_id && back.stamp == last &&
			wrapped == 4 && workingset_stamp_bits(host) + workingset_bucket_order(host) < 64,
		"a shadow of node %u, memcg %u, stamp %llx comes back as %u, %u, %llx", f.node, f.css_id,
		(unsigned long long)f.stamp, back.node, back.css_id, (unsigned long long)back.stamp);
}

/* I14 and I16 need no tree. */
static void check_counts(struct host *host, struct record *record)
{
	const struct workingset_count *count = workingset_counted(host);
	uint64_t listed = 0;

	for (uint32_t node = 0; node < host->nr_nodes; node++)
		listed += workingset_nodes(host, node);
	record_invariant(record, "I14",
			 count->nodes_listed - count->nodes_unlisted - count->nodes_reclaimed == listed,
			 "%lld nodes listed, %lld taken off, %lld reclaimed; there are %lld",
			 (long long)count->nodes_listed, (long long)count->nodes_unlisted,
			 (long long)count->nodes_reclaimed, (long long)listed);
	check_stamps(host, record);
}

void workingset_check_some(struct host *host, const struct touched_slot *slots, uint32_t nr,
			   struct record *record)
{
	const struct workingset_count *count = workingset_counted(host);
	struct found found = { .nodes = sim_alloc(host->sim, host->nr_nodes * sizeof(uint64_t)) };

	for (uint32_t i = 0; i < nr; i++) {
		const struct page_object *object = host->pages->objects[slots[i].object];

		if (object->tree && slots[i].index < object->nr_pages)
			look_at_leaf(host, object, cache_tree_leaf(slots[i].index), &found);
	}
	record_invariant(
		record, "I12", !found.wrong && count->refaults <= count->shadows_made,
		"%lld shadows made, %lld refaults; %lld leaves or pages that reclaim came to disagree",
		(long long)count->shadows_made, (long long)count->refaults, (long long)found.wrong);
	check_counts(host, record);
	sim_free(host->sim, found.nodes, host->nr_nodes * sizeof(uint64_t));
}

void workingset_check(struct host *host, struct record *record)
{
	const struct workingset_count *count = workingset_counted(host);
	struct found found = { .nodes = sim_alloc(host->sim, host->nr_nodes * sizeof(uint64_t)) };
	uint64_t elsewhere = swap_table_shadows(host);

	for (uint32_t i = 0; i < host->pages->nr_objects; i++) {
		const struct page_object *object = host->pages->objects[i];

		found.present = 0;
		for (uint64_t leaf = 0;
		     object->tree && object->nr_pages && leaf <= cache_tree_leaf(object->nr_pages - 1);
		     leaf++)
			look_at_leaf(host, object, leaf, &found);
		found.wrong += object->tree && found.present != object->present;
	}
	found.shadows += elsewhere;
	record_invariant(
		record, "I12",
		!found.wrong && count->refaults <= count->shadows_made &&
			count->shadows_made - count->shadows_gone == found.shadows,
		"%lld shadows made, %lld gone, %lld there, %lld refaults; %lld leaves or pages disagree",
		(long long)count->shadows_made, (long long)count->shadows_gone, (long long)found.shadows,
		(long long)count->refaults, (long long)found.wrong);
	check_lists(host, &found, record);
	check_counts(host, record);
	sim_free(host->sim, found.nodes, host->nr_nodes * sizeof(uint64_t));
}
