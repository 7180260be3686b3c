/*
 * vfs.h - file systems as memory management sees them: superblocks with their inodes and dentries.
 *
 * A file that is opened has a dentry and an inode in memory, objects of slab caches that are charged to the
 * cgroup whose task brought them in. They stay when it is closed: the dentry on its superblock's list_lru,
 * the inode held by the dentry. Reclaim calls the superblock's shrinker, which takes dentries first and then
 * the inodes that nothing holds any more. Kernel: fs/dcache.c, fs/inode.c, fs/super.c.
 */
#ifndef MODELS_FS_VFS_H
#define MODELS_FS_VFS_H

#include "models/host/host.h"
#include "models/list_lru/list_lru.h"
#include "models/page/page.h"

#define DENTRY_BYTES 192u

/* As /proc/slabinfo has it; between 6.1 and 6.12 it changes anywhere. */
static inline uint32_t ext4_inode_bytes(const struct host *host)
{
	return host->kernel_version < 610 ? 1192 : 1168;
}

struct superblock;

/* A regular file of one superblock, whether it is in memory or not. */
struct vfs_file {
	struct list_lru_item dentry, inode;
	struct superblock *sb;
	struct file_object *pages;
	uint32_t dentry_objcg, inode_objcg;
	uint32_t opens; /* references to its dentry */
	uint16_t dentry_node, inode_node;
	uint8_t state;
};

/* The one of that name, made at first use: s_dentry_lru, s_inode_lru and a shrinker. */
struct superblock *vfs_superblock(struct host *host, const char *name, uint32_t inode_bytes);
/* nr files of so many pages; they are on the disk, and nothing of them is in memory. */
struct vfs_file *vfs_files(struct superblock *sb, uint64_t nr, uint64_t pages, struct disk *disk);

/* open(2) without the system call's own cost: false: there was no memory, as in file_read(). In a step. */
bool vfs_open(struct task *t, struct memcg *m, struct vfs_file *file, struct memcg **failed);
void vfs_close(struct task *t, struct vfs_file *file);
/* fstatat(2): open and close without a struct file; false as above. */
bool vfs_stat(struct task *t, struct memcg *m, struct vfs_file *file, struct memcg **failed);

/* Of the whole superblock, for tests and metrics. */
struct vfs_count {
	uint64_t dentries, inodes;             /* in memory */
	uint64_t dentries_made, inodes_made;   /* so far */
	uint64_t dentries_freed, inodes_freed; /* by the shrinker */
};
const struct vfs_count *vfs_counted(const struct superblock *sb);

/* Metrics, and that what is in memory is what was made less what was freed. */
void vfs_finish(struct host *host);

#endif
