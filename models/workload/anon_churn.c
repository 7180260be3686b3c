/*
 * anon_churn.c - a task that touches anonymous memory page by page and gives it back, over and over.
 *
 * The loop of seed 1's w1 (one thread, MADV_DONTNEED and fault again) and of will-it-scale's page_fault1:
 * fault, clear, charge, count, zap, with nothing between.
 */
#include "models/workload/workload.h"
#include "sim/module.h"

struct anon_churn {
	uint64_t pages, rounds;
	struct dist pause;
	sim_time_t work;
};

static const struct option rows[] = {
	OPTION(struct anon_churn, pages, OPT_U64, .fallback = "256", .min = "1", .max = "1G",
	       .help = "pages touched in a round"),
	OPTION(struct anon_churn, rounds, OPT_U64, .fallback = "0", .help = "rounds; 0: for ever"),
	OPTION(struct anon_churn, pause, OPT_DIST_DURATION, .fallback = "0s",
	       .help = "sleep after each round"),
	OPTION(struct anon_churn, work, OPT_DURATION, .fallback = "0s",
	       .help = "time in user mode for each page"),
};
static const struct option_table options = OPTION_TABLE("anon_churn", struct anon_churn, rows);

static bool ends(const void *own)
{
	return ((const struct anon_churn *)own)->rounds > 0;
}

static bool touch_all(struct task *t, struct workload_task *w, struct anon_object *memory)
{
	const struct anon_churn *o = w->own;
	struct memcg *level;

	for (uint64_t i = 0; i < o->pages; i++) {
		if (!anon_touch(t, memory, i, &level)) {
			workload_out_of_memory(w, level);
			return false;
		}
		workload_return(t, w);
		w->ops++;
		if (o->work)
			user_work(t, o->work);
	}
	return true;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct anon_churn *o = w->own;
	struct anon_object *memory = anon_create(w->host, w->memcg, o->pages);
	struct stream pauses;

	stream_init(&pauses, sim_seed(t->sim), w->name, "pause");
	for (uint64_t round = 0; !o->rounds || round < o->rounds; round++) {
		if (!touch_all(t, w, memory))
			break;
		anon_zap(t, memory, 0, o->pages);
		sim_time_t pause = (sim_time_t)dist_draw(&o->pause, &pauses);

		if (pause)
			task_sleep(t, pause);
	}
	anon_unmap(t, memory);
}

static const struct workload_ops ops = { .ends = ends, .run = run };

MODULE(anon_churn) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "anon_churn",
	.help = "touches anonymous pages one by one, drops them, again; task.ops counts pages",
	.source = "w1 of seed 1; will-it-scale page_fault1",
	.options = &options,
	.ops = &ops,
};
