/*
 * ledger.c - structures of cgroups come and go, in per-CPU memory and in slabs. See ledger.h.
 *
 * A slab object of kmalloc() has the size of its class. SLUB makes slabs of up to 32 KiB, so that large
 * objects waste little, and keeps five that are empty (min_partial). Which objects share a slab is left out:
 * what is freed is taken to leave whole slabs, as it does when cgroups go in the order in which they came.
 */
#include "models/host/ledger.h"

#include "models/cgroup/stock.h"
#include "models/host/policies.h"
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"
#include "models/stat/stat.h"
#include "sim/module.h"

#define MIN_PARTIAL 5u
#define OBJ_EXT     8u /* what obj_full_size() adds for the owner's pointer */

/* ---- dying_percpu ---- */

static const struct axis dying_percpu_axis = { .fallback = "until_freed" };

MODULE(axis_dying_percpu) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "dying_percpu",
	.help = "how long a removed cgroup keeps its per-CPU statistics",
	.source = "mm/memcontrol.c, mem_cgroup_css_offline() and mem_cgroup_free()",
	.ops = &dying_percpu_axis,
};

static const struct charge_constant until_freed = { 0 }, released_at_offline = { 1 };

MODULE(dying_percpu_until_freed) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "dying_percpu",
	.name = "until_freed",
	.help = "as long as it exists",
	.source = "every kernel so far",
	.ops = &until_freed,
};

MODULE(dying_percpu_released_at_offline) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "dying_percpu",
	.name = "released_at_offline",
	.help = "up to a grace period after offline: what the CPUs have counted is spilled into the memcg",
	.source = "seed 4: mm: reduce the memory footprint of dying memory cgroups",
	.ops = &released_at_offline,
};

/* ---- slabs ---- */

/* clang-format off */
static const struct slab_size {
	uint32_t bytes, pages; /* of an object, of a slab */
} sizes[] = {
	{ 8, 1 }, { 16, 1 }, { 32, 1 }, { 64, 1 }, { 96, 1 }, { 104, 1 }, { 128, 1 }, { 192, 1 }, { 256, 2 },
	{ 512, 4 }, { 1024, 8 }, { 1200, 8 }, { 2048, 8 }, { 4096, 8 }, { 8192, 8 },
};
/* clang-format on */
#define NR_SLAB_SIZES (sizeof sizes / sizeof sizes[0])

struct ledger_state {
	uint64_t objects[NR_SLAB_SIZES], slabs[NR_SLAB_SIZES];
	uint64_t slab_pages, boot_pages;
	uint64_t live[NR_STRUCTURE_CLASSES]; /* bytes as allocated, per-CPU ones on all possible CPUs */
	uint64_t made, refused;
	bool early;        /* dying_percpu: released_at_offline */
	bool takes_frames; /* from the first cgroup that is made, or what the scenario says of the boot, on */
};

static uint32_t size_index(uint32_t bytes)
{
	uint32_t i = 0;

	while (i < NR_SLAB_SIZES - 1 && sizes[i].bytes < bytes)
		i++;
	return i;
}

/* kmalloc() has no cache for 104 or 1,200 bytes: those are buffer heads and inodes. */
uint32_t kmalloc_size(uint32_t bytes)
{
	uint32_t size = sizes[size_index(bytes)].bytes;

	return bytes == size ? size : size == 104 ? 128 : size == 1200 ? 2048 : size;
}

/* What slabs and per-CPU pages are by now they have as frames. */
static void take_frames(struct host *host)
{
	frames_of_kernel(host, slab_pages(host) + percpu_populated(host) / PAGE_SIZE);
}

static void count_slabs(struct host *host, uint32_t i)
{
	struct ledger_state *l = host->ledger;
	uint64_t per_slab = sizes[i].pages * PAGE_SIZE / sizes[i].bytes;
	uint64_t need = (l->objects[i] + per_slab - 1) / per_slab, before = l->slabs[i];

	if (l->slabs[i] < need)
		l->slabs[i] = need;
	else if (l->slabs[i] > need + MIN_PARTIAL)
		l->slabs[i] = need + MIN_PARTIAL;
	l->slab_pages += (l->slabs[i] - before) * sizes[i].pages;
	if (l->slabs[i] != before && l->takes_frames)
		take_frames(host);
}

void slab_get(struct host *host, uint32_t bytes)
{
	uint32_t i = size_index(bytes);

	host->ledger->objects[i]++;
	count_slabs(host, i);
}

void slab_put(struct host *host, uint32_t bytes)
{
	uint32_t i = size_index(bytes);

	host->ledger->objects[i]--;
	count_slabs(host, i);
}

uint64_t slab_pages(const struct host *host)
{
	return host->ledger->boot_pages + host->ledger->slab_pages;
}

/* ---- the structures of one cgroup ---- */

static uint32_t copies(const struct host *host, const struct structure *s)
{
	return s->count * (s->per_node ? host->nr_nodes : 1);
}

/* What one of it takes: of a percpu one on each CPU. */
static uint32_t taken(const struct host *host, const struct structure *s)
{
	uint32_t bytes = structure_bytes(host, s);

	return s->percpu || !bytes ? bytes : kmalloc_size(bytes);
}

/* obj_full_size(), and for per-CPU memory pcpu_obj_full_size(): with the owners' pointers. */
static uint32_t charged(const struct host *host, const struct structure *s)
{
	uint32_t bytes = taken(host, s);

	return s->percpu ? bytes * host->nr_possible + bytes / 4 * 8 : bytes + OBJ_EXT;
}

static enum stat_item item_of(const struct structure *s)
{
	return s->percpu ? MEMCG_PERCPU_B : NR_SLAB_UNRECLAIMABLE_B;
}

static bool is_charged(const struct host *host, const struct structure *s)
{
	return s->accounted && host->kernel_version >= 509;
}

static void uncharge(struct task *t, const struct host *host, uint32_t owner, const struct structure *s)
{
	uint32_t nr = is_charged(host, s) ? copies(host, s) : 0;

	while (nr--)
		object_uncharge(t, owner, t->cpu->node, item_of(s), charged(host, s));
}

/* False: a limit is in the way; what was charged so far is not any more. */
static bool charge_all(struct task *t, struct memcg *m)
{
	struct host *host = m->host;
	uint32_t owner = m->parent->objcg->id;

	for (uint32_t i = 0; i < nr_structures; i++) {
		const struct structure *s = &structures[i];
		uint32_t nr = is_charged(host, s) && taken(host, s) ? copies(host, s) : 0;

		for (uint32_t k = 0; k < nr; k++) {
			struct memcg *failed;

			task_sync(t);
			if (object_charge(t, m->parent, t->cpu->node, item_of(s), charged(host, s), &failed))
				continue;
			while (k--)
				object_uncharge(t, owner, t->cpu->node, item_of(s), charged(host, s));
			while (i--)
				if (taken(host, &structures[i]))
					uncharge(t, host, owner, &structures[i]);
			return false;
		}
	}
	return true;
}

static uint32_t percpu_blocks(const struct host *host)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < nr_structures; i++)
		if (structures[i].percpu && taken(host, &structures[i]))
			nr += copies(host, &structures[i]);
	return nr;
}

static size_t structures_size(uint32_t nr_percpu)
{
	return sizeof(struct memcg_structures) + nr_percpu * sizeof(struct percpu_block);
}

static void take(struct host *host, struct memcg_structures *ms, const struct structure *s, uint32_t *block)
{
	uint32_t bytes = taken(host, s);

	for (uint32_t k = bytes ? copies(host, s) : 0; k--;)
		if (s->percpu) {
			ms->percpu[(*block)++] = percpu_alloc(host, bytes);
			host->ledger->live[s->class] += (uint64_t)bytes * host->nr_possible;
		} else {
			slab_get(host, bytes);
			host->ledger->live[s->class] += bytes;
		}
}

static void give(struct host *host, struct memcg_structures *ms, const struct structure *s, uint32_t *block)
{
	uint32_t bytes = taken(host, s);

	for (uint32_t k = bytes ? copies(host, s) : 0; k--;)
		if (s->percpu) {
			percpu_free(host, &ms->percpu[(*block)++]);
			host->ledger->live[s->class] -= (uint64_t)bytes * host->nr_possible;
		} else {
			slab_put(host, bytes);
			host->ledger->live[s->class] -= bytes;
		}
}

/* Allocations of the kernel wake kswapd as others do. */
static void wake_kswapds(struct task *t)
{
	const struct host *host = host_of(t);

	for (uint32_t node = 0; node < host->nr_nodes; node++)
		if (!node_above(host, node, WMARK_LOW))
			kswapd_wake(t, node);
}

static bool some_node_above_min(const struct host *host)
{
	uint32_t node = 0;

	while (node < host->nr_nodes && !node_above(host, node, WMARK_MIN))
		node++;
	return node < host->nr_nodes;
}

/* __alloc_pages_slowpath() in short: reclaims until there is room, or gives up. */
static bool has_memory(struct task *t)
{
	uint32_t retries = MAX_RECLAIM_RETRIES;

	while (!some_node_above_min(host_of(t))) {
		if (!retries-- || !reclaim_direct(t))
			return false;
		task_sync(t);
	}
	return true;
}

/* A charge may wait, and the run may end meanwhile: the cgroup has its structures when all are paid for. */
enum cgroup_error ledger_make(struct task *t, struct memcg *m)
{
	struct host *host = m->host;
	uint32_t nr = percpu_blocks(host), block = 0;

	if (!has_memory(t))
		return CGROUP_NO_PERCPU;
	if (!charge_all(t, m))
		return CGROUP_NO_MEMORY;
	task_sync(t);
	m->structures = sim_alloc(host->sim, structures_size(nr));
	*m->structures = (struct memcg_structures){
		.owner = m->parent->objcg->id, .nr_percpu = nr, .files = true, .percpu_stat = true
	};
	for (uint32_t i = 0; i < nr_structures; i++)
		take(host, m->structures, &structures[i], &block);
	host->ledger->made++;
	host->ledger->takes_frames = true;
	take_frames(host);
	wake_kswapds(t);
	return CGROUP_OK;
}

/* Those that `which` names, with their places among the per-CPU blocks. */
static void give_those(struct memcg *m, bool files, bool percpu_stat, bool others)
{
	uint32_t block = 0;

	for (uint32_t i = 0; i < nr_structures; i++) {
		const struct structure *s = &structures[i];
		uint32_t nr = s->percpu && taken(m->host, s) ? copies(m->host, s) : 0, at = block;

		block += nr;
		if (s->files ? files : s->class == CLASS_PERCPU_STAT ? percpu_stat : others)
			give(m->host, m->structures, s, &at);
	}
}

void ledger_rmdir(struct memcg *m)
{
	if (!m->structures)
		return;
	give_those(m, m->structures->files, false, false);
	m->structures->files = false;
	take_frames(m->host);
}

static void uncharge_those(struct task *t, struct memcg *m, bool percpu_stat, bool others)
{
	for (uint32_t i = 0; i < nr_structures; i++) {
		const struct structure *s = &structures[i];

		if (taken(m->host, s) && (s->class == CLASS_PERCPU_STAT ? percpu_stat : others))
			uncharge(t, m->host, m->structures->owner, s);
	}
}

bool ledger_releases_early(const struct memcg *m)
{
	return m->host->ledger->early && m->structures;
}

void ledger_release_percpu(struct task *t, struct memcg *m)
{
	uncharge_those(t, m, true, false);
	task_sync(t);
	give_those(m, false, true, false);
	m->structures->percpu_stat = false;
	take_frames(m->host);
}

void ledger_free(struct task *t, struct memcg *m)
{
	struct memcg_structures *ms = m->structures;

	if (!ms)
		return;
	uncharge_those(t, m, ms->percpu_stat, true);
	task_sync(t);
	give_those(m, ms->files, ms->percpu_stat, true);
	take_frames(m->host);
	sim_free(m->host->sim, ms, structures_size(ms->nr_percpu));
	m->structures = NULL;
}

/* ---- results ---- */

enum { PERCPU, SLAB, PERCPU_LIVE, LIVE };

static const struct metric metrics[] = {
	[PERCPU] = { "meminfo.Percpu", "bytes", METRIC_GAUGE,
		     "populated pages of per-CPU memory, of all possible CPUs" },
	[SLAB] = { "meminfo.Slab", "bytes", METRIC_GAUGE,
		   "slabs of what is modelled, beside what the machine had at boot" },
	[PERCPU_LIVE] = { "ledger.percpu", "bytes", METRIC_GAUGE, "allocations in per-CPU memory" },
	[LIVE] = { "ledger.bytes", "bytes", METRIC_GAUGE,
		   "structures of cgroups made during the run, by class, as allocated; and of all: list_lru, "
		   "xa_node (page cache trees), shadow (such nodes without pages)" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(ledger_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "ledger",
	.help = "the kernel's own memory for cgroups",
	.ops = &table,
};

struct kernel_memory {
	uint64_t percpu, slab;
};

static const struct option rows[] = {
	OPTION(struct kernel_memory, percpu, OPT_BYTES, .fallback = "0",
	       .help = "meminfo.Percpu before the run, of all CPUs"),
	OPTION(struct kernel_memory, slab, OPT_BYTES, .fallback = "0", .help = "meminfo.Slab before the run"),
};
static const struct option_table kernel_memory_options = OPTION_TABLE("kernel_memory", struct kernel_memory,
								      rows);

MODULE(kernel_memory_section) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "kernel_memory",
	.help = "memory of the kernel's own that the machine has at boot",
	.options = &kernel_memory_options,
	.order = 150,
};

void ledger_sample(struct host *host, sim_time_t now)
{
	struct record *record = host->run->record;

	if (!host->ledger->made)
		return;
	record_sample(record, &metrics[PERCPU], "all", now, (double)percpu_populated(host));
	record_sample(record, &metrics[SLAB], "all", now, (double)slab_pages(host) * PAGE_SIZE);
	for (int class = 0; class < NR_STRUCTURE_CLASSES; class ++)
		record_sample(record, &metrics[LIVE], structure_class_names[class], now,
			      (double)host->ledger->live[class]);
	for (int i = 0; i < NR_LEDGER_OBJECTS; i++)
		record_sample(record, &metrics[LIVE], ledger_objects[i].name, now,
			      (double)ledger_objects[i].bytes(host));
}

/* The bytes of all cgroups that have structures, once more by what each has. */
static void check(const struct host *host, struct record *record)
{
	uint64_t expected = 0, live = 0;
	struct memcg *m;

	for (uint32_t i = 1; (m = memcg_at(host->cgroups, &i)); i++)
		for (uint32_t k = 0; m->structures && k < nr_structures; k++) {
			const struct structure *s = &structures[k];
			bool has = s->files                        ? m->structures->files
				   : s->class == CLASS_PERCPU_STAT ? m->structures->percpu_stat
								   : true;

			if (has)
				expected += (uint64_t)copies(host, s) * taken(host, s) *
					    (s->percpu ? host->nr_possible : 1);
		}
	for (int class = 0; class < NR_STRUCTURE_CLASSES; class ++)
		live += host->ledger->live[class];
	record_invariant(record, "ledger", live == expected, "%lld bytes in the ledger, cgroups have %lld",
			 (long long)live, (long long)expected);
}

void ledger_finish(struct host *host)
{
	struct record *record = host->run->record;

	check(host, record);
	if (!host->ledger->made)
		return;
	record_summary(record, &metrics[PERCPU], "all", (double)percpu_populated(host));
	record_summary(record, &metrics[PERCPU_LIVE], "all", (double)percpu_live(host));
	record_summary(record, &metrics[SLAB], "all", (double)slab_pages(host) * PAGE_SIZE);
	for (int class = 0; class < NR_STRUCTURE_CLASSES; class ++)
		record_summary(record, &metrics[LIVE], structure_class_names[class],
			       (double)host->ledger->live[class]);
	for (int i = 0; i < NR_LEDGER_OBJECTS; i++)
		record_summary(record, &metrics[LIVE], ledger_objects[i].name,
			       (double)ledger_objects[i].bytes(host));
}

void ledger_check(const struct scenario *s, struct complaints *c)
{
	const struct kernel_memory *boot = scenario_section(s, "kernel_memory");
	const struct host_options *host = scenario_section(s, "host");

	if (boot->percpu >= host->memory)
		complain(c, option_where(boot, "percpu"), "percpu: the host has less memory");
	else if (boot->slab >= host->memory - boot->percpu)
		complain(c, option_where(boot, "slab"), "slab: the host has less memory, beside percpu");
}

void ledger_start(struct host *host)
{
	const struct kernel_memory *boot = scenario_section(host->scenario, "kernel_memory");

	host->ledger->takes_frames = boot->percpu || boot->slab;
	if (host->ledger->takes_frames)
		take_frames(host);
}

void ledger_build(struct host *host)
{
	const struct kernel_memory *boot = scenario_section(host->scenario, "kernel_memory");
	const struct charge_constant *early = host_policy_ops(host, "dying_percpu");

	host->ledger = sim_alloc(host->sim, sizeof *host->ledger);
	host->ledger->early = early->value;
	host->ledger->boot_pages = boot->slab / PAGE_SIZE;
	percpu_build(host, boot->percpu);
}
