/*
 * tree.c - the tree of memory cgroups: making it, walking it, finding cgroups by path.
 *
 * A path pattern is matched component by component, as a shell does with file names: "a*" is one level,
 * however long. The numbers of cgroups are those of their creation, parents before children, until some are
 * removed: then a number goes to another cgroup as soon as no object names it any more.
 */
#include <fnmatch.h>
#include <string.h>

#include "models/cgroup/life_impl.h"
#include "models/cgroup/options.h"
#include "models/cgroup/siblings.h"
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

static void *grown(struct host *host, void *old, uint32_t from, uint32_t to, size_t size)
{
	void *new = sim_alloc(host->sim, to * size);

	if (from) {
		memcpy(new, old, from * size);
		sim_free(host->sim, old, from * size);
	}
	return new;
}

static void number(struct host *host, struct memcg *m)
{
	struct cgroup_state *cgroups = host->cgroups;

	if (cgroups->nr_free) {
		m->id = cgroups->free[--cgroups->nr_free];
	} else {
		if (cgroups->nr == cgroups->capacity) {
			uint32_t from = cgroups->nr, to = from ? 2 * from : 64;

			cgroups->all = grown(host, cgroups->all, from, to, sizeof(*cgroups->all));
			cgroups->objcgs = grown(host, cgroups->objcgs, from, to, sizeof(*cgroups->objcgs));
			cgroups->page_owners = grown(host, cgroups->page_owners, from, to,
						     host->nr_nodes * sizeof(*cgroups->page_owners));
			cgroups->free = grown(host, cgroups->free, from, to, sizeof(*cgroups->free));
			cgroups->capacity = to;
		}
		m->id = cgroups->nr++;
	}
	cgroups->all[m->id] = m;
	for (uint32_t node = 0; node < host->nr_nodes; node++)
		cgroups->page_owners[m->id * host->nr_nodes + node] = m;
	objcg_init(host, m);
}

/* mem_cgroup_alloc_id(): the lowest that is free. */
static void get_css_id(struct cgroup_state *cgroups, struct memcg *m)
{
	uint32_t id = cgroups->free_css_id;

	if (cgroups->nr_css_ids == MOST_CSS_IDS)
		return;
	while (cgroups->by_css_id[id])
		id++;
	cgroups->by_css_id[id] = m;
	cgroups->free_css_id = id + 1;
	cgroups->nr_css_ids++;
	m->css_id = (uint16_t)id;
}

void memcg_put_css_id(struct memcg *m)
{
	struct cgroup_state *cgroups = m->host->cgroups;

	if (!m->css_id)
		return;
	cgroups->by_css_id[m->css_id] = NULL;
	cgroups->nr_css_ids--;
	if (m->css_id < cgroups->free_css_id)
		cgroups->free_css_id = m->css_id;
	m->css_id = 0;
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
	m->nr_online = 1;
	number(host, m);
	get_css_id(host->cgroups, m);
	return m;
}

struct memcg *memcg_create(struct memcg *parent, const char *name)
{
	struct memcg *m = create(parent->host, parent, name);

	m->path = join(parent->host, parent, name);
	m->depth = parent->depth + 1;
	m->bandwidth = parent->bandwidth;
	m->prev_sibling = parent->last_child;
	if (parent->last_child)
		parent->last_child->next_sibling = m;
	else
		parent->first_child = m;
	parent->last_child = m;
	parent->nr_children++;
	parent->nr_online++;
	siblings_join(m);
	for (struct memcg *above = parent; above; above = above->parent)
		above->nr_descendants++;
	return m;
}

void memcg_leave(struct memcg *m)
{
	*(m->prev_sibling ? &m->prev_sibling->next_sibling : &m->parent->first_child) = m->next_sibling;
	*(m->next_sibling ? &m->next_sibling->prev_sibling : &m->parent->last_child) = m->prev_sibling;
	siblings_leave(m);
}

/*
 * A cgroup of the scenario is named by its workloads up to the end of the run: its number goes to another,
 * but what is left of it stays where it is.
 */
void memcg_destroy(struct memcg *m)
{
	struct host *host = m->host;

	host->cgroups->all[m->id] = NULL;
	line_release(host->sim, &m->memory.line);
	line_release(host->sim, &m->memory.protection_line);
	line_release(host->sim, &m->swap.line);
	line_release(host->sim, &m->swap.protection_line);
	if (!m->transient)
		return;
	sim_free(host->sim, (char *)(uintptr_t)m->path, strlen(m->path) + 1);
	sim_free(host->sim, m, sizeof *m);
}

struct memcg **memcg_order(const struct host *host, uint32_t *nr)
{
	struct memcg **order = sim_alloc(host->sim, host->cgroups->nr * sizeof(*order));

	*nr = 0;
	for (struct memcg *m = host->cgroups->root; m; m = memcg_next(host->cgroups->root, m))
		order[(*nr)++] = m;
	return order;
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
	host->cgroups->by_css_id = arena_array(sim_arena(host->sim), MOST_CSS_IDS + 1,
					       sizeof(*host->cgroups->by_css_id));
	host->cgroups->free_css_id = 1;
	host->cgroups->root = create(host, NULL, "");
	host->cgroups->root->path = "/";
	mutex_init(&host->cgroups->oom_mutex, lock_class(host->sim, "oom_lock"));
	stocks_build(host);
	life_build(host);
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

struct memcg *memcg_walk(struct task *t, struct memcg *root, struct memcg *position)
{
	struct memcg *next = memcg_next(root, position);

	while (next && !memcg_tryget(next))
		next = memcg_next(root, next);
	if (position)
		memcg_put(t, position);
	return next;
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
		if (child->life == MEMCG_ONLINE && !fnmatch(component, child->name, 0))
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
