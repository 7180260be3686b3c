/*
 * files.c - files that tasks share, by name.
 *
 * A file has no existence of its own in a scenario: it is as large as its largest user says, and empty of
 * cached pages at the start.
 *
 * Opening one that the kernel does not know any more reads blocks of the disk itself, the inode with its
 * neighbours (inode_readahead_blks of ext4) and its extents, which are charged to who opens it; the last 16
 * of them stay in use (BH_LRU_SIZE).
 */
#include <string.h>

#include "models/backing/backing.h"
#include "models/workload/registry.h"

#define BH_LRU_SIZE 16u

static const char *file_name(const struct memcg *m, const char *name)
{
	return name ? name : m->path;
}

static uint32_t hash(const char *name)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h;
}

static struct named_file *find(const struct workload_state *state, const char *name)
{
	if (!state->size)
		return NULL;
	for (struct named_file *f = state->files[hash(name) % state->size]; f; f = f->next)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

static void grow(struct host *host)
{
	struct workload_state *state = host->workloads;
	uint32_t size = state->size ? 4 * state->size : 64;
	struct named_file **files = arena_array(sim_arena(host->sim), size, sizeof(*files));

	for (uint32_t i = 0; i < state->size; i++)
		for (struct named_file *f = state->files[i], *next; f; f = next) {
			struct named_file **bucket = &files[hash(f->name) % size];

			next = f->next;
			f->next = *bucket;
			*bucket = f;
		}
	state->files = files;
	state->size = size;
}

void workload_file_declare(struct workload_task *w, const char *name, uint64_t nr_pages)
{
	struct host *host = w->host;
	struct workload_state *state = host->workloads;
	struct named_file *f;

	name = file_name(w->memcg, name);
	f = find(state, name);
	if (!f) {
		if (state->nr_files == state->size)
			grow(host);
		struct named_file **bucket = &state->files[hash(name) % state->size];

		f = sim_alloc(host->sim, sizeof *f);
		f->name = name;
		f->next = *bucket;
		*bucket = f;
		state->nr_files++;
	}
	if (f->nr_pages < nr_pages)
		f->nr_pages = nr_pages;
}

void workload_file_place(struct workload_task *w, const char *name, const char *disk)
{
	struct named_file *f = find(w->host->workloads, file_name(w->memcg, name));

	if (disk)
		f->disk = disk_find(w->host, disk);
}

struct file_object *workload_file(struct host *host, const struct memcg *m, const char *name)
{
	struct named_file *f = find(host->workloads, file_name(m, name));

	if (!f)
		return NULL;
	if (!f->file) {
		f->file = file_create(host, f->nr_pages);
		if (f->disk)
			file_place(f->file, f->disk);
	}
	return f->file;
}

/*
 * Each is accessed twice, when its page is made (FGP_ACCESSED) and when its buffer is found (touch_buffer()).
 * Those that stay in use are an object of their own: they are so as a whole.
 */
static bool read_blocks(struct task *t, struct workload_task *w, uint64_t nr, bool stay)
{
	struct file_object *blocks = file_create(w->host, nr);
	struct memcg *level;

	if (stay)
		file_hold_buffers(blocks);
	for (uint64_t i = 0; i < 2 * nr; i++)
		if (file_read(t, w->memcg, blocks, i / 2, &level) == FILE_NOMEM) {
			workload_out_of_memory(w, level);
			return false;
		}
	return true;
}

bool workload_read_blocks(struct task *t, struct workload_task *w, uint64_t nr)
{
	uint64_t stay = nr < BH_LRU_SIZE ? nr : BH_LRU_SIZE;

	return (nr == stay || read_blocks(t, w, nr - stay, false)) &&
	       (!stay || read_blocks(t, w, stay, true));
}
