/*
 * pod.c - a pod of Kubernetes that is started, runs, ends or is killed, and is started again.
 *
 * Each task is one place for a pod below its cgroup, which stands for kubepods.slice. A pod is a cgroup
 * with others below it: the sandbox, in which a process only pauses, for a moment the init container, and
 * the containers. So each pod is three memory cgroups at the least, and what users count is how many of
 * them a restart leaves behind (user case A03).
 *
 * The kubelet makes a container that has ended anew in the same pod (`restart: container`), or the whole
 * pod is replaced (`restart: pod`: an eviction, a job, a rollout). Either waits: 10 s after the first end,
 * twice as long after each further one, five minutes at most, and anew from 10 s when the container has run
 * for ten minutes (MaxContainerBackOff of the kubelet; CrashLoopBackOff). A container that does not come to
 * its start, since its memory.max is too small for its pages, say, has ended as one that ran has.
 *
 * One task plays all processes of the pod in turn, and is in the last container while the pod runs: the
 * sandbox and the other containers have their memory, but nobody who could be killed alone.
 */
#include "models/workload/burst.h"
#include "sim/module.h"

struct pod_options {
	uint32_t containers;
	uint64_t sandbox_pages, init_pages, memory_max, restarts;
	struct dist lifetime;
	int restart;
	sim_time_t backoff, backoff_most, backoff_reset;
	struct burst_options burst;
};

enum pod_restart { RESTART_CONTAINER, RESTART_POD };

static const struct enum_name restart_names[] = {
	{ "container", RESTART_CONTAINER, "the containers, in the same pod" },
	{ "pod", RESTART_POD, "the pod with all that is in it" },
	{ NULL, 0, NULL },
};

static const struct option rows[] = {
	OPTION(struct pod_options, containers, OPT_U32, .fallback = "1", .min = "1", .max = "64",
	       .help = "beside the sandbox"),
	OPTION(struct pod_options, sandbox_pages, OPT_U64, .fallback = "64", .max = "1M",
	       .help = "memory of the process that pauses in the sandbox"),
	OPTION(struct pod_options, init_pages, OPT_U64, .fallback = "0", .max = "1M",
	       .help = "pages that an init container reads as the first; 0: there is none"),
	OPTION_AS("memory.max", struct pod_options, memory_max, OPT_BYTES, .allow_max = true,
		  .fallback = "max", .help = "limit of each container"),
	OPTION(struct pod_options, lifetime, OPT_DIST_DURATION, .fallback = "1h",
	       .help = "from when the containers run until they end"),
	OPTION(struct pod_options, restart, OPT_ENUM, .names = restart_names, .fallback = "container",
	       .help = "what is made anew"),
	OPTION(struct pod_options, backoff, OPT_DURATION, .fallback = "10s",
	       .help = "before the first restart; twice as long before each further one",
	       .source = "backOffPeriod of the kubelet"),
	OPTION(struct pod_options, backoff_most, OPT_DURATION, .fallback = "5min",
	       .help = "before any restart", .source = "MaxContainerBackOff of the kubelet"),
	OPTION(struct pod_options, backoff_reset, OPT_DURATION, .fallback = "10min",
	       .help = "run after which the next restart counts as the first"),
	OPTION(struct pod_options, restarts, OPT_U64, .fallback = "0",
	       .help = "ends after so many; 0: never"),
	BURST_OPTIONS(struct pod_options, burst, "2000", "1024", "16", "200ms"),
};
static const struct option_table options = OPTION_TABLE("pod", struct pod_options, rows);

/* A cgroup of the pod, and the process in it. */
struct container {
	struct burst_options options;
	struct burst burst;
	struct memcg *memcg; /* NULL: it does not exist */
};

struct pod {
	struct task *t;
	struct workload_task *w;
	const struct pod_options *o;
	struct stream lifetimes;
	struct burst cgroup; /* of the pod's own cgroup, in which nothing runs */
	struct memcg *memcg;
	uint64_t nr; /* of cgroups so far */
	struct container sandbox, init;
	struct container *containers;
};

static void prepare(struct workload_task *w)
{
	const struct pod_options *o = w->own;

	burst_declare(w, &o->burst);
}

static void init_container(struct pod *p, struct container *c, const struct burst_options *o)
{
	c->options = *o;
	burst_init(&c->burst, p->t, p->w, &c->options);
}

static void init_pod(struct pod *p)
{
	const struct pod_options *o = p->o;
	struct burst_options some = o->burst;

	stream_init(&p->lifetimes, sim_seed(p->t->sim), p->w->name, "lifetimes");
	p->containers = sim_alloc(p->t->sim, o->containers * sizeof *p->containers);
	for (uint32_t i = 0; i < o->containers; i++)
		init_container(p, &p->containers[i], &some);
	some.anon_pages = 0;
	some.new_pages = o->init_pages;
	init_container(p, &p->init, &some);
	some.new_pages = some.program_pages = 0;
	some.work = 0;
	some.anon_pages = o->sandbox_pages;
	init_container(p, &p->sandbox, &some);
	p->cgroup = (struct burst){ .t = p->t, .w = p->w };
}

static bool start(struct pod *p, struct container *c, const char *stem)
{
	c->memcg = burst_mkdir(&c->burst, p->memcg, stem, p->nr++);
	if (!c->memcg)
		return false;
	if (p->o->memory_max != UINT64_MAX)
		memcg_set_max(p->t, c->memcg, p->o->memory_max / PAGE_SIZE);
	return burst_begin(&c->burst, c->memcg);
}

static void stop(struct container *c)
{
	if (!c->memcg)
		return;
	burst_end(&c->burst);
	burst_rmdir(&c->burst, c->memcg);
	c->memcg = NULL;
}

static void stop_pod(struct pod *p)
{
	if (!p->memcg)
		return;
	stop(&p->sandbox);
	burst_rmdir(&p->cgroup, p->memcg);
	p->memcg = NULL;
}

/* With its sandbox, and once the init container is done. */
static bool start_pod(struct pod *p)
{
	bool started;

	p->memcg = burst_mkdir(&p->cgroup, p->w->memcg, p->w->label, p->nr++);
	started = p->memcg && start(p, &p->sandbox, "sandbox");
	if (started && p->o->init_pages) {
		started = start(p, &p->init, "init");
		stop(&p->init);
	}
	if (!started)
		stop_pod(p);
	return started;
}

static bool start_containers(struct pod *p)
{
	bool started = true;

	for (uint32_t i = 0; started && i < p->o->containers; i++)
		started = start(p, &p->containers[i], "c");
	return started;
}

/* From the pod's start, if there is none, to its containers' end; returns how long they ran. */
static sim_time_t one_life(struct pod *p)
{
	struct container *last = &p->containers[p->o->containers - 1];
	sim_time_t due = p->t->clock, began = due, ended = due;

	if ((p->memcg || start_pod(p)) && start_containers(p)) {
		began = p->t->clock;
		burst_done(&last->burst, due);
		burst_run_until(&last->burst, began + (sim_time_t)dist_draw(&p->o->lifetime, &p->lifetimes));
		ended = p->t->clock;
	}
	for (uint32_t i = p->o->containers; i--;)
		stop(&p->containers[i]);
	if (p->o->restart == RESTART_POD)
		stop_pod(p);
	return ended - began;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct pod_options *o = w->own;
	struct pod p = { .t = t, .w = w, .o = o };
	sim_time_t backoff = o->backoff;

	init_pod(&p);
	for (uint64_t i = 0; !o->restarts || i <= o->restarts; i++) {
		if (one_life(&p) >= o->backoff_reset)
			backoff = o->backoff;
		task_sleep(t, backoff);
		backoff = backoff < o->backoff_most / 2 ? 2 * backoff : o->backoff_most;
	}
	stop_pod(&p);
}

static bool ends(const void *own)
{
	return ((const struct pod_options *)own)->restarts;
}

static const struct workload_ops ops = {
	.ends = ends,
	.prepare = prepare,
	.run = run,
	.finish = burst_finish,
};

MODULE(pod) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "pod",
	.help = "a pod with sandbox and containers that end and are restarted; task.ops counts starts",
	.source = "Kubernetes; user case A03",
	.options = &options,
	.ops = &ops,
};
