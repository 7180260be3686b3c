/*
 * vfs.c - files are looked at, opened and closed, after d_alloc_parallel(), dput() and retain_dentry() of
 * fs/dcache.c and iget_locked() of fs/inode.c, Linux 6.1.
 *
 * What an open lacks it makes outside of any lock, charged to its own cgroup; who was not the first gives his
 * back. The last close puts the dentry on its list, where it stays when it is used again (a bit is set
 * instead and looked at by the shrinker): so a file that is read over and over takes the list's lock once.
 *
 * A dentry has 192 bytes on all kernels that are modelled. An inode is its file
 * system's (ext4_inode_bytes()). Left out: directories, negative dentries, hard links, the hash tables and
 * their locks.
 */
#include <string.h>

#include "models/fs/vfs_impl.h"

#include "sim/module.h"
#include "sim/results/record.h"

enum { DENTRIES, INODES, DENTRIES_FREED, INODES_FREED };

static const struct metric metrics[] = {
	[DENTRIES] = { "fs.dentries", "1", METRIC_GAUGE, "dentries of a superblock that are in memory" },
	[INODES] = { "fs.inodes", "1", METRIC_GAUGE, "inodes of a superblock that are in memory" },
	[DENTRIES_FREED] = { "fs.dentries_freed", "1", METRIC_COUNTER, "dentries that its shrinker freed" },
	[INODES_FREED] = { "fs.inodes_freed", "1", METRIC_COUNTER, "inodes that its shrinker freed" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(fs_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "fs",
	.help = "inodes and dentries of each superblock",
	.ops = &table,
};

/* ---- superblocks ---- */

struct superblock *vfs_superblock(struct host *host, const char *name, uint32_t inode_bytes)
{
	struct superblock *sb = host->superblocks;

	for (; sb; sb = sb->next)
		if (!strcmp(sb->name, name))
			return sb;
	sb = sim_alloc(host->sim, sizeof *sb);
	sb->host = host;
	sb->name = name;
	sb->inode_bytes = inode_bytes;
	sb->next = host->superblocks;
	host->superblocks = sb;
	spin_lock_init(&sb->inode_list_lock, lock_class(host->sim, "&sb->s_inode_list_lock"));
	vfs_shrinker_build(sb);
	list_lru_init(&sb->dentries, host, "s_dentry_lru", &sb->shrinker);
	list_lru_init(&sb->inodes, host, "s_inode_lru", &sb->shrinker);
	return sb;
}

static void emptied(struct task *t, struct file_object *pages)
{
	vfs_inode_unused(t, pages->inode, false);
}

struct vfs_file *vfs_files(struct superblock *sb, uint64_t nr, uint64_t pages, struct disk *disk)
{
	struct vfs_file *files = arena_array(sim_arena(sb->host->sim), nr, sizeof *files);

	for (uint64_t i = 0; i < nr; i++) {
		files[i].sb = sb;
		files[i].pages = file_create(sb->host, pages);
		files[i].pages->inode = &files[i];
		files[i].pages->emptied = emptied;
		if (disk)
			file_place(files[i].pages, disk);
	}
	return files;
}

const struct vfs_count *vfs_counted(const struct superblock *sb)
{
	return &sb->count;
}

/* ---- bringing in ---- */

static void give_back(struct task *t, const struct memcg *m, uint32_t node, uint32_t bytes)
{
	slab_free(t, m->objcg->id, node, NR_SLAB_RECLAIMABLE_B, bytes);
	task_sync(t);
}

/* kmem_cache_alloc_lru(): the memcg has lists for it before it has the object. */
static bool allocate(struct task *t, struct list_lru *lru, struct memcg *m, uint32_t node, uint32_t bytes,
		     struct memcg **failed)
{
	if (failed)
		*failed = NULL;
	task_sync(t);
	bool made = list_lru_prepare(t, lru, m) &&
		    slab_alloc(t, m, node, NR_SLAB_RECLAIMABLE_B, bytes, failed);

	task_sync(t);
	return made;
}

static bool make_inode(struct task *t, struct memcg *m, struct vfs_file *file, struct memcg **failed)
{
	struct superblock *sb = file->sb;
	uint32_t node = t->cpu->node;

	if (!allocate(t, &sb->inodes, m, node, sb->inode_bytes, failed))
		return false;
	while (file->state & INODE_FREEING)
		task_sleep(t, SIM_US);
	task_sync(t);
	if (file->state & INODE_THERE) {
		give_back(t, m, node, sb->inode_bytes);
		return true;
	}
	file->state |= INODE_THERE;
	file->inode_objcg = m->objcg->id;
	file->inode_node = (uint16_t)node;
	sb->count.inodes++;
	sb->count.inodes_made++;
	cpu_work(t, sb->host->costs->inode_read);
	vfs_inode_list(t, sb);
	return true;
}

static bool make_dentry(struct task *t, struct memcg *m, struct vfs_file *file, struct memcg **failed)
{
	struct superblock *sb = file->sb;
	uint32_t node = t->cpu->node;

	if (!allocate(t, &sb->dentries, m, node, DENTRY_BYTES, failed))
		return false;
	if (file->state & DENTRY_THERE) {
		give_back(t, m, node, DENTRY_BYTES);
		return true;
	}
	file->state |= DENTRY_THERE;
	file->dentry_objcg = m->objcg->id;
	file->dentry_node = (uint16_t)node;
	sb->count.dentries++;
	sb->count.dentries_made++;
	return true;
}

/* A reference to the dentry, which is brought in if it has to. */
static bool look_up(struct task *t, struct memcg *m, struct vfs_file *file, struct memcg **failed)
{
	task_sync(t);
	/* The dentry holds the inode, and whoever is opening holds the dentry. */
	file->opens++;
	while ((file->state & (DENTRY_THERE | INODE_THERE)) != (DENTRY_THERE | INODE_THERE) ||
	       file->state & INODE_FREEING) {
		bool made = file->state & DENTRY_THERE ? make_inode(t, m, file, failed)
						       : make_dentry(t, m, file, failed);

		task_sync(t);
		if (made)
			continue;
		vfs_close(t, file);
		return false;
	}
	return true;
}

bool vfs_open(struct task *t, struct memcg *m, struct vfs_file *file, struct memcg **failed)
{
	cpu_work(t, file->sb->host->costs->path_lookup);
	return look_up(t, m, file, failed);
}

bool vfs_stat(struct task *t, struct memcg *m, struct vfs_file *file, struct memcg **failed)
{
	cpu_work(t, file->sb->host->costs->path_stat);
	if (!look_up(t, m, file, failed))
		return false;
	vfs_close(t, file);
	return true;
}

void vfs_close(struct task *t, struct vfs_file *file)
{
	struct superblock *sb = file->sb;

	task_sync(t);
	if (--file->opens || !(file->state & DENTRY_THERE))
		return;
	if (list_lru_listed(&file->dentry))
		file->state |= DENTRY_REFERENCED;
	else
		list_lru_add(t, &sb->dentries, &file->dentry, file->dentry_node,
			     vfs_owner(sb->host, file->dentry_objcg));
	task_sync(t);
}

/* ---- results ---- */

void vfs_finish(struct host *host)
{
	struct record *record = host->run->record;

	for (const struct superblock *sb = host->superblocks; sb; sb = sb->next) {
		const struct vfs_count *c = &sb->count;

		record_summary(record, &metrics[DENTRIES], sb->name, (double)c->dentries);
		record_summary(record, &metrics[INODES], sb->name, (double)c->inodes);
		record_summary(record, &metrics[DENTRIES_FREED], sb->name, (double)c->dentries_freed);
		record_summary(record, &metrics[INODES_FREED], sb->name, (double)c->inodes_freed);
		record_invariant(record, "dentries and inodes",
				 c->dentries_made - c->dentries_freed == c->dentries &&
					 c->inodes_made - c->inodes_freed == c->inodes,
				 "%s: %lld and %lld made, %lld and %lld freed, %lld and %lld there", sb->name,
				 (long long)c->dentries_made, (long long)c->inodes_made,
				 (long long)c->dentries_freed, (long long)c->inodes_freed,
				 (long long)c->dentries, (long long)c->inodes);
	}
}
