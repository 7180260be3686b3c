/*
 * made_files.c - see made_files.h.
 */
#include "models/workload/made_files.h"

#include "models/backing/backing.h"
#include "models/cgroup/life.h"
#include "models/cgroup/stock.h"
#include "models/fs/vfs.h"
#include "models/host/costs.h"
#include "models/host/ledger.h"
#include "models/list_lru/list_lru.h"
#include "models/page/page.h"
#include "sim/hw/work.h"

#define GROWS_CLEAN 606u         /* a write that makes a file longer leaves the inode to writeback */
#define TICK        (4 * SIM_MS) /* HZ 250: how fine the times of inodes are */

/* struct bdi_writeback; on each CPU a reference and six counters. */
#define WRITEBACK_BYTES  808u
#define WRITEBACK_PERCPU 32u

#define BUFFER_BYTES 104u

#define INODES_A_BLOCK 16u /* of 256 bytes */

#define LAZY_LISTS 519u /* 5abc1e37afa0 */

struct made_file {
	uint32_t owner;          /* struct obj_cgroup */
	struct memcg *writeback; /* the cgroup whose bdi_writeback it is on; NULL: none that holds it */
	struct percpu_block counters;
	uint32_t node; /* of its slabs */
	bool exists;
	bool was_dirty;    /* before its page was */
	bool dirty;        /* I_DIRTY, of any kind */
	uint32_t nr_at_it; /* of two: who writes to it, and who writes it back */
	struct work write;
	struct made_files *files;
};
#define NR_PARTS 3 /* of a file; of what is looked up two */

struct made_files {
	struct host *host;
	struct workqueue *queue; /* bdi_wq */
	const struct made_files_disk *disk;
	struct file_object *blocks; /* of the disk, in the order in which they are read; NULL: none */
	uint64_t nr_blocks;         /* read since they were dropped */
	uint32_t nr;
	struct made_file looked_up;
	struct made_file file[];
};

struct made_files *made_files(struct host *host, uint32_t nr, const struct made_files_disk *disk)
{
	struct made_files *files = arena_alloc(sim_arena(host->sim),
					       sizeof *files + nr * sizeof(struct made_file));

	files->host = host;
	files->queue = workqueue_create(host->sim, "writeback", true, 0);
	files->nr = nr;
	files->disk = disk;
	if (disk->blocks)
		files->blocks = file_create(host, disk->blocks + nr / INODES_A_BLOCK + 1);
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

/* The bdi_writeback stays, and holds the cgroup as its maker has so far. */
static void keep_writeback(struct task *t, struct host *host, struct made_file *f)
{
	if (!slab_get(t, host, f->node, kmalloc_size(WRITEBACK_BYTES))) {
		memcg_put(t, f->writeback);
		f->writeback = NULL;
		return;
	}
	task_sync(t);
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

/* Each is accessed when its page is made (FGP_ACCESSED) and when its buffer is found (touch_buffer()). */
static bool read_blocks(struct task *t, struct made_files *files, uint32_t i, struct memcg *m)
{
	const struct made_files_disk *disk = files->disk;
	uint64_t nr = !i ? disk->blocks : i >= disk->from && (i - disk->from) % INODES_A_BLOCK == 0;

	for (uint64_t k = 0; files->blocks && k < 2 * nr; k++)
		if (file_read(t, m, files->blocks, files->nr_blocks + k / 2, NULL) == FILE_NOMEM)
			return false;
	files->nr_blocks += nr;
	return true;
}

void made_files_drop_blocks(struct task *t, struct made_files *files)
{
	if (files->blocks)
		file_drop(t, files->blocks, 0, file_size(files->blocks));
	files->nr_blocks = 0;
}

bool made_files_make(struct task *t, struct made_files *files, uint32_t i, struct memcg *m, sim_time_t later)
{
	struct host *host = files->host;
	struct made_file *f = &files->file[i];
	uint32_t bytes[NR_PARTS];
	sim_time_t made;

	parts_of_file(host, bytes);
	if (!read_blocks(t, files, i, m))
		return false;
	task_sync(t);
	if (!take_parts(t, m, f, bytes))
		return false;
	use_lists(t, host);
	made = t->clock;
	cpu_work(t, later);
	task_sync(t);
	f->was_dirty = made / TICK != t->clock / TICK;
	return true;
}

/* One of the two is done with it. If it is clean then, the next that goes offline has it switched. */
static void leave(struct task *t, struct made_file *f)
{
	if (--f->nr_at_it)
		return;
	if (f->dirty) {
		keep_writeback(t, f->files->host, f);
	} else {
		memcg_put(t, f->writeback);
		f->writeback = NULL;
	}
}

/* writeback_single_inode(): the page, then all flags that there are by then. */
static void write_back(struct task *t, struct work *work)
{
	struct made_file *f = (struct made_file *)(void *)((char *)work - offsetof(struct made_file, write));

	cpu_work(t, f->files->host->costs->inode_write);
	task_sync(t);
	f->dirty = false;
	leave(t, f);
}

void made_files_dirty(struct task *t, struct made_files *files, uint32_t i, struct memcg *m)
{
	struct host *host = files->host;
	struct made_file *f = &files->file[i];

	task_sync(t);
	if (!memcg_tryget(m))
		return;
	f->writeback = m;
	f->files = files;
	f->dirty = true;
	f->nr_at_it = 1;
	if (!f->was_dirty && !writeback_is_periodic(host)) {
		f->nr_at_it++;
		work_init(&f->write, write_back);
		queue_work_on(host->sim, t, t->cpu->id, files->queue, &f->write);
	}
	if (host->kernel_version < GROWS_CLEAN) {
		might_sleep(t);
		cpu_work(t, host->costs->inode_dirty);
		task_sync(t);
		f->dirty = true;
	}
	task_sync(t);
	leave(t, f);
	task_sync(t);
}

void made_files_forget(struct task *t, struct made_files *files)
{
	struct host *host = files->host;
	uint32_t bytes[NR_PARTS];

	parts_of_file(host, bytes);
	task_sync(t);
	for (uint32_t i = 0; i < files->nr; i++) {
		struct made_file *f = &files->file[i];

		if (!f->exists)
			continue;
		while (f->nr_at_it)
			task_sleep(t, TICK);
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
