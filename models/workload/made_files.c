/*
 * made_files.c - see made_files.h.
 */
#include "models/workload/made_files.h"

#include "models/cgroup/life.h"
#include "models/cgroup/stock.h"
#include "models/fs/vfs.h"
#include "models/host/ledger.h"
#include "models/list_lru/list_lru.h"

#define CLEAN_INODES_SWITCH 610u         /* or from anywhere after 6.1 on */
#define TICK                (4 * SIM_MS) /* HZ 250: how fine the times of inodes are */

/* struct bdi_writeback; on each CPU a reference and six counters. */
#define WRITEBACK_BYTES  808u
#define WRITEBACK_PERCPU 32u

#define BUFFER_BYTES 104u

#define LAZY_LISTS 519u /* 5abc1e37afa0 */

struct made_file {
	uint32_t owner;          /* struct obj_cgroup */
	struct memcg *writeback; /* the cgroup whose bdi_writeback it is on; NULL: none that holds it */
	struct percpu_block counters;
	uint32_t node; /* of its slabs */
	bool exists;
};
#define NR_PARTS 3 /* of a file; of what is looked up two */

struct made_files {
	struct host *host;
	uint32_t nr;
	struct made_file looked_up;
	struct made_file file[];
};

struct made_files *made_files(struct host *host, uint32_t nr)
{
	struct made_files *files = arena_alloc(sim_arena(host->sim),
					       sizeof *files + nr * sizeof(struct made_file));

	files->host = host;
	files->nr = nr;
	return files;
}

/* Accounted slab objects of a file: an inode, its dentry and the buffer head of its page. */
static void parts_of_file(const struct host *host, uint32_t bytes[NR_PARTS])
{
	bytes[0] = ext4_inode_bytes(host);
	bytes[1] = DENTRY_BYTES;
	bytes[2] = BUFFER_BYTES;
}

/* Of a file of the cgroup file system: an inode and its dentry. */
static void parts_looked_up(const struct host *host, uint32_t bytes[NR_PARTS])
{
	bytes[0] = host->kernel_version < 610 ? 640 : 632;
	bytes[1] = DENTRY_BYTES;
	bytes[2] = 0;
}

/* The first nr of them. */
static void give_parts(struct task *t, const struct made_file *f, const uint32_t bytes[NR_PARTS], int nr)
{
	for (int k = 0; k < nr && bytes[k]; k++) {
		task_sync(t);
		slab_free(t, f->owner, f->node, NR_SLAB_RECLAIMABLE_B, bytes[k]);
	}
	task_sync(t);
}

/* All, or none. */
static bool take_parts(struct task *t, struct memcg *m, struct made_file *f, const uint32_t bytes[NR_PARTS])
{
	struct made_file made = { .owner = m->objcg->id, .node = t->cpu->node, .exists = true };

	for (int k = 0; k < NR_PARTS && bytes[k]; k++) {
		task_sync(t);
		if (slab_alloc(t, m, made.node, NR_SLAB_RECLAIMABLE_B, bytes[k], NULL))
			continue;
		give_parts(t, &made, bytes, k);
		return false;
	}
	task_sync(t);
	*f = made;
	return true;
}

static void take_writeback(struct task *t, struct host *host, struct made_file *f, struct memcg *m)
{
	if (!memcg_tryget(m))
		return;
	if (!slab_get(t, host, f->node, kmalloc_size(WRITEBACK_BYTES))) {
		memcg_put(t, m);
		return;
	}
	task_sync(t);
	f->writeback = m;
	if (!percpu_alloc(t, host, WRITEBACK_PERCPU, &f->counters))
		f->counters = (struct percpu_block){ 0 };
	task_sync(t);
}

static void put_writeback(struct task *t, struct host *host, struct made_file *f)
{
	slab_put(host, f->node, kmalloc_size(WRITEBACK_BYTES));
	if (f->counters.first)
		percpu_free(host, &f->counters);
	memcg_put(t, f->writeback);
}

/* A dentry and an inode are on lists that the cgroup had not: two struct list_lru_memcg, until offline. */
static void use_lists(struct task *t, struct host *host)
{
	uint32_t node = t->cpu->node, bytes = list_lru_array_bytes(host);

	for (int i = 0; i < 2 && host->kernel_version >= LAZY_LISTS; i++) {
		if (slab_get(t, host, node, bytes))
			slab_kvfree_rcu(t, host, node, bytes);
		task_sync(t);
	}
}

bool made_files_look_up(struct task *t, struct made_files *files, struct memcg *m)
{
	uint32_t bytes[NR_PARTS];

	parts_looked_up(files->host, bytes);
	return files->looked_up.exists || take_parts(t, m, &files->looked_up, bytes);
}

bool made_files_make(struct task *t, struct made_files *files, uint32_t i, struct memcg *m, sim_time_t later)
{
	struct host *host = files->host;
	struct made_file *f = &files->file[i];
	uint32_t bytes[NR_PARTS];
	sim_time_t made;

	parts_of_file(host, bytes);
	if (!take_parts(t, m, f, bytes))
		return false;
	use_lists(t, host);
	made = t->clock;
	cpu_work(t, later);
	task_sync(t);
	if (host->kernel_version < CLEAN_INODES_SWITCH || made / TICK != t->clock / TICK)
		take_writeback(t, host, f, m);
	return true;
}

void made_files_forget(struct task *t, struct made_files *files)
{
	struct host *host = files->host;
	uint32_t bytes[NR_PARTS];

	parts_of_file(host, bytes);
	for (uint32_t i = 0; i < files->nr; i++) {
		struct made_file *f = &files->file[i];

		if (!f->exists)
			continue;
		give_parts(t, f, bytes, NR_PARTS);
		if (f->writeback)
			put_writeback(t, host, f);
		*f = (struct made_file){ 0 };
	}
	parts_looked_up(host, bytes);
	if (files->looked_up.exists)
		give_parts(t, &files->looked_up, bytes, NR_PARTS);
	files->looked_up = (struct made_file){ 0 };
}
