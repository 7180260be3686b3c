/*
 * exec_probe.c - a kubelet that runs a command in each container now and then, to see whether it lives.
 *
 * Once a period it comes by all cgroups that the pattern names then, one after another. `into: target` puts
 * the command into the container's cgroup, as `exec` of a container runtime does: what it brings into the
 * page cache is charged there, and goes on counting against the container's limit. `into: transient` makes a
 * cgroup below the target for each command and removes it afterwards; what the command brought in keeps that
 * one. A target that is removed meanwhile is a probe that failed.
 */
#include "models/workload/burst.h"

#include "models/host/costs.h"
#include "sim/module.h"

enum probe_into { INTO_TARGET, INTO_TRANSIENT };

struct exec_probe {
	const char *target;
	struct dist period;
	int into;
	uint64_t rounds;
	struct burst_options burst;
};

static const struct enum_name into_names[] = {
	{ "target", INTO_TARGET, "the target itself" },
	{ "transient", INTO_TRANSIENT, "a cgroup below the target, for this probe alone" },
	{ NULL, 0, NULL },
};

static const struct option rows[] = {
	OPTION(struct exec_probe, target, OPT_STRING, .required = true,
	       .help = "path or pattern of the cgroups; those that come and go are found when they are "
		       "there"),
	OPTION(struct exec_probe, period, OPT_DIST_DURATION, .fallback = "10s",
	       .help = "from a round to the next", .source = "periodSeconds of a Kubernetes probe"),
	OPTION(struct exec_probe, into, OPT_ENUM, .names = into_names, .fallback = "target",
	       .help = "where the command runs"),
	OPTION(struct exec_probe, rounds, OPT_U64, .fallback = "0", .help = "ends after so many; 0: never"),
	BURST_OPTIONS(struct exec_probe, burst, "100", "64", "0", "5ms"),
};
static const struct option_table options = OPTION_TABLE("exec_probe", struct exec_probe, rows);

static void prepare(struct workload_task *w)
{
	const struct exec_probe *o = w->own;

	burst_declare(w, &o->burst);
}

static void probe_in(struct burst *b, struct memcg *m, sim_time_t due)
{
	if (burst_begin(b, m))
		burst_done(b, due);
	burst_end(b);
}

static void probe(struct burst *b, const struct exec_probe *o, struct memcg *target)
{
	sim_time_t due = b->t->clock;
	struct memcg *m;

	if (o->into == INTO_TARGET) {
		probe_in(b, target, due);
		return;
	}
	m = burst_mkdir(b, target, b->w->label, b->w->ops);
	if (!m)
		return;
	probe_in(b, m, due);
	burst_rmdir(b, m);
}

/* All that are there when it begins are held, so that each is still something when its turn comes. */
static void one_round(struct burst *b, const struct exec_probe *o)
{
	struct host *host = b->w->host;
	uint32_t most = host->cgroups->nr, nr;
	struct memcg **targets;

	cpu_work(b->t, host->costs->syscall); /* of a look at the tree, at least */
	task_sync(b->t);
	targets = sim_alloc(b->t->sim, most * sizeof(*targets));
	nr = memcg_match(host, o->target, targets);
	for (uint32_t i = 0; i < nr; i++)
		memcg_tryget(targets[i]); /* they are online */
	for (uint32_t i = 0; i < nr; i++) {
		probe(b, o, targets[i]);
		task_sync(b->t);
		memcg_put(b->t, targets[i]);
	}
	task_sync(b->t);
	sim_free(b->t->sim, targets, most * sizeof(*targets));
}

static void run(struct task *t, struct workload_task *w)
{
	const struct exec_probe *o = w->own;
	struct stream periods;
	struct burst b;

	burst_init(&b, t, w, &o->burst);
	stream_init(&periods, sim_seed(t->sim), w->name, "periods");
	for (uint64_t i = 0; !o->rounds || i < o->rounds; i++) {
		sim_time_t next = t->clock + (sim_time_t)dist_draw(&o->period, &periods);

		one_round(&b, o);
		if (t->clock < next)
			task_sleep(t, next - t->clock);
	}
}

static bool ends(const void *own)
{
	return ((const struct exec_probe *)own)->rounds;
}

static const struct workload_ops ops = {
	.ends = ends,
	.prepare = prepare,
	.run = run,
	.finish = burst_finish,
};

MODULE(exec_probe) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "exec_probe",
	.help = "runs a command in each of some cgroups, once a period; task.ops counts commands",
	.source = "exec probes of Kubernetes",
	.options = &options,
	.ops = &ops,
};
