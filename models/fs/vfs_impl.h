/*
 * vfs_impl.h - inside of the file-system model.
 */
#ifndef MODELS_FS_VFS_IMPL_H
#define MODELS_FS_VFS_IMPL_H

#include "models/cgroup/stock.h"
#include "models/fs/vfs.h"
#include "models/host/slab.h"
#include "models/page/page_impl.h"

enum vfs_state {
	DENTRY_THERE = 1,
	DENTRY_REFERENCED = 2, /* DCACHE_REFERENCED: used again while on the list */
	INODE_THERE = 4,
	INODE_REFERENCED = 8, /* I_REFERENCED */
	INODE_FREEING = 16,   /* I_FREEING: who opens the file waits until it is gone */
	INODE_LOCKED = 32     /* i_lock is held, by somebody who waits for the list's lock */
};

struct superblock {
	struct host *host;
	const char *name;
	uint32_t inode_bytes;
	struct list_lru dentries, inodes; /* s_dentry_lru, s_inode_lru */
	struct shrinker shrinker;
	struct spinlock inode_list_lock; /* s_inode_list_lock */
	struct vfs_count count;
	struct superblock *next;
};

static inline struct memcg *vfs_owner(const struct host *host, uint32_t objcg)
{
	return objcg_by_id(host, objcg)->memcg;
}

/* ---- inode.c ---- */

/* mapping_shrinkable() */
bool vfs_inode_shrinkable(const struct vfs_file *file);
/* __inode_add_lru(): onto the list, if nothing holds the inode and its mapping lets it go. */
void vfs_inode_unused(struct task *t, struct vfs_file *file, bool rotate);
/* Onto s_inodes, or off. */
void vfs_inode_list(struct task *t, struct superblock *sb);

/* ---- prune.c ---- */

void vfs_shrinker_build(struct superblock *sb);

#endif
