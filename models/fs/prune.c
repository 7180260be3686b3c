/*
 * prune.c - the shrinker of a superblock, after super_cache_count() and super_cache_scan() of fs/super.c,
 * dentry_lru_isolate() and shrink_dentry_list() of fs/dcache.c, inode_lru_isolate() and dispose_list() of
 * fs/inode.c, Linux 6.1.
 *
 * A call looks at up to 1,024 objects, dentries and inodes in proportion to how many there are, each kind in
 * one walk under the list's lock: nobody else gets at that list meanwhile, nor, with one lock for a node, at
 * any cgroup's. What is taken off is freed afterwards, without the lock. A dentry that was used since the
 * last look goes to the end; one that is open leaves the list until it is closed. An inode whose mapping is
 * not empty has that emptied first, for which the lock is given up.
 */
#include "models/fs/vfs_impl.h"

#define SUPER_BATCH 1024u

static struct vfs_file *file_of_dentry(struct list_lru_item *item)
{
	return (struct vfs_file *)(void *)((char *)item - offsetof(struct vfs_file, dentry));
}

static struct vfs_file *file_of_inode(struct list_lru_item *item)
{
	return (struct vfs_file *)(void *)((char *)item - offsetof(struct vfs_file, inode));
}

/* ---- dentries ---- */

static enum lru_status isolate_dentry(struct task *t, struct list_lru_walk *walk, struct list_lru_item *item)
{
	struct vfs_file *file = file_of_dentry(item);

	cpu_defer(t, file->sb->host->costs->dentry_look);
	if (file->opens) {
		list_lru_isolate(walk, item);
		return LRU_REMOVED;
	}
	if (file->state & DENTRY_REFERENCED) {
		file->state &= (uint8_t)~DENTRY_REFERENCED;
		return LRU_ROTATE;
	}
	list_lru_isolate_move(walk, item, walk->arg);
	return LRU_REMOVED;
}

/* __dentry_kill(), unless somebody opened the file meanwhile. */
static void kill_dentry(struct task *t, struct vfs_file *file)
{
	struct superblock *sb = file->sb;

	if (file->opens)
		return;
	file->state &= (uint8_t) ~(DENTRY_THERE | DENTRY_REFERENCED);
	sb->count.dentries--;
	sb->count.dentries_freed++;
	cpu_defer(t, sb->host->costs->dentry_free);
	slab_free_rcu(t, file->dentry_objcg, file->dentry_node, NR_SLAB_RECLAIMABLE_B, DENTRY_BYTES);
	vfs_inode_unused(t, file, true);
}

static void prune_dcache_sb(struct task *t, struct superblock *sb, struct memcg *m, uint32_t node,
			    uint64_t nr)
{
	struct list_lru_item dispose, *item;

	list_lru_head_init(&dispose);
	list_lru_walk_one(t, &sb->dentries, m, node, isolate_dentry, &dispose, &nr);
	task_sync(t);
	while ((item = list_lru_pop(&dispose))) {
		kill_dentry(t, file_of_dentry(item));
		cond_resched(t);
		task_sync(t);
	}
}

/* ---- inodes ---- */

static enum lru_status isolate_inode(struct task *t, struct list_lru_walk *walk, struct list_lru_item *item)
{
	struct vfs_file *file = file_of_inode(item);

	cpu_defer(t, file->sb->host->costs->inode_look);
	if (file->state & INODE_LOCKED)
		return LRU_SKIP;
	if (file->state & DENTRY_THERE || !vfs_inode_shrinkable(file)) {
		list_lru_isolate(walk, item);
		return LRU_REMOVED;
	}
	if (file->state & INODE_REFERENCED) {
		file->state &= (uint8_t)~INODE_REFERENCED;
		return LRU_ROTATE;
	}
	if (!file_is_empty(file->pages)) {
		spin_unlock(t, walk->lock);
		file_invalidate(t, file->pages);
		file->state |= INODE_REFERENCED; /* iput() finds it on the list */
		return LRU_RETRY;
	}
	file->state |= INODE_FREEING;
	list_lru_isolate_move(walk, item, walk->arg);
	return LRU_REMOVED;
}

/* evict() */
static void free_inode(struct task *t, struct vfs_file *file)
{
	struct superblock *sb = file->sb;

	cpu_work(t, sb->host->costs->inode_free);
	vfs_inode_list(t, sb);
	file->state &= (uint8_t) ~(INODE_THERE | INODE_REFERENCED | INODE_FREEING);
	sb->count.inodes--;
	sb->count.inodes_freed++;
	slab_free_rcu(t, file->inode_objcg, file->inode_node, NR_SLAB_RECLAIMABLE_B, sb->inode_bytes);
}

static void prune_icache_sb(struct task *t, struct superblock *sb, struct memcg *m, uint32_t node,
			    uint64_t nr)
{
	struct list_lru_item dispose, *item;

	list_lru_head_init(&dispose);
	list_lru_walk_one(t, &sb->inodes, m, node, isolate_inode, &dispose, &nr);
	task_sync(t);
	while ((item = list_lru_pop(&dispose))) {
		free_inode(t, file_of_inode(item));
		cond_resched(t);
		task_sync(t);
	}
}

/* ---- the shrinker ---- */

static uint64_t count(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node)
{
	const struct superblock *sb = s->owner;
	uint64_t nr = list_lru_count_one(&sb->dentries, m, node) + list_lru_count_one(&sb->inodes, m, node);

	(void)t;
	return nr ? nr : SHRINK_EMPTY;
}

static void scan(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node, uint64_t nr)
{
	struct superblock *sb = s->owner;

	task_sync(t);
	uint64_t dentries = list_lru_count_one(&sb->dentries, m, node);
	uint64_t inodes = list_lru_count_one(&sb->inodes, m, node), all = dentries + inodes + 1;

	prune_dcache_sb(t, sb, m, node, nr * dentries / all + 1);
	prune_icache_sb(t, sb, m, node, nr * inodes / all + 1);
}

void vfs_shrinker_build(struct superblock *sb)
{
	sb->shrinker = (struct shrinker){
		.name = "sb", .seeks = 2, .batch = SUPER_BATCH, .count = count, .scan = scan, .owner = sb
	};
	shrinker_register(sb->host, &sb->shrinker);
}
