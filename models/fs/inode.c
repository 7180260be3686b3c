/*
 * inode.c - when an inode may be freed: __inode_add_lru() of fs/inode.c and mapping_shrinkable() of
 * include/linux/pagemap.h.
 *
 * Since 5.16 (51b8c1fe250d) an inode that has pages is not on the list: it joins when nothing holds it and
 * the last page or shadow node of its mapping goes. Before, it is there as soon as nothing holds it, and the
 * shrinker drops what pages it has. A file of one page keeps its shadow in the mapping itself, without a node
 * that the shrinker of those could find, and so is on the list with it.
 *
 * i_lock is held from the look at its state until it is on the list, and the shrinker passes over an inode
 * whose i_lock it does not get at once: so none is freed that somebody is about to put on the list.
 *
 * All inodes of a superblock are on one more list (s_inodes), under a lock that every one takes once in its
 * life and once at its end, whoever it is charged to. Its neighbours there are inodes of any task, so their
 * lines come from other CPUs or from memory while the lock is held.
 */
#include "models/fs/vfs_impl.h"

bool vfs_inode_shrinkable(const struct vfs_file *file)
{
	const struct file_object *pages = file->pages;

	if (file->sb->host->kernel_version < 516)
		return true;
	return !pages->object.present && !pages->tree.height;
}

void vfs_inode_unused(struct task *t, struct vfs_file *file, bool rotate)
{
	struct superblock *sb = file->sb;

	task_sync(t);
	if ((file->state & (DENTRY_THERE | INODE_THERE | INODE_FREEING | INODE_LOCKED)) != INODE_THERE ||
	    !vfs_inode_shrinkable(file))
		return;
	file->state |= INODE_LOCKED;
	if (!list_lru_add(t, &sb->inodes, &file->inode, file->inode_node,
			  vfs_owner(sb->host, file->inode_objcg)) &&
	    rotate)
		file->state |= INODE_REFERENCED;
	task_sync(t);
	file->state &= (uint8_t)~INODE_LOCKED;
}

void vfs_inode_list(struct task *t, struct superblock *sb)
{
	spin_lock(t, &sb->inode_list_lock);
	cpu_defer(t, sb->host->costs->inode_list_op);
	spin_unlock(t, &sb->inode_list_lock);
	task_sync(t);
}
