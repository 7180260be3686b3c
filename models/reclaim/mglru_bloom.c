/*
 * mglru_bloom.c - which page tables are worth a walk: a Bloom filter of the kernel's size, two bits of 2^15 a
 * table, after reset_bloom_filter(), update_bloom_filter() and test_bloom_filter() of mm/vmscan.c. It is a
 * filter here too, and not an exact set, because a process of some hundred GiB fills it.
 *
 * One that was never reset does not exist: nothing can be put in, and everything passes.
 */
#include <string.h>

#include "models/reclaim/mglru.h"

#define KEY_BITS 15u
#define BYTES    ((1u << KEY_BITS) / 8)

struct keys {
	uint32_t bits[2];
};

static struct keys keys_of(uint32_t object, uint64_t table)
{
	uint64_t hash = ((uint64_t)object << 32 | (table & UINT32_MAX)) * 0x9E3779B97F4A7C15u;

	hash ^= hash >> 32;
	hash *= 0xD6E8FEB86659FD93u;
	return (struct keys){ { (uint32_t)(hash >> (64 - KEY_BITS)),
				(uint32_t)(hash >> (64 - 2 * KEY_BITS)) & ((1u << KEY_BITS) - 1) } };
}

void mglru_bloom_reset(struct host *host, struct mglru_bloom *bloom)
{
	if (bloom->bits)
		memset(bloom->bits, 0, BYTES);
	else
		bloom->bits = sim_alloc(host->sim, BYTES);
}

void mglru_bloom_add(struct mglru_bloom *bloom, uint32_t object, uint64_t table)
{
	struct keys keys = keys_of(object, table);

	if (!bloom->bits)
		return;
	for (int i = 0; i < 2; i++)
		bloom->bits[keys.bits[i] / 64] |= (uint64_t)1 << keys.bits[i] % 64;
}

bool mglru_bloom_has(const struct mglru_bloom *bloom, uint32_t object, uint64_t table)
{
	struct keys keys = keys_of(object, table);

	if (!bloom->bits)
		return true;
	for (int i = 0; i < 2; i++)
		if (!(bloom->bits[keys.bits[i] / 64] >> keys.bits[i] % 64 & 1))
			return false;
	return true;
}
