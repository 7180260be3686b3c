/*
 * oom.c - the OOM killer, for a memcg or (the root) for the machine, after mem_cgroup_out_of_memory(),
 * select_bad_process() and oom_kill_process() of Linux 6.1.
 *
 * The victim is the task of the subtree with the most memory of its own, anonymous pages, and what its
 * oom_score_adj adds; of equals the last in the order of the walk. With memory.oom.group set between it and
 * the level that is out of memory, all tasks of the highest such memcg go. A victim that is still giving its
 * memory back keeps others from being chosen.
 *
 * A victim that runs fails in its next operation and ends by itself. One that is asleep or waits for a CPU
 * would be woken by the signal and exit at once; as a simulated task it has first to be where it can see it,
 * so a task made for that gives its memory back, at the time and on the CPU that its exit would.
 */
#include "models/backing/backing.h"
#include "models/cgroup/memcg.h"
#include "models/host/costs.h"
#include "models/page/page.h"
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"

void cgroup_task_attach(struct cgroup_task *ct, struct memcg *m)
{
	if (!m->tasks)
		m->tasks_end = &m->tasks;
	ct->memcg = m;
	ct->next = NULL;
	ct->prev = m->tasks_end;
	*ct->prev = ct;
	m->tasks_end = &ct->next;
}

void cgroup_task_exit(struct cgroup_task *ct)
{
	struct cgroup_state *cgroups = ct->memcg->host->cgroups;

	if (cgroups->oom_next == ct)
		cgroups->oom_next = ct->next;
	*ct->prev = ct->next;
	if (ct->next)
		ct->next->prev = ct->prev;
	else
		ct->memcg->tasks_end = ct->prev;
	ct->prev = NULL;
}

/* oom_badness(), of a task that may be killed; `allowed` is what all of them may have. */
static int64_t badness(const struct cgroup_task *ct, uint64_t allowed)
{
	int64_t points = 0;

	for (const struct page_object *o = ct->objects; o; o = o->next_owned)
		points += (int64_t)o->present;
	return points + ct->oom_score_adj * (int64_t)(allowed / OOM_SCORE_ADJ_MAX);
}

/* mem_cgroup_get_max(), or the machine's memory and swap (constrained_alloc()); pages. */
static uint64_t allowed_pages(const struct memcg *m)
{
	const struct host *host = m->host;
	uint64_t swap = swap_present(host) ? swap_free_slots(host) + swap_used_slots(host) : 0;

	if (memcg_is_root(m))
		return host->memory / PAGE_SIZE + swap;
	if (!host->reclaim->vm->swappiness)
		return m->memory.max;
	return m->memory.max + (m->swap.max < swap ? m->swap.max : swap);
}

/* select_bad_process(); *waiting: somebody is on his way out. */
static struct cgroup_task *choose(struct memcg *root, bool *waiting)
{
	struct cgroup_task *chosen = NULL;
	uint64_t allowed = allowed_pages(root);
	int64_t most = 0;

	*waiting = false;
	for (struct memcg *m = NULL; (m = memcg_next(root, m));)
		for (struct cgroup_task *ct = m->tasks; ct; ct = ct->next) {
			int64_t points = badness(ct, allowed);

			if (ct->killed) {
				*waiting |= badness(ct, 0) > 0;
			} else if (ct->oom_score_adj == OOM_SCORE_ADJ_MIN) {
				;
			} else if (!chosen || points >= most) {
				chosen = ct;
				most = points;
			}
		}
	return chosen;
}

static void exit_mmap(struct task *t, void *arg)
{
	struct cgroup_task *victim = arg;

	for (struct page_object *o = victim->objects; o; o = o->next_owned)
		anon_exit(t, o);
	task_sync(t);
	victim->exiting = false;
}

void cgroup_task_again(struct task *t, struct cgroup_task *ct)
{
	/*
	 * Who starts the next process looks again from time to time. A millisecond is no cost of the machine,
	 * and short beside what a runtime takes to notice.
	 */
	while (ct->exiting)
		task_sleep(t, SIM_MS);
	ct->killed = false;
}

static void end_task(struct task *t, struct cgroup_task *victim)
{
	if (victim->killed)
		return;
	victim->killed = true;
	if (victim->task == t)
		return;
	task_wake(t->sim, t, victim->task);
	if (!victim->exiting && victim->objects) {
		victim->exiting = true;
		task_spawn(t->sim, &(struct task_attr){
					   .name = "exit",
					   .run = exit_mmap,
					   .arg = victim,
					   .cpu = -1,
					   .slept = true,
				   });
	}
}

static void kill_task(struct task *t, struct cgroup_task *victim)
{
	/* Before the test: the first victim of a group is met again in it, and counted twice. */
	memcg_event(victim->memcg, EVENT_OOM_KILL);
	end_task(t, victim);
}

void memcg_kill(struct task *t, struct memcg *root)
{
	for (struct memcg *m = NULL; (m = memcg_next(root, m));)
		for (struct cgroup_task *ct = m->tasks; ct; ct = ct->next)
			end_task(t, ct);
}

/* mem_cgroup_get_oom_group(): the highest memcg up to `root` that goes as a whole; NULL: none. */
static struct memcg *oom_group(struct memcg *m, const struct memcg *root)
{
	struct memcg *group = NULL;

	for (; m && !memcg_is_root(m); m = m->parent) {
		if (m->oom_group)
			group = m;
		if (m == root)
			break;
	}
	return group;
}

/*
 * mem_cgroup_scan_tasks() of the stable series (6.1.192, 6.12.117) lets others run after each task. On one
 * CPU that is where the first of the group, woken to die, gives its memory back: who asked then finds room
 * without another attempt.
 */
static void kill_group(struct task *t, struct memcg *group)
{
	struct cgroup_state *cgroups = group->host->cgroups;
	struct cgroup_task *ct;

	memcg_event(group, EVENT_OOM_GROUP_KILL);
	for (struct memcg *m = NULL; (m = memcg_walk(t, group, m));) {
		cgroups->oom_next = m->tasks;
		while ((ct = cgroups->oom_next)) {
			cgroups->oom_next = ct->next;
			kill_task(t, ct);
			cond_resched(t);
		}
	}
}

static void oom_kill(struct task *t, struct cgroup_task *victim, struct memcg *root)
{
	struct memcg *group = oom_group(victim->memcg, root);

	cpu_work(t, root->host->costs->oom_report);
	task_sync(t);
	root->host->reclaim->calls.oom_kills++;
	kill_task(t, victim);
	if (group)
		kill_group(t, group);
}

bool memcg_out_of_memory(struct task *t, struct memcg *m, uint32_t nr)
{
	struct mutex *lock = &m->host->cgroups->oom_mutex;
	struct cgroup_task *victim;
	bool progress = true, waiting;

	memcg_event(m, EVENT_OOM);
	mutex_lock(t, lock);
	task_sync(t);
	if ((memcg_is_root(m) || m->memory.usage + nr > m->memory.max) && !task_killed(t)) {
		victim = choose(m, &waiting);
		if (victim && !waiting)
			oom_kill(t, victim, m);
		else if (!victim && !waiting) /* "no killable processes", at the same length */
			cpu_work(t, m->host->costs->oom_report);
		progress = victim || waiting;
	}
	mutex_unlock(t, lock);
	return progress;
}
