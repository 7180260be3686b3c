/*
 * cgroup_loop.c - a shell that makes cgroups one after another, does something in each, and removes it; then
 * what it takes to be rid of them. The script of seed 4, and E4 and E12 of the counts from real kernels.
 *
 * The task stays in its own cgroup but for the moment of `mode`. Under a parent that it makes first, it makes
 * N cgroups, in rounds that grow: N/100 and N/10 of them before N, as the measurements did, which is why room
 * left by an earlier round is used again by the next. After the loop come the stages, each of which ends with
 * a look at the counts:
 *
 *	after, synced, reclaim_half, reclaim_all, reread, drop1, drop2, touch_half, unlinked, end
 *
 * reclaim_half and reclaim_all write to the parent's memory.reclaim: half of the pages there are, and many
 * times of all. The latter fails in the end, and has then been through all priorities, at which the shrinkers
 * of inodes have freed every unused one.
 *
 * Pages lie in one file, one beside the other, where the measurements had a file each; inodes, dentries and
 * buffer heads are charged as such (made_files.h). Metrics of a stage: entity NAME/N/STAGE.
 */
#include <stdio.h>

#include "models/cgroup/life.h"
#include "models/cgroup/options.h"
#include "models/cgroup/stock.h"
#include "models/fs/vfs.h"
#include "models/host/costs.h"
#include "models/host/ledger.h"
#include "models/page/page_impl.h"
#include "models/workload/made_files.h"
#include "models/workload/workload.h"
#include "sim/module.h"

enum mode {
	MODE_NONE,
	MODE_LIVE,
	MODE_READ,
	MODE_CACHE,
	MODE_ANON,
	MODE_SWAP,
	MODE_SHARED,
	MODE_MMAP,
	MODE_TMPFS,
	MODE_SOCKET
};

static const struct enum_name mode_names[] = {
	{ "none", MODE_NONE, "nothing" },
	{ "live", MODE_LIVE, "nothing, and the cgroup is not removed" },
	{ "read", MODE_READ, "a page of a file is read" },
	{ "cache", MODE_CACHE, "a file is made and a page of it written" },
	{ "anon", MODE_ANON, "a page of anonymous memory is touched, and stays mapped" },
	{ "swap", MODE_SWAP, "the same, and it is swapped out" },
	{ "sharedread", MODE_SHARED, "a page is read, and read again by a live cgroup" },
	{ "sharedmmap", MODE_MMAP, "a page of a mapped file is touched, and stays mapped" },
	{ "tmpfs", MODE_TMPFS, "a page of tmpfs is written" },
	{ "socket", MODE_SOCKET, "a socket is opened, and stays open" },
	{ NULL, 0, NULL },
};

struct cgroup_loop {
	uint32_t cgroups, rounds;
	int mode, first;
	sim_time_t settle, pause;
	struct dist create;
	struct made_files_disk disk;
	bool stages;
};

static const struct option rows[] = {
	OPTION(struct cgroup_loop, cgroups, OPT_U32, .fallback = "1000", .min = "1", .max = "1M",
	       .help = "N: how many cgroups in the last round"),
	OPTION(struct cgroup_loop, rounds, OPT_U32, .fallback = "1", .min = "1", .max = "3",
	       .help = "rounds, each of ten times as many cgroups as the one before"),
	OPTION(struct cgroup_loop, mode, OPT_ENUM, .names = mode_names, .fallback = "cache",
	       .help = "what is done in each"),
	OPTION(struct cgroup_loop, first, OPT_ENUM, .names = mode_names, .fallback = "none",
	       .help = "what all rounds are done with before, unseen: its cgroups leave room behind"),
	OPTION(struct cgroup_loop, settle, OPT_DURATION, .fallback = "300ms", .help = "pause before a look"),
	OPTION(struct cgroup_loop, pause, OPT_DURATION, .fallback = "0s",
	       .help = "in each cgroup, beside the work: a shell that starts a program takes milliseconds"),
	OPTION(struct cgroup_loop, create, OPT_DIST_DURATION, .fallback = "0s",
	       .help = "from when a file is made to the write to it"),
	OPTION_AS("blocks", struct cgroup_loop, disk.blocks, OPT_U32, .fallback = "0", .max = "1M",
		  .help = "blocks of the disk that making the first file reads"),
	OPTION_AS(
		"blocks_from", struct cgroup_loop, disk.from, OPT_U32, .fallback = "0",
		.help = "where there are any, the file that needs another, as each sixteenth after it does"),
	OPTION(struct cgroup_loop, stages, OPT_BOOL, .fallback = "true",
	       .help = "the stages after the loop; without, all stays as it is"),
};
static const struct option_table options = OPTION_TABLE("cgroup_loop", struct cgroup_loop, rows);

enum {
	DYING,
	PAR_DYING,
	ANON,
	FILE_PAGES,
	SWAP,
	PERCPU_B,
	SLAB_B,
	KERNEL_B,
	D_PERCPU,
	D_SLAB,
	A_PERCPU,
	A_SLAB,
	A_KERNEL,
	LOCAL_FILE,
	CHILD_FILE
};

static const struct metric metrics[] = {
	[DYING] = { "cgroup_loop.nr_dying", "1", METRIC_GAUGE, "nr_dying_descendants of the root" },
	[PAR_DYING] = { "cgroup_loop.par_dying", "1", METRIC_GAUGE, "nr_dying_descendants of the parent" },
	[ANON] = { "cgroup_loop.anon", "pages", METRIC_GAUGE, "memory.stat of the parent" },
	[FILE_PAGES] = { "cgroup_loop.file", "pages", METRIC_GAUGE, "memory.stat of the parent" },
	[SWAP] = { "cgroup_loop.swap", "pages", METRIC_GAUGE, "memory.swap.current of the parent" },
	[PERCPU_B] = { "cgroup_loop.percpu", "bytes", METRIC_GAUGE, "memory.stat of the parent" },
	[SLAB_B] = { "cgroup_loop.slab", "bytes", METRIC_GAUGE, "memory.stat of the parent" },
	[KERNEL_B] = { "cgroup_loop.kernel", "bytes", METRIC_GAUGE, "memory.stat of the parent" },
	[D_PERCPU] = { "cgroup_loop.d_Percpu", "bytes", METRIC_GAUGE,
		       "meminfo.Percpu since the start of the round, per cgroup" },
	[D_SLAB] = { "cgroup_loop.d_Slab", "bytes", METRIC_GAUGE, "meminfo.Slab, likewise" },
	[A_PERCPU] = { "cgroup_loop.acct_percpu", "bytes", METRIC_GAUGE,
		       "the parent's memory.stat percpu, likewise" },
	[A_SLAB] = { "cgroup_loop.acct_slab", "bytes", METRIC_GAUGE, "and slab" },
	[A_KERNEL] = { "cgroup_loop.acct_kernel", "bytes", METRIC_GAUGE, "and kernel" },
	[LOCAL_FILE] = { "cgroup_loop.local_file", "pages", METRIC_GAUGE,
			 "file pages that the parent counts for itself, without children" },
	[CHILD_FILE] = { "cgroup_loop.children_file", "pages", METRIC_GAUGE,
			 "file pages that its children count for themselves, dying ones included" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(cgroup_loop_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "cgroup_loop",
	.help = "cgroups made and removed in a loop, stage by stage",
	.ops = &table,
};

struct loop {
	struct task *t;
	struct workload_task *w;
	const struct cgroup_loop *o;
	struct memcg *parent, *live;
	struct file_object *file;
	struct anon_object *anon;
	struct tmpfs_object *tmpfs;
	struct made_files *files;
	struct memcg **sockets;
	struct stream creates;
	uint32_t nr;       /* in this round */
	uint32_t negative; /* dentries of directories that were removed */
	uint32_t node;     /* whose slabs have them */
	enum mode mode;
	bool seen; /* looks are recorded */
	double before[5];
};

/* ---- looking ---- */

static double meminfo(const struct host *host, int which)
{
	return which == D_PERCPU ? (double)percpu_populated(host) : (double)slab_pages(host) * PAGE_SIZE;
}

static double accounted(const struct memcg *m, int which)
{
	if (which == A_PERCPU)
		return (double)stat_truth(m, MEMCG_PERCPU_B);
	if (which == A_KERNEL)
		return (double)stat_truth(m, MEMCG_KMEM) * PAGE_SIZE;
	return (double)(stat_truth(m, NR_SLAB_RECLAIMABLE_B) + stat_truth(m, NR_SLAB_UNRECLAIMABLE_B));
}

static double seen(const struct loop *l, int which)
{
	return which <= D_SLAB ? meminfo(l->w->host, which) : accounted(l->parent, which);
}

static double children_file(const struct memcg *m)
{
	double sum = 0;

	for (const struct memcg *c = m->first_child; c; c = c->next_sibling)
		sum += (double)stat_local(c, NR_FILE_PAGES);
	return sum;
}

static void look(struct loop *l, const char *stage)
{
	struct record *record = l->w->host->run->record;
	const struct memcg *p = l->parent;
	char entity[256];

	task_sleep(l->t, l->o->settle);
	cpu_stat_read(l->t, l->parent); /* flushes */
	task_sync(l->t);
	if (!l->seen)
		return;
	snprintf(entity, sizeof entity, "%s/%u/%s", l->w->label, l->nr, stage);
	record_summary(record, &metrics[DYING], entity, l->w->host->cgroups->root->nr_dying_descendants);
	record_summary(record, &metrics[PAR_DYING], entity, p->nr_dying_descendants);
	record_summary(record, &metrics[ANON], entity, (double)stat_truth(p, NR_ANON_MAPPED));
	record_summary(record, &metrics[FILE_PAGES], entity, (double)stat_truth(p, NR_FILE_PAGES));
	record_summary(record, &metrics[SWAP], entity, (double)p->swap.usage);
	record_summary(record, &metrics[PERCPU_B], entity, accounted(p, A_PERCPU));
	record_summary(record, &metrics[SLAB_B], entity, accounted(p, A_SLAB));
	record_summary(record, &metrics[KERNEL_B], entity, accounted(p, A_KERNEL));
	record_summary(record, &metrics[LOCAL_FILE], entity, (double)stat_local(p, NR_FILE_PAGES));
	record_summary(record, &metrics[CHILD_FILE], entity, children_file(p));
	for (int which = D_PERCPU; which <= A_KERNEL; which++)
		record_summary(record, &metrics[which], entity,
			       (seen(l, which) - l->before[which - D_PERCPU]) / l->nr);
}

/* ---- what is done in a cgroup ---- */

static bool touch_anon(struct loop *l, uint32_t i, struct memcg *m)
{
	struct memcg *failed;
	bool done;

	page_object_move((struct page_object *)l->anon, m);
	done = anon_touch(l->t, l->anon, i, &failed);
	for (int tries = 0; done && l->mode == MODE_SWAP && !m->nr_swap && tries < 20; tries++) {
		memcg_proactive_reclaim(l->t, m, 8);
		task_sync(l->t);
	}
	page_object_move((struct page_object *)l->anon, l->w->memcg);
	return done;
}

static bool do_mode(struct loop *l, uint32_t i, struct memcg *m)
{
	struct page_object *mapped = &l->file->object;
	struct memcg *failed;
	bool done = true;

	switch (l->mode) {
	case MODE_NONE:
	case MODE_LIVE:
		break;
	case MODE_READ:
	case MODE_SHARED:
		return file_read(l->t, m, l->file, i, &failed) != FILE_NOMEM;
	case MODE_CACHE:
		done = made_files_make(l->t, l->files, i, m,
				       (sim_time_t)dist_draw(&l->o->create, &l->creates)) &&
		       file_write(l->t, m, l->file, i, &failed) != FILE_NOMEM;
		if (done)
			made_files_dirty(l->t, l->files, i, m);
		break;
	case MODE_ANON:
	case MODE_SWAP:
		return touch_anon(l, i, m);
	case MODE_MMAP:
		page_object_move(mapped, m);
		done = file_touch(l->t, m, l->file, i, &failed) != FILE_NOMEM;
		page_object_move(mapped, l->w->memcg);
		break;
	case MODE_TMPFS:
		return tmpfs_write(l->t, m, l->tmpfs, i, &failed) != FILE_NOMEM;
	case MODE_SOCKET:
		task_sync(l->t);
		if (memcg_tryget(m))
			l->sockets[i] = m;
		break;
	}
	return done;
}

static void remove_one(struct loop *l, struct memcg *m)
{
	cgroup_rmdir(l->t, m);
	task_sync(l->t);
	l->negative += slab_get(l->t, l->w->host, l->node, DENTRY_BYTES);
	task_sync(l->t);
	memcg_put(l->t, m);
}

static void forget_directories(struct loop *l)
{
	task_sync(l->t);
	for (; l->negative; l->negative--)
		slab_put(l->w->host, l->node, DENTRY_BYTES);
}

static bool one_life(struct loop *l, uint32_t i)
{
	struct memcg *m;
	char name[16];
	bool done;

	snprintf(name, sizeof name, "%u", i);
	if (cgroup_mkdir(l->t, l->parent, name, &m) != CGROUP_OK)
		return false;
	l->w->ops++;
	task_sync(l->t);
	if (l->mode == MODE_LIVE) {
		memcg_put(l->t, m);
		return true;
	}
	done = workload_leave_for(l->t, l->w, m) && do_mode(l, i, m);
	if (l->o->pause)
		task_sleep(l->t, l->o->pause);
	task_sync(l->t);
	done = made_files_look_up(l->t, l->files, m) && done;
	workload_come_home(l->t, l->w);
	remove_one(l, m);
	return done;
}

/* ---- stages ---- */

static void read_all(struct loop *l, uint32_t nr)
{
	struct memcg *failed;

	if (!workload_leave_for(l->t, l->w, l->live)) {
		workload_come_home(l->t, l->w);
		return;
	}
	for (uint32_t i = 0; i < nr; i++)
		if (l->mode == MODE_MMAP) {
			page_object_move(&l->file->object, l->live);
			file_touch(l->t, l->live, l->file, i, &failed);
		} else if (l->mode == MODE_SHARED) {
			file_read(l->t, l->live, l->file, i, &failed);
		} else {
			page_object_move((struct page_object *)l->anon, l->live);
			anon_touch(l->t, l->anon, i, &failed);
		}
	if (l->file->object.mapping)
		page_object_move(&l->file->object, l->w->memcg);
	page_object_move((struct page_object *)l->anon, l->w->memcg);
	workload_come_home(l->t, l->w);
}

static void remove_live(struct loop *l)
{
	for (struct memcg *m = l->parent->first_child, *next; m; m = next) {
		next = m->next_sibling;
		if (m->life != MEMCG_ONLINE || m == l->live)
			continue;
		memcg_tryget(m);
		cgroup_rmdir(l->t, m);
		task_sync(l->t);
		next = m->next_sibling; /* held, it stays among them */
		memcg_put(l->t, m);
	}
	look(l, "removed");
}

static void reclaim(struct loop *l, uint64_t nr, const char *stage)
{
	if (!memcg_proactive_reclaim(l->t, l->parent, nr))
		made_files_forget(l->t, l->files); /* it came to priority 0 */
	look(l, stage);
}

static void drop_caches(struct loop *l)
{
	file_drop(l->t, l->file, 0, file_size(l->file));
	made_files_drop_blocks(l->t, l->files);
	look(l, "drop1");
	made_files_forget(l->t, l->files);
	forget_directories(l);
	look(l, "drop2");
}

static void let_go(struct loop *l)
{
	anon_unmap(l->t, l->anon);
	file_unmap(l->t, l->file);
	for (uint32_t i = 0; i < l->nr; i++)
		if (l->sockets[i]) {
			task_sync(l->t);
			memcg_put(l->t, l->sockets[i]);
			l->sockets[i] = NULL;
		}
	tmpfs_remove(l->t, l->tmpfs);
	file_drop(l->t, l->file, 0, file_size(l->file));
	look(l, "unlinked");
}

static void stages(struct loop *l)
{
	enum mode mode = l->mode;

	if (mode == MODE_LIVE) {
		remove_live(l);
		return;
	}
	file_sync(l->t, l->file);
	look(l, "synced");
	reclaim(l, l->nr / 2, "reclaim_half");
	reclaim(l, (uint64_t)l->nr * 16, "reclaim_all");
	if (mode == MODE_SHARED || mode == MODE_MMAP) {
		read_all(l, l->nr);
		look(l, "reread");
	}
	drop_caches(l);
	if (mode == MODE_ANON || mode == MODE_SWAP) {
		read_all(l, l->nr / 2);
		look(l, "touch_half");
	}
	let_go(l);
}

static bool round_of(struct loop *l, uint32_t nr)
{
	bool going = true;

	l->nr = nr;
	if (cgroup_mkdir(l->t, l->w->memcg, "pt", &l->parent) != CGROUP_OK ||
	    cgroup_mkdir(l->t, l->parent, "live", &l->live) != CGROUP_OK)
		return false;
	task_sleep(l->t, l->o->settle);
	task_sync(l->t);
	for (int which = D_PERCPU; which <= A_KERNEL; which++)
		l->before[which - D_PERCPU] = seen(l, which);
	for (uint32_t i = 0; going && i < nr; i++)
		going = one_life(l, i);
	if (l->mode == MODE_SHARED)
		read_all(l, nr);
	lru_add_drain_all(l->t);
	look(l, "after");
	if (!l->o->stages)
		return going;
	stages(l);
	remove_one(l, l->live);
	made_files_forget(l->t, l->files);
	remove_one(l, l->parent);
	forget_directories(l);
	task_sleep(l->t, l->o->settle);
	return going;
}

static void rounds(struct loop *l, int mode, bool seen)
{
	uint32_t nr = l->o->cgroups;

	l->mode = (enum mode)mode;
	l->seen = seen;
	for (uint32_t i = 1; i < l->o->rounds; i++)
		nr = nr > 10 ? nr / 10 : 1;
	for (uint32_t i = 0; i < l->o->rounds; i++) {
		if (!round_of(l, i + 1 < l->o->rounds ? nr : l->o->cgroups))
			break;
		nr *= 10;
	}
}

static void run(struct task *t, struct workload_task *w)
{
	const struct cgroup_loop *o = w->own;
	struct host *host = w->host;
	struct loop l = { .t = t, .w = w, .o = o, .node = t->cpu->node };

	task_sync(t);
	l.file = file_create(host, o->cgroups);
	l.anon = anon_create(host, w->memcg, o->cgroups);
	l.tmpfs = tmpfs_create(host, o->cgroups);
	l.files = made_files(host, o->cgroups, &o->disk);
	l.sockets = arena_array(sim_arena(host->sim), o->cgroups, sizeof(*l.sockets));
	stream_init(&l.creates, sim_seed(t->sim), w->name, "create");
	if (o->first != MODE_NONE && o->stages)
		rounds(&l, o->first, false);
	rounds(&l, o->mode, true);
}

static bool ends(const void *own)
{
	(void)own;
	return true;
}

static const struct workload_ops ops = {
	.ends = ends,
	.run = run,
};

MODULE(cgroup_loop) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "cgroup_loop",
	.help = "makes and removes cgroups one after another, and then tries to be rid of them",
	.source = "seed 4, and E4 and E12 of the counts from real kernels",
	.options = &options,
	.ops = &ops,
};
