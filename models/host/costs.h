/*
 * costs.h - what the pieces of kernel paths cost, apart from locks and lines (sim/hw/machine.h).
 *
 * Filled from `costs: kernel:` of the machine file. Each row names its source; a constant that was fitted
 * says to what. Add a row where a path gains a part: a path's time is the sum of its parts and nothing else.
 */
#ifndef MODELS_HOST_COSTS_H
#define MODELS_HOST_COSTS_H

#include "sim/engine/time.h"

struct kernel_costs {
	/* Page fault (mm/memory.c) and its way back. */
	sim_time_t fault_entry; /* exception, vma and page-table walk, return to user mode */
	sim_time_t page_alloc;  /* from the per-CPU list of free pages */
	sim_time_t page_free;
	sim_time_t page_clear;  /* 4 KiB */
	sim_time_t page_copy;   /* 4 KiB to or from user memory */
	sim_time_t rmap_add;    /* anon_vma, map count, page-table entry */
	sim_time_t rmap_remove; /* with its share of the TLB flush */
	sim_time_t touch; /* a store to a page that is mapped: TLB and cache miss as in the benchmark loop */
	sim_time_t syscall;   /* enter and leave the kernel */
	sim_time_t zone_page; /* a page between a CPU's free list and its node's, under zone->lock */
	/* Charging. */
	sim_time_t consume_stock;
	sim_time_t refill_stock;
	sim_time_t charge_commit; /* owner pointer, css reference */
	sim_time_t uncharge;      /* per page, gathered */
	sim_time_t stock_scan;    /* drain_all_stock(): a look at the stock of one CPU */
	sim_time_t stock_object;  /* bytes of a kernel object from, or to, the CPU's stock of bytes */
	/* LRU. */
	sim_time_t batch_add; /* into the CPU's folio batch */
	sim_time_t lru_add;   /* per folio, list work under the lruvec lock, without statistics */
	sim_time_t lru_del;
	/* Reclaim. */
	sim_time_t reclaim_memcg; /* a memcg on a walk: iterator, protection, scan amounts */
	sim_time_t scan_page;     /* isolating a page: list, flags, reference */
	sim_time_t reclaim_page;  /* looking at an isolated page: lock, references, flags */
	sim_time_t oom_report;    /* the OOM killer's messages */
	sim_time_t walk_entry;    /* a page-table entry that a walk, or a look around, comes by */
	/* Page cache. */
	sim_time_t cache_lookup; /* filemap_get_pages of a page that is there */
	sim_time_t cache_add;    /* insertion into the xarray under i_pages */
	sim_time_t cache_remove;
	sim_time_t list_lru_op;   /* onto or off a list_lru, under its lock */
	/* Lines from memory or of other CPUs, under a lock: */
	sim_time_t list_lru_scan; /* an item that a walk of a list_lru comes to */
	sim_time_t inode_list_op; /* onto or off the list of all inodes of a superblock */
	sim_time_t dentry_look;   /* what a walk looks at of a dentry beside its place in the list */
	sim_time_t inode_look;    /* the same of an inode */
	sim_time_t path_stat;     /* fstatat() of a file whose dentry and inode are in memory */
	sim_time_t path_lookup;   /* open and close of such a file */
	sim_time_t inode_read;    /* what more it takes where they are not */
	sim_time_t inode_free;
	sim_time_t inode_dirty;   /* __mark_inode_dirty(): up to the flags */
	sim_time_t inode_write;   /* writing back one with one page, up to its being clean */
	sim_time_t dentry_free;
	sim_time_t shadow_node_free; /* emptying a node of shadows and freeing it */
	sim_time_t read_device;      /* issue and complete a read of one page, beside the device's own time */
	sim_time_t swap_slot;        /* finding a slot of swap, or giving one back */
	/* Cgroups come and go (models/cgroup/life.c), beside locks, statistics and lists. */
	sim_time_t cgroup_create;  /* mkdir: css of all controllers, files of the directory */
	sim_time_t cgroup_remove;  /* rmdir: files of the directory, reference counts killed */
	sim_time_t cgroup_attach;  /* a task into another cgroup */
	sim_time_t cgroup_offline; /* css_offline() */
	sim_time_t cgroup_free;    /* css_free() */
	/* Statistics (models/stat). */
	sim_time_t stat_update;  /* add to a per-CPU slot: memcg and lruvec copy */
	sim_time_t rstat_check;  /* "is it on the updated list already" */
	sim_time_t rstat_link;   /* link one level; pass one sibling when unlinking */
	sim_time_t stat_level;   /* add to the per-CPU counter of one level (6.8+) */
	sim_time_t dying_test;   /* is the cgroup of an update being removed? (seed 1, patch 3) */
	sim_time_t flush_cpu;    /* one possible CPU with nothing to flush, beside its lock: check, loop */
	sim_time_t flush_slot;   /* one counter slot of a visited pair */
	sim_time_t flush_line;   /* a cache line of a visited pair that another CPU of the socket wrote */
	sim_time_t flush_pair;   /* pop, call, unlink; beside slots and lines */
	sim_time_t flush_others; /* the other controllers' and base part of one visited pair (before 6.16) */
	sim_time_t read_format;  /* memory.stat: produce the text */
	sim_time_t read_open;    /* open, read, close a cgroup file, beside that */

	double path_scale; /* all of the above but lines and flush_* takes so many times as long */
};

struct sim;
/* The costs as they apply: scaled. */
const struct kernel_costs *kernel_costs_scaled(struct sim *sim, const struct kernel_costs *costs);

#endif
