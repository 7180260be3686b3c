/*
 * tree_read.c - a task that reads a directory of small files from the first to the last, over and over: tar,
 * a backup, a build, as the file read of seed 2 has one in each cgroup.
 *
 * The directories of all tasks lie in one file system, under one superblock, and no two tasks share a file.
 * Each file is looked at by name as often as `stats` says, then opened, read page by page, and closed, with a
 * system call each. What of it is still in memory is found; the rest (dentry, inode, pages) is brought in and
 * charged to the task's cgroup.
 *
 * tar looks at a file before it reads it and once more afterwards. If its archive is /dev/null it reads none:
 * `stats: 2, file_pages: 0`, where the second look finds everything.
 */
#include "models/backing/backing.h"
#include "models/fs/vfs.h"
#include "models/host/costs.h"
#include "models/workload/workload.h"
#include "sim/module.h"

#define LEAST_INODE 256 /* struct inode alone is larger than that */

struct tree_read {
	const char *filesystem, *disk;
	uint64_t files, file_pages;
	uint64_t inode;
	uint32_t passes, stats;
	sim_time_t work;
};

static const struct option rows[] = {
	OPTION(struct tree_read, filesystem, OPT_STRING, .fallback = "fs",
	       .help = "name of the file system; tasks with the same one share its superblock"),
	OPTION(struct tree_read, disk, OPT_STRING, .help = "device that it lies on; a RAM disk if none"),
	OPTION(struct tree_read, files, OPT_U64, .required = true, .min = "1", .max = "10M",
	       .help = "files of the task's directory"),
	OPTION(struct tree_read, file_pages, OPT_U64, .fallback = "1", .max = "1M",
	       .help = "pages of each; with 0 none is opened"),
	OPTION(struct tree_read, stats, OPT_U32, .fallback = "0", .max = "100",
	       .help = "how often each is looked at by name, fstatat(2), before it is opened"),
	OPTION(struct tree_read, inode, OPT_BYTES, .fallback = "0", .max = "4096",
	       .help = "size of an inode, without the pointer to its owner; the first task's counts; 0: that "
		       "of ext4 in the kernel"),
	OPTION(struct tree_read, passes, OPT_U32, .fallback = "1", .min = "1", .help = "over the directory"),
	OPTION(struct tree_read, work, OPT_DURATION, .fallback = "0s",
	       .help = "time in user mode for each file"),
};
static const struct option_table options = OPTION_TABLE("tree_read", struct tree_read, rows);

static bool ends(const void *own)
{
	(void)own;
	return true;
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct tree_read *o = own;

	(void)task;
	if (o->inode && o->inode < LEAST_INODE)
		complain(c, option_where(own, "inode"), "inode: at least %d bytes", LEAST_INODE);
	if (!o->file_pages && !o->stats)
		complain(c, option_where(own, "file_pages"),
			 "file_pages: 0 needs `stats`, or nothing is done");
	disk_check(s, o->disk, own, "disk", c);
}

static void prepare(struct workload_task *w)
{
	const struct tree_read *o = w->own;
	struct disk *disk = o->disk ? disk_find(w->host, o->disk) : NULL;
	uint32_t inode = o->inode ? (uint32_t)o->inode : ext4_inode_bytes(w->host);

	w->state = vfs_files(vfs_superblock(w->host, o->filesystem, inode), o->files, o->file_pages, disk);
}

static bool read_pages(struct task *t, struct workload_task *w, struct vfs_file *file)
{
	const struct tree_read *o = w->own;
	uint64_t position = NO_INDEX;
	struct memcg *level;

	for (uint64_t page = 0; page < o->file_pages; page++) {
		enum file_result result = file_read_open(t, w->memcg, file->pages, page, &position, &level);

		if (result == FILE_NOMEM) {
			workload_out_of_memory(w, level);
			return false;
		}
		workload_count_read(w, result);
	}
	return true;
}

/* open, read, close */
static bool read_file(struct task *t, struct workload_task *w, struct vfs_file *file)
{
	struct memcg *level = NULL;

	cpu_work(t, w->host->costs->syscall);
	if (!vfs_open(t, w->memcg, file, &level)) {
		workload_out_of_memory(w, level);
		return false;
	}
	cpu_work(t, w->host->costs->syscall);
	bool read = read_pages(t, w, file);

	cpu_work(t, w->host->costs->syscall);
	vfs_close(t, file);
	return read;
}

static bool look_at(struct task *t, struct workload_task *w, struct vfs_file *file)
{
	struct memcg *level = NULL;

	cpu_work(t, w->host->costs->syscall);
	if (vfs_stat(t, w->memcg, file, &level))
		return true;
	workload_out_of_memory(w, level);
	return false;
}

static bool visit(struct task *t, struct workload_task *w, struct vfs_file *file)
{
	const struct tree_read *o = w->own;

	for (uint32_t i = 0; i < o->stats; i++)
		if (!look_at(t, w, file))
			return false;
	if (o->file_pages && !read_file(t, w, file))
		return false;
	workload_return(t, w);
	if (o->work)
		user_work(t, o->work);
	w->ops++;
	return true;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct tree_read *o = w->own;
	struct vfs_file *files = w->state;

	for (uint64_t i = 0; i < o->passes * o->files; i++)
		if (!visit(t, w, &files[i % o->files]))
			return;
}

static const struct workload_ops ops = { .check = check, .ends = ends, .prepare = prepare, .run = run };

MODULE(tree_read) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "tree_read",
	.help = "reads the files of a directory of its own, pass by pass; task.ops counts files",
	.source = "the file read of seed 2",
	.options = &options,
	.ops = &ops,
};
