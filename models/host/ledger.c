/*
 * ledger.c - structures of cgroups come and go, in per-CPU memory (percpu.c) and in slabs (slab.c). See
 * ledger.h.
 *
 * All that mkdir needs is allocated with GFP_KERNEL, so who makes a cgroup in a machine without memory
 * reclaims, and the OOM killer ends somebody, before it fails with ENOMEM. Then all is given back.
 *
 * A directory and its files have numbers one after another from the file system's index (idr_alloc_cyclic()
 * in __kernfs_new_node()), whose nodes hold 64: who takes the first of a node has it in the ledger, and as
 * the directory keeps its number until the cgroup is freed, so stays the node.
 */
#include "models/host/ledger.h"

#include "models/cgroup/stock.h"
#include "models/host/policies.h"
#include "models/page/page_impl.h"
#include "models/stat/stat.h"
#include "sim/module.h"

#define KERNFS_RCU      609u /* 4207b556e62f: kernfs nodes and their names are freed after a grace period */
#define MOST_FILE_KINDS 8
#define CG_SINCE        514u /* 494c1dfe855e */
#define CSS_SET_BYTES   592u
#define IDR_SLOTS       64u /* of struct xa_node */

struct ledger_state {
	uint64_t live[NR_STRUCTURE_CLASSES]; /* bytes as allocated, per-CPU ones on all possible CPUs */
	uint64_t made;
	uint32_t *taken;     /* bytes of one of each structure in this kernel; 0: there is none */
	uint64_t kernfs_ids; /* given out so far */
	bool early;          /* dying_percpu: released_at_offline */
};

/* ---- the structures of one cgroup ---- */

static uint32_t copies(const struct host *host, const struct structure *s)
{
	return s->count * (s->per_node ? host->nr_nodes : 1);
}

/* What one of it takes: of a percpu one on each CPU. */
static uint32_t taken(const struct host *host, const struct structure *s)
{
	return host->ledger->taken[s - structures];
}

static void count_taken(struct host *host)
{
	host->ledger->taken = sim_alloc(host->sim, nr_structures * sizeof *host->ledger->taken);
	for (uint32_t i = 0; i < nr_structures; i++) {
		uint32_t bytes = structure_bytes(host, &structures[i]);

		host->ledger->taken[i] = structures[i].percpu || !bytes ? bytes : kmalloc_size(bytes);
	}
}

/* obj_full_size(), and for per-CPU memory pcpu_obj_full_size(): with the owners' pointers. */
static uint32_t charged(const struct host *host, const struct structure *s)
{
	uint32_t bytes = taken(host, s);

	return s->percpu ? bytes * host->nr_possible + bytes / 4 * 8 : bytes + OWNER_BYTES;
}

static enum stat_item item_of(const struct structure *s)
{
	return s->percpu ? MEMCG_PERCPU_B : NR_SLAB_UNRECLAIMABLE_B;
}

static bool is_charged(const struct host *host, const struct structure *s)
{
	return s->accounted && host->kernel_version >= 509;
}

/*
 * One structure of one cgroup: count of them, or for each node, come one after another in the order of
 * structures[]. Those that the kernel does not have are passed over.
 */
struct piece {
	const struct structure *s;
	uint32_t copy;  /* of these */
	uint32_t block; /* among the per-CPU ones */
};
#define FIRST_PIECE ((struct piece){ .s = structures })

/* Moves on to the next, from one that was dealt with; false: that was the last. */
static bool next_piece(const struct host *host, struct piece *p, bool dealt_with)
{
	if (dealt_with) {
		p->block += p->s->percpu;
		p->copy++;
	}
	while (p->s < structures + nr_structures) {
		if (p->copy < copies(host, p->s) && taken(host, p->s))
			return true;
		p->s++;
		p->copy = 0;
	}
	return false;
}

static bool same_piece(const struct piece *a, const struct piece *b)
{
	return a->s == b->s && a->copy == b->copy;
}

/* kmalloc_node(): what each node has lies there, all else where the cgroup was made. */
static uint32_t node_of(const struct memcg_structures *ms, const struct piece *p)
{
	return p->s->per_node && !p->s->percpu ? p->copy / p->s->count : ms->node;
}

/* ---- what is charged ---- */

static void uncharge(struct task *t, const struct host *host, const struct memcg_structures *ms,
		     const struct piece *p)
{
	if (is_charged(host, p->s))
		object_uncharge(t, ms->owner, node_of(ms, p), item_of(p->s), charged(host, p->s));
}

/* end NULL: all. */
static void uncharge_until(struct task *t, const struct host *host, const struct memcg_structures *ms,
			   const struct piece *end)
{
	struct piece p = FIRST_PIECE;

	for (bool more = next_piece(host, &p, false); more && !(end && same_piece(&p, end));
	     more = next_piece(host, &p, true))
		uncharge(t, host, ms, &p);
}

/* False: a limit is in the way; what was charged so far is not any more. */
static bool charge_all(struct task *t, struct memcg *parent, const struct memcg_structures *ms)
{
	const struct host *host = parent->host;
	struct piece p = FIRST_PIECE;

	for (bool more = next_piece(host, &p, false); more; more = next_piece(host, &p, true)) {
		if (!is_charged(host, p.s))
			continue;
		task_sync(t);
		if (object_charge(t, parent, node_of(ms, &p), item_of(p.s), charged(host, p.s), NULL))
			continue;
		uncharge_until(t, host, ms, &p);
		return false;
	}
	return true;
}

/* ---- what is taken ---- */

static uint32_t slab_of(const struct host *host, const struct structure *s)
{
	return taken(host, s) | (s->accounted && host->kernel_version >= CG_SINCE ? SLAB_CG : 0);
}

static bool take(struct task *t, struct host *host, struct memcg_structures *ms, const struct piece *p)
{
	uint32_t bytes = taken(host, p->s);

	task_sync(t);
	return p->s->percpu ? percpu_alloc(t, host, bytes, &ms->percpu[p->block])
			    : slab_get(t, host, node_of(ms, p), slab_of(host, p->s));
}

static void give(struct host *host, struct memcg_structures *ms, const struct piece *p)
{
	if (p->s->percpu)
		percpu_free(host, &ms->percpu[p->block]);
	else
		slab_put(host, node_of(ms, p), slab_of(host, p->s));
}

/* All, or none. */
static bool take_all(struct task *t, struct host *host, struct memcg_structures *ms)
{
	struct piece p = FIRST_PIECE, q = FIRST_PIECE;

	for (bool more = next_piece(host, &p, false); more; more = next_piece(host, &p, true)) {
		if (take(t, host, ms, &p))
			continue;
		for (next_piece(host, &q, false); !same_piece(&q, &p); next_piece(host, &q, true))
			give(host, ms, &q);
		return false;
	}
	return true;
}

/* Where there is no memory for the node the kernel would fail; here the directory is there without it. */
static void take_ids(struct task *t, struct host *host, struct memcg_structures *ms)
{
	uint64_t before = host->ledger->kernfs_ids, after = before + kernfs_ids(host);

	host->ledger->kernfs_ids = after;
	if ((before + IDR_SLOTS - 1) / IDR_SLOTS != (after + IDR_SLOTS - 1) / IDR_SLOTS)
		ms->idr_nodes = slab_get(t, host, ms->node, XA_NODE_BYTES);
}

static uint64_t size_of(const struct host *host, const struct structure *s)
{
	return (uint64_t)taken(host, s) * (s->percpu ? host->nr_possible : 1);
}

static void count_live(struct host *host)
{
	struct piece p = FIRST_PIECE;

	host->ledger->made++;
	for (bool more = next_piece(host, &p, false); more; more = next_piece(host, &p, true))
		host->ledger->live[p.s->class] += size_of(host, p.s);
}

static uint32_t percpu_blocks(const struct host *host)
{
	struct piece p = FIRST_PIECE;

	for (bool more = next_piece(host, &p, false); more;)
		more = next_piece(host, &p, true);
	return p.block;
}

static void free_structures(struct host *host, struct memcg_structures *ms)
{
	sim_free(host->sim, ms, sizeof *ms + ms->nr_percpu * sizeof ms->percpu[0]);
}

/* A charge or an allocation may wait, and the run end meanwhile: the cgroup has them when all are there. */
enum cgroup_error ledger_make(struct task *t, struct memcg *m)
{
	struct host *host = m->host;
	uint32_t nr = percpu_blocks(host);
	struct memcg_structures *ms = sim_alloc(host->sim, sizeof *ms + nr * sizeof ms->percpu[0]);
	enum cgroup_error error = CGROUP_LIMITED;

	*ms = (struct memcg_structures){ .owner = m->parent->objcg->id,
					 .nr_percpu = nr,
					 .node = t->cpu->node };
	if (charge_all(t, m->parent, ms)) {
		error = take_all(t, host, ms) ? CGROUP_OK : CGROUP_NO_PAGE;
		task_sync(t);
		if (error != CGROUP_OK)
			uncharge_until(t, host, ms, NULL);
	}
	task_sync(t);
	if (error == CGROUP_OK) {
		take_ids(t, host, ms);
		m->structures = ms;
		count_live(host);
	} else {
		free_structures(host, ms);
	}
	return error;
}

static enum structure_end end_of(const struct structure *s)
{
	return s->class == CLASS_PERCPU_STAT ? AT_RELEASE : (enum structure_end)s->goes;
}

/* Those that go at that point, if they have not. */
static void give_those(struct memcg *m, enum structure_end end)
{
	struct piece p = FIRST_PIECE;

	if (m->structures->gone[end])
		return;
	for (bool more = next_piece(m->host, &p, false); more; more = next_piece(m->host, &p, true))
		if (end_of(p.s) == end) {
			give(m->host, m->structures, &p);
			m->host->ledger->live[p.s->class] -= size_of(m->host, p.s);
		}
	m->structures->gone[end] = true;
}

bool ledger_populate(struct task *t, struct memcg *m)
{
	struct memcg_structures *ms = m->structures;

	if (ms && !ms->css_set)
		ms->css_set = slab_get(t, m->host, ms->node, kmalloc_size(CSS_SET_BYTES));
	return !ms || ms->css_set;
}

void ledger_depopulate(struct task *t, struct memcg *m)
{
	struct memcg_structures *ms = m->structures;

	if (!ms || !ms->css_set)
		return;
	ms->css_set = false;
	slab_kvfree_rcu(t, m->host, ms->node, kmalloc_size(CSS_SET_BYTES));
}

/* The same for those that go with the directory, where they stay for a grace period. */
static void give_files_late(struct memcg *m)
{
	struct late_objects late[MOST_FILE_KINDS];
	uint32_t nr = 0;

	for (const struct structure *s = structures; s < structures + nr_structures; s++) {
		if (s->goes != AT_RMDIR || !taken(m->host, s))
			continue;
		assert(nr < MOST_FILE_KINDS);
		late[nr++] = (struct late_objects){ m->structures->node, taken(m->host, s), s->count };
		m->host->ledger->live[s->class] -= s->count * size_of(m->host, s);
	}
	slab_put_rcu(m->host, late, nr);
	m->structures->gone[AT_RMDIR] = true;
}

void ledger_rmdir(struct task *t, struct memcg *m)
{
	if (!m->structures)
		return;
	ledger_depopulate(t, m);
	if (m->host->kernel_version < KERNFS_RCU)
		give_those(m, AT_RMDIR);
	else
		give_files_late(m);
}

void ledger_offline(struct memcg *m)
{
	if (m->structures)
		give_those(m, AT_OFFLINE);
}

static void uncharge_those(struct task *t, struct memcg *m, enum structure_end end)
{
	struct piece p = FIRST_PIECE;

	if (m->structures->gone[end])
		return;
	for (bool more = next_piece(m->host, &p, false); more; more = next_piece(m->host, &p, true))
		if (end_of(p.s) == end)
			uncharge(t, m->host, m->structures, &p);
}

bool ledger_releases_early(const struct memcg *m)
{
	return m->host->ledger->early && m->structures;
}

void ledger_release_percpu(struct task *t, struct memcg *m)
{
	uncharge_those(t, m, AT_RELEASE);
	task_sync(t);
	give_those(m, AT_RELEASE);
}

void ledger_free(struct task *t, struct memcg *m)
{
	struct memcg_structures *ms = m->structures;

	if (!ms)
		return;
	for (enum structure_end end = 0; end < NR_STRUCTURE_ENDS; end++)
		uncharge_those(t, m, end);
	task_sync(t);
	for (enum structure_end end = 0; end < NR_STRUCTURE_ENDS; end++)
		give_those(m, end);
	if (ms->idr_nodes)
		slab_put(m->host, ms->node, XA_NODE_BYTES);
	free_structures(m->host, ms);
	m->structures = NULL;
}

/* ---- results ---- */

enum { PERCPU, SLAB, PERCPU_LIVE, LIVE };

static const struct metric metrics[] = {
	[PERCPU] = { "meminfo.Percpu", "bytes", METRIC_GAUGE,
		     "populated pages of per-CPU memory, of all possible CPUs" },
	[SLAB] = { "meminfo.Slab", "bytes", METRIC_GAUGE,
		   "whole slabs: of objects that are modelled, and what the machine had at boot" },
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
	struct option_list caches;
};

static const struct option rows[] = {
	OPTION(struct kernel_memory, percpu, OPT_BYTES, .fallback = "0",
	       .help = "meminfo.Percpu before the run, of all CPUs; the scenario's own cgroups are in it"),
	OPTION(struct kernel_memory, slab, OPT_BYTES, .fallback = "0",
	       .help = "meminfo.Slab before the run, likewise, and beside `caches`"),
	OPTION(struct kernel_memory, caches, OPT_LIST, .sub = &slab_options,
	       .help = "slab caches that are not empty before the run"),
};
static const struct option_table kernel_memory_options = OPTION_TABLE("kernel_memory", struct kernel_memory,
								      rows);

MODULE(kernel_memory_section) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "kernel_memory",
	.help = "page frames of the kernel's own before the run; what it makes during the run it takes then",
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

			if (!m->structures->gone[end_of(s)])
				expected += copies(host, s) * size_of(host, s);
		}
	for (int class = 0; class < NR_STRUCTURE_CLASSES; class ++)
		live += host->ledger->live[class];
	record_invariant(record, "ledger", live == expected, "%lld bytes in the ledger, cgroups have %lld",
			 (long long)live, (long long)expected);
	/* More: page tables; and who is about to have a slab, and waits for the rest of its pages. */
	uint64_t pages = slab_pages(host) + percpu_populated(host) / PAGE_SIZE;

	record_invariant(record, "ledger", host->pages->nr_kernel >= pages,
			 "the kernel has %lld frames, for %lld pages", (long long)host->pages->nr_kernel,
			 (long long)pages);
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
	else if (slab_boot_bytes(&boot->caches) >= host->memory - boot->percpu - boot->slab)
		complain(c, option_where(boot, "caches"),
			 "caches: the host has less memory, beside percpu and slab");
}

void ledger_start(struct host *host)
{
	slab_start(host);
	percpu_start(host);
}

void ledger_build(struct host *host)
{
	const struct kernel_memory *boot = scenario_section(host->scenario, "kernel_memory");
	const struct charge_constant *early = host_policy_ops(host, "dying_percpu");

	host->ledger = sim_alloc(host->sim, sizeof *host->ledger);
	host->ledger->early = early->value;
	count_taken(host);
	slab_build(host, boot->slab, &boot->caches);
	percpu_build(host, boot->percpu);
}
