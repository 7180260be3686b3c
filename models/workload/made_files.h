/*
 * made_files.h - files that are made in cgroups and dirtied there: the slab objects of each, and the
 * bdi_writeback that may hold its cgroup.
 *
 * A cgroup that dirties a file has a bdi_writeback, which the inode holds until it goes, unless the inode
 * is clean when another cgroup goes offline: then cleanup_offline_cgwbs_workfn() switches it to the
 * parent's. Where periodic writeback is off, as in the measurements, the first dirtying of an inode starts
 * the writer at once (wb_wakeup_delayed() of 0), which writes if there is a dirty page by then
 * (wb_over_bg_thresh()). As traced in guests: 6.12 writes and switches all but those inodes that were dirty
 * before their page was, and this is so where a tick of the clock lay between making the file and writing
 * to it, so that the write first changed its times. On 6.1 a written inode is among
 * the dirty ones again, but for 3 to 10 in a hundred, whose writes took longer: left out, all of them stay.
 */
#ifndef MODELS_WORKLOAD_MADE_FILES_H
#define MODELS_WORKLOAD_MADE_FILES_H

#include "models/cgroup/memcg.h"

struct made_files;

struct made_files *made_files(struct host *host, uint32_t nr);
/* File i, in m; the write to it comes so much later. False: there is no memory. In a step. */
bool made_files_make(struct task *t, struct made_files *files, uint32_t i, struct memcg *m, sim_time_t later);
/* The first lookup of the root's cgroup.procs since dentries were dropped: a dentry and an inode, m's. */
bool made_files_look_up(struct task *t, struct made_files *files, struct memcg *m);
/* evict_inode(): all inodes go, and with them what holds the cgroups that dirtied them. */
void made_files_forget(struct task *t, struct made_files *files);

#endif
