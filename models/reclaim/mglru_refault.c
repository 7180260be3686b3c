/*
 * mglru_refault.c - what a shadow entry remembers of a page, and what is made of it when the page comes back,
 * after lru_gen_eviction(), lru_gen_test_recent() and lru_gen_refault() of mm/workingset.c.
 *
 * The token is the oldest generation at eviction and how often the page was read. A page of another cgroup
 * than the one that lost it counts for nothing. 6.1 and 6.12 call a refault recent while that generation
 * still is the oldest; 6.18 while it lies within four of the youngest. What "refault" and "activate" count
 * differs:
 *
 *	          refault      activate                      restore
 *	6.1       recent       (pages protected by eviction) recent, and in a fault or read 4 times
 *	6.12      all          recent                        as 6.1
 *	6.18      all          recent, in a fault            recent, and of the working set at eviction
 */
#include "models/reclaim/mglru.h"

#define FIELD_BITS 2u
#define FIELD_MASK ((1u << FIELD_BITS) - 1)

shadow_t mglru_eviction(struct task *t, frame_t frame, struct memcg *target)
{
	struct host *host = host_of(t);
	const struct page *page = page_of(host, frame);
	struct memcg *m = page_memcg(host, page);
	struct mglru *g = mglru_of(memcg_lruvec(m, page->node));
	enum lru_type type = page_type(page);
	uint32_t refs = mglru_refs(mglru_era(host), page);
	bool workingset = page->flags & PG_WORKINGSET;

	(void)target;
	g->control.evicted[type][mglru_tier(mglru_era(host), refs, workingset)]++;
	return shadow_pack(host, (struct shadow_fields){
					 .workingset = mglru_era(host) < ERA_6_18 ? refs > 0 : workingset,
					 .node = page->node,
					 .css_id = m->css_id,
					 .stamp = g->min_seq[type] << FIELD_BITS | (refs ? refs - 1 : 0),
				 });
}

static bool is_recent(const struct host *host, const struct mglru *g, enum lru_type type, uint64_t seq)
{
	uint64_t mask = ((uint64_t)1 << (workingset_stamp_bits(host) - FIELD_BITS)) - 1;
	uint64_t max_seq = g->max_seq & mask;

	if (mglru_era(host) < ERA_6_18)
		return seq == (g->min_seq[type] & mask);
	return (max_seq > seq ? max_seq - seq : seq - max_seq) < MGLRU_GENS;
}

static void count(struct task *t, struct memcg *m, const struct page *page, enum stat_item of_anon)
{
	mod_lruvec_state(t, m, page->node, of_anon + (enum stat_item)page_type(page), 1);
}

/* 6.18: marks of the working set survive, or the field does. */
static void restore_marks(struct task *t, struct memcg *m, struct page *page, bool workingset, uint32_t field)
{
	if (workingset) {
		page->flags |= PG_WORKINGSET;
		count(t, m, page, WORKINGSET_RESTORE_ANON);
	} else {
		page->refs = (uint8_t)field;
	}
}

void mglru_refault(struct task *t, frame_t frame, shadow_t shadow, bool in_fault)
{
	struct host *host = host_of(t);
	struct shadow_fields fields = shadow_unpack(host, shadow);
	struct page *page = page_of(host, frame);
	struct memcg *m = page_memcg(host, page);
	struct mglru *g = mglru_of(memcg_lruvec(m, page->node));
	enum mglru_era era = mglru_era(host);
	enum lru_type type = page_type(page);
	uint32_t field = (uint32_t)(fields.stamp & FIELD_MASK);

	if (!m->css_id || fields.css_id != m->css_id || fields.node != page->node)
		return;
	bool recent = is_recent(host, g, type, fields.stamp >> FIELD_BITS);
	uint32_t refs = era < ERA_6_18 ? field + fields.workingset : field + 1;

	if (recent || era > ERA_6_1)
		count(t, m, page, WORKINGSET_REFAULT_ANON);
	if (!recent)
		return;
	g->control.refaulted[type][mglru_tier(era, refs, fields.workingset)]++;
	if (era == ERA_6_12 || (era == ERA_6_18 && in_fault))
		count(t, m, page, WORKINGSET_ACTIVATE_ANON);
	if (era == ERA_6_18) {
		restore_marks(t, m, page, fields.workingset, field);
	} else if (in_fault || refs >= MGLRU_FIELD_MOST) {
		page->refs = MGLRU_FIELD_MOST;
		page->flags |= PG_WORKINGSET;
		count(t, m, page, WORKINGSET_RESTORE_ANON);
	}
}
