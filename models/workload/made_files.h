/*
 * made_files.h - files that are made in cgroups and dirtied there: the slab objects of each, and the
 * bdi_writeback that may hold its cgroup.
 *
 * A cgroup that dirties a file has a bdi_writeback, which the inode holds until it goes, unless the inode
 * is clean when another cgroup goes offline: then cleanup_offline_cgwbs_workfn() switches it to the
 * parent's. With periodic writeback (writeback.interval) it is dirty for longer than the loop takes. Where
 * that is off, as in the measurements of E4, the first dirtying of an inode starts the writer at once
 * (wb_wakeup_delayed() of 0), which writes if there is a dirty page by then (wb_over_bg_thresh()). As traced
 * in guests of 6.1 and 6.12:
 *
 * - An inode that was dirty before its page was is not written. So it is where a tick of the clock lay
 *   between making the file and writing to it, so that the write first changed its times.
 * - All else is written by a worker that the dirty page wakes. In 6.12 that is the end of it. Up to 6.5
 *   generic_write_end() then marks the inode dirty, too, since it grew ("ext4: do not mark inode dirty every
 *   time when appending using delalloc", 6.6), and __mark_inode_dirty() goes through ext4_dirty_inode(),
 *   which gives way where it may sleep, before it sets the flags. On one CPU the worker preempts there,
 *   writes and cleans the inode, and the flags that are set then find no dirty page: nobody writes it again.
 *   With CPUs to spare the flags are set long before the worker clears them all.
 *
 * Making a file also reads blocks of its disk, which are charged to the cgroup that comes first: the
 * directory, a bitmap, and the table of inodes, of which ext4 reads a window of 32 blocks where it needs an
 * inode that may be in use (__ext4_get_inode_loc()). Behind that each sixteenth file takes a new block.
 * They are accessed twice as they are read, and so active: the classic LRU spares them, and MGLRU takes them
 * first, with the first cgroup's. Traced in guests of 6.12; blocks of the directory that come one by one
 * later, and that the last 16 buffers used cannot be freed (bh_lrus), are left out.
 */
#ifndef MODELS_WORKLOAD_MADE_FILES_H
#define MODELS_WORKLOAD_MADE_FILES_H

#include "models/cgroup/memcg.h"

struct made_files;

/* Of the disk: blocks that the first file reads, and the file that is the first to need another. */
struct made_files_disk {
	uint32_t blocks, from;
};

struct made_files *made_files(struct host *host, uint32_t nr, const struct made_files_disk *disk);
/* File i, in m, up to the write to it, so much later. False: there is no memory. In a step. */
bool made_files_make(struct task *t, struct made_files *files, uint32_t i, struct memcg *m, sim_time_t later);
/* That write has made its page dirty. */
void made_files_dirty(struct task *t, struct made_files *files, uint32_t i, struct memcg *m);
/* The first lookup of the root's cgroup.procs since dentries were dropped: a dentry and an inode, m's. */
bool made_files_look_up(struct task *t, struct made_files *files, struct memcg *m);
/* The first stage of drop_caches: those blocks go. */
void made_files_drop_blocks(struct task *t, struct made_files *files);
/* evict_inode(): all inodes go, written, and with them what holds the cgroups that dirtied them. */
void made_files_forget(struct task *t, struct made_files *files);

#endif
