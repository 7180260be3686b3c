/*
 * tmpfs_worker.c - a task that writes a file in memory, reads it, removes it: a worker of seed 5's stress.
 *
 *	dd if=/dev/zero of="$f" bs=1M count=10; cat "$f" > /dev/null; rm "$f"
 *
 * Each command is a process with a buffer of its own: dd's is filled from /dev/zero and written, 1 MiB at a
 * time, cat's takes 128 KiB. The buffers are anonymous memory of the cgroup as the file's pages are, and used
 * over and over, so they stay while the file is swapped out. `fork` is the CPU time of starting a command.
 */
#include "models/host/costs.h"
#include "models/workload/workload.h"
#include "sim/module.h"

struct tmpfs_worker {
	uint64_t size, block, read_block; /* bytes */
	uint32_t passes;
	sim_time_t fork;
};

static const struct option rows[] = {
	OPTION(struct tmpfs_worker, size, OPT_BYTES, .required = true, .min = "4KiB", .max = "1TiB",
	       .help = "of the file"),
	OPTION(struct tmpfs_worker, block, OPT_BYTES, .fallback = "1MiB", .min = "4KiB", .max = "1GiB",
	       .help = "written at a time", .source = "seed 5: dd bs=1M"),
	OPTION(struct tmpfs_worker, read_block, OPT_BYTES, .fallback = "128KiB", .min = "4KiB", .max = "1GiB",
	       .help = "read at a time", .source = "coreutils, IO_BUFSIZE"),
	OPTION(struct tmpfs_worker, passes, OPT_U32, .fallback = "1", .min = "1",
	       .help = "how often it is written, read and removed"),
	OPTION(struct tmpfs_worker, fork, OPT_DURATION, .fallback = "0s",
	       .help = "CPU time to start each command: fork, exec, libraries"),
};
static const struct option_table options = OPTION_TABLE("tmpfs_worker", struct tmpfs_worker, rows);

struct worker {
	struct task *t;
	struct workload_task *w;
	struct tmpfs_object *file;
	uint64_t nr_pages;
};

static bool ends(const void *own)
{
	(void)own;
	return true;
}

static bool failed(struct worker *k, struct memcg *level)
{
	workload_out_of_memory(k->w, level);
	return false;
}

/* The pages [from, to) of the file are read or written, page by page through the buffer. */
static bool transfer(struct worker *k, struct anon_object *buffer, uint64_t from, uint64_t to, bool write)
{
	struct host *host = k->w->host;
	struct memcg *level;

	/* read(2) of /dev/zero fills the buffer before write(2) begins; of a file, as it goes. */
	cpu_work(k->t, host->costs->syscall * (write ? 2 : 1));
	for (uint64_t i = from; i < to; i++) {
		if (!anon_touch(k->t, buffer, i - from, &level))
			return failed(k, level);
		cpu_work(k->t, write ? host->costs->page_clear : 0);
	}
	for (uint64_t i = from; i < to; i++) {
		if ((write ? tmpfs_write : tmpfs_read)(k->t, k->w->memcg, k->file, i, &level) == FILE_NOMEM)
			return failed(k, level);
		workload_return(k->t, k->w);
		k->w->ops++;
	}
	return true;
}

/* dd or cat. */
static bool command(struct worker *k, uint64_t block, bool write)
{
	const struct tmpfs_worker *o = k->w->own;
	uint64_t pages = block / PAGE_SIZE;
	struct anon_object *buffer = anon_create(k->w->host, k->w->memcg, pages);
	bool going = true;

	user_work(k->t, o->fork);
	for (uint64_t i = 0; going && i < k->nr_pages; i += pages)
		going = transfer(k, buffer, i, i + pages < k->nr_pages ? i + pages : k->nr_pages, write);
	anon_unmap(k->t, buffer);
	return going;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct tmpfs_worker *o = w->own;
	struct worker k = { .t = t, .w = w, .nr_pages = (o->size + PAGE_SIZE - 1) / PAGE_SIZE };
	bool going = true;

	k.file = tmpfs_create(w->host, k.nr_pages);
	for (uint32_t i = 0; going && i < o->passes; i++) {
		user_work(t, o->fork); /* rm -rf */
		going = command(&k, o->block, true) && command(&k, o->read_block, false);
		user_work(t, o->fork);
		tmpfs_remove(t, k.file);
	}
}

static const struct workload_ops ops = { .ends = ends, .run = run };

MODULE(tmpfs_worker) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "tmpfs_worker",
	.help = "writes a file in memory, reads it, removes it; task.ops counts pages",
	.source = "stress.sh of seed 5",
	.options = &options,
	.ops = &ops,
};
