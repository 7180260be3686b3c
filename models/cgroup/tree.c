/*
 * tree.c - the tree of memory cgroups: making it, walking it, finding cgroups by path.
 *
 * A path pattern is matched component by component, as a shell does with file names: "a*" is one level,
 * however long. The numbers of cgroups are those of their creation, parents before children.
 */
#include <fnmatch.h>
#include <string.h>

#include "models/cgroup/options.h"
#include "models/cgroup/stock.h"

static const char *join(struct host *host, const struct memcg *parent, const char *name)
{
	size_t length = strlen(parent->path);
	char *path = sim_alloc(host->sim, length + strlen(name) + 2);

	memcpy(path, parent->path, length);
	if (memcg_is_root(parent))
		length = 0;
	path[length] = '/';
	strcpy(path + length + 1, name);
	return path;
}

static void number(struct host *host, struct memcg *m)
{
	struct cgroup_state *cgroups = host->cgroups;

	if (cgroups->nr == cgroups->capacity) {
		uint32_t capacity = cgroups->capacity ? 2 * cgroups->capacity : 64;
		struct memcg **all = sim_alloc(host->sim, capacity * sizeof(*all));

		if (cgroups->nr) {
			memcpy(all, cgroups->all, cgroups->nr * sizeof(*all));
			sim_free(host->sim, cgroups->all, cgroups->capacity * sizeof(*all));
		}
		cgroups->all = all;
		cgroups->capacity = capacity;
	}
	m->id = cgroups->nr;
	cgroups->all[cgroups->nr++] = m;
}

static struct memcg *create(struct host *host, struct memcg *parent, const char *name)
{
	struct memcg *m = sim_alloc(host->sim, sizeof *m);

	m->host = host;
	m->parent = parent;
	m->name = name;
	page_counter_init(&m->memory, parent ? &parent->memory : NULL);
	page_counter_init(&m->swap, parent ? &parent->swap : NULL);
	m->weight = 1024;
	number(host, m);
	return m;
}

struct memcg *memcg_create(struct memcg *parent, const char *name)
{
	struct memcg *m = create(parent->host, parent, name);

	m->path = join(parent->host, parent, name);
	m->depth = parent->depth + 1;
	m->bandwidth = parent->bandwidth;
	if (parent->last_child)
		parent->last_child->next_sibling = m;
	else
		parent->first_child = m;
	parent->last_child = m;
	return m;
}

void memcg_event(struct memcg *m, enum memcg_event event)
{
	for (; !memcg_is_root(m); m = m->parent) {
		m->events[event]++;
		for (struct memcg_watcher *w = m->watchers; w; w = w->next) {
			w->raised = true;
			task_wake(m->host->sim, NULL, w->task);
		}
	}
}

void memcg_watch_events(struct memcg_watcher *watcher, struct memcg *m, struct task *t)
{
	shared_step(t);
	*watcher = (struct memcg_watcher){ .next = m->watchers, .task = t };
	m->watchers = watcher;
}

void cgroups_build(struct host *host)
{
	host->cgroups = sim_alloc(host->sim, sizeof *host->cgroups);
	host->cgroups->root = create(host, NULL, "");
	host->cgroups->root->path = "/";
	mutex_init(&host->cgroups->oom_mutex, lock_class(host->sim, "oom_lock"));
	stocks_build(host);
}

struct memcg *memcg_next(struct memcg *root, struct memcg *position)
{
	if (!position)
		return root;
	if (position->first_child)
		return position->first_child;
	for (; position != root; position = position->parent)
		if (position->next_sibling)
			return position->next_sibling;
	return NULL;
}

bool memcg_is_descendant(const struct memcg *m, const struct memcg *root)
{
	while (m->depth > root->depth)
		m = m->parent;
	return m == root;
}

/* ---- patterns ---- */

bool cgroup_next_component(const char **path, char component[256])
{
	while (**path == '/')
		(*path)++;
	size_t length = strcspn(*path, "/");

	if (!length || length > 255)
		return false;
	memcpy(component, *path, length);
	component[length] = '\0';
	*path += length;
	return true;
}

static uint32_t match_below(struct memcg *m, const char *pattern, struct memcg **out, uint32_t most)
{
	char component[256];
	uint32_t nr = 0;

	if (!cgroup_next_component(&pattern, component)) {
		if (*pattern)
			return 0;
		*out = m;
		return 1;
	}
	for (struct memcg *child = m->first_child; child && nr < most; child = child->next_sibling)
		if (!fnmatch(component, child->name, 0))
			nr += match_below(child, pattern, out + nr, most - nr);
	return nr;
}

uint32_t memcg_match(const struct host *host, const char *pattern, struct memcg **out)
{
	return match_below(host->cgroups->root, pattern, out, host->cgroups->nr);
}

struct memcg *memcg_find(const struct host *host, const char *path)
{
	struct memcg *found = NULL;

	match_below(host->cgroups->root, path, &found, 1);
	return found;
}
