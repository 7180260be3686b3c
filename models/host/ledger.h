/*
 * ledger.h - what the kernel has in memory for each cgroup, to the byte, and what that is in /proc/meminfo.
 *
 * Structures are listed by kernel version in structures.c, with the size that the C structure has there;
 * what the allocators make of it follows: a slab object has the size of its cache, slabs are whole pages and
 * stay when a few of their objects do; per-CPU blocks are on every possible CPU (percpu.h). A structure that
 * is accounted (GFP_KERNEL_ACCOUNT) is charged to the parent of the cgroup that it belongs to.
 */
#ifndef MODELS_HOST_LEDGER_H
#define MODELS_HOST_LEDGER_H

#include "models/cgroup/life.h"
#include "models/host/percpu.h"
#include "models/host/slab.h"

enum structure_class {
	CLASS_MEMCG,       /* struct mem_cgroup and what hangs from it */
	CLASS_LRUVEC,      /* mem_cgroup_per_node and its statistics */
	CLASS_PERCPU_STAT, /* per-CPU statistics of memcg and lruvecs */
	CLASS_PERCPU_BASE, /* per-CPU blocks of the cgroup itself: rstat, pressure, reference counts */
	CLASS_CGROUP,      /* struct cgroup, css_set links, pressure */
	CLASS_KERNFS,      /* the directory and its files */
	CLASS_OBJCG,       /* owners of kernel objects; they may outlive the cgroup */
	NR_STRUCTURE_CLASSES
};
extern const char *const structure_class_names[NR_STRUCTURE_CLASSES];

struct structure {
	uint16_t since, until; /* kernel versions, inclusive; until 0: to the newest */
	const char *name;
	enum structure_class class;
	uint32_t count; /* of each cgroup, or of each of its nodes */
	uint32_t bytes; /* of one; 0: by `stat` */
	bool per_node, percpu, accounted;
	uint8_t goes; /* enum structure_end: AT_FREE by default */
	uint8_t stat; /* enum structure_stat, where the size follows from the counters that are kept */
};
enum structure_stat { SIZE_NONE, SIZE_MEMCG_PERCPU, SIZE_LRUVEC_PERCPU, SIZE_MEMCG, SIZE_LRUVEC };
/* When a structure goes: AT_RELEASE is where dying_percpu lets the per-CPU statistics go. */
enum structure_end { AT_FREE, AT_RELEASE, AT_OFFLINE, AT_RMDIR, NR_STRUCTURE_ENDS };

extern const struct structure structures[];
extern const uint32_t nr_structures;
/* Size of one in the host's kernel; 0: it has none. */
uint32_t structure_bytes(const struct host *host, const struct structure *s);
uint32_t kernfs_ids(const struct host *host); /* of a directory and its files */

/* What a memcg has. */
struct memcg_structures {
	uint32_t owner; /* whom accounted ones are charged to: struct obj_cgroup */
	uint32_t nr_percpu;
	uint32_t node;                /* of the CPU that made it */
	uint32_t idr_nodes;           /* of the file system's index, which its ids were the first in */
	bool gone[NR_STRUCTURE_ENDS]; /* those that go at that point */
	bool css_set;                 /* has tasks: the set of controllers that they are in */
	struct percpu_block percpu[]; /* in the order of structures[] */
};

/* Everything for m, which has just been made; or why that cannot be. */
enum cgroup_error ledger_make(struct task *t, struct memcg *m);
/* A task comes into m: false, there is no memory for that. Its last has left. In a step, as the next two. */
bool ledger_populate(struct task *t, struct memcg *m);
void ledger_depopulate(struct task *t, struct memcg *m);
void ledger_rmdir(struct task *t, struct memcg *m); /* the directory is gone */
void ledger_offline(struct memcg *m);               /* and css_offline() of all controllers is over */
/* dying_percpu: does it go early? It does, when a grace period after offline is over. */
bool ledger_releases_early(const struct memcg *m);
void ledger_release_percpu(struct task *t, struct memcg *m);
void ledger_free(struct task *t, struct memcg *m);

/* Classes of what is not a structure of a cgroup; ledger_objects.c. */
#define NR_LEDGER_OBJECTS 3
extern const struct ledger_objects {
	const char *name;
	uint64_t (*bytes)(const struct host *host);
} ledger_objects[NR_LEDGER_OBJECTS];
/* What the machine has at boot has to fit in it. */
void ledger_check(const struct scenario *s, struct complaints *c);
void ledger_build(struct host *host);
void ledger_start(struct host *host); /* when there are frames: what the machine had at boot takes some */
void ledger_sample(struct host *host, sim_time_t now);
void ledger_finish(struct host *host);

#endif
