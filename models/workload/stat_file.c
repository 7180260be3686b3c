/*
 * stat_file.c - see stat_file.h.
 *
 * open(2), read(2) and close(2) of a file of the cgroup file system make a struct file, a struct seq_file and
 * its buffer of a page, all of them charged to the reader's own cgroup (SLAB_ACCOUNT, GFP_KERNEL_ACCOUNT;
 * seq_open() and seq_read_iter() of fs/seq_file.c, Linux 6.1). So who reads from inside of a cgroup updates
 * what he reads. The bytes come and go in the CPU's stock, and its statistics of slab are passed on in lumps
 * of more than a page, each of which 6.1 takes for thousands of updates.
 *
 * Sizes are those that a trace of obj_cgroup_charge() showed for 6.1 and 6.12, the owner pointer included.
 */
#include "models/workload/stat_file.h"

#include "models/cgroup/stock.h"

#define SEQ_FILE 128
#define BUFFER   (PAGE_SIZE + 8)

static uint32_t struct_file(const struct host *host)
{
	return host->kernel_version < 612 ? 264 : 200;
}

bool stat_file_open(struct task *t, struct memcg *m, struct stat_file *file)
{
	const uint32_t bytes[] = { struct_file(m->host), SEQ_FILE, BUFFER };

	*file = (struct stat_file){ .objcg = m->objcg->id, .node = t->cpu->node };
	for (uint32_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
		struct memcg *level;

		task_sync(t);
		if (object_charge(t, m, file->node, NR_SLAB_UNRECLAIMABLE_B, bytes[i], &level))
			continue;
		while (i-- > 0) {
			task_sync(t);
			object_uncharge(t, file->objcg, file->node, NR_SLAB_UNRECLAIMABLE_B, bytes[i]);
		}
		return false;
	}
	return true;
}

void stat_file_close(struct task *t, const struct stat_file *file)
{
	const struct host *host = host_of(t);
	uint32_t bytes = struct_file(host);

	task_sync(t);
	object_uncharge(t, file->objcg, file->node, NR_SLAB_UNRECLAIMABLE_B, BUFFER);
	task_sync(t);
	object_uncharge(t, file->objcg, file->node, NR_SLAB_UNRECLAIMABLE_B, SEQ_FILE);
	task_sync(t);
	if (host->kernel_version < 607)
		object_uncharge_rcu(t, file->objcg, file->node, NR_SLAB_UNRECLAIMABLE_B, bytes);
	else /* 0ede61d8589c */
		object_uncharge(t, file->objcg, file->node, NR_SLAB_UNRECLAIMABLE_B, bytes);
}
