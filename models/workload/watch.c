/*
 * watch.c - reading a cgroup's files for a daemon. See watch.h.
 */
#include "models/workload/watch.h"

#include <math.h>

#include "models/host/costs.h"
#include "models/pressure/pressure.h"
#include "models/stat/stat.h"

const struct enum_name watch_numbers[] = {
	{ "current", WATCH_CURRENT, "memory.current" },
	{ "anon", WATCH_ANON, "anon of memory.stat" },
	{ "working_set", WATCH_WORKING_SET, "memory.current less inactive_file of memory.stat" },
	{ "pressure", WATCH_PRESSURE, "full avg10 of memory.pressure, per cent" },
	{ "pgscan", WATCH_PGSCAN, "pgscan of memory.stat, a second, between two readings" },
	{ NULL, 0, NULL },
};

void watch_init(struct watched *x, struct memcg *m)
{
	*x = (struct watched){ .memcg = m, .id = m->id, .read_at = SIM_NEVER };
}

bool watch_exists(const struct host *host, const struct watched *x)
{
	return host->cgroups->all[x->id] == x->memcg && x->memcg->life == MEMCG_ONLINE;
}

static double positive(int64_t value)
{
	return value > 0 ? (double)value : 0;
}

static double pressure(struct memcg *m)
{
	struct psi_reading reading;

	psi_read(m, &reading);
	return reading.average[PSI_FULL][PSI_AVG10];
}

static int64_t scanned(const struct memcg *m, int64_t (*view)(const struct memcg *m, enum stat_item item))
{
	return view(m, PGSCAN_KSWAPD) + view(m, PGSCAN_DIRECT);
}

/* The rates since the last reading, seen and true. */
static void rates(struct watched *x, sim_time_t now)
{
	int64_t seen = scanned(x->memcg, stat_reported), truth = scanned(x->memcg, stat_truth);
	double seconds = x->read_at == SIM_NEVER ? 0 : sim_seconds(now - x->read_at);

	x->seen = seconds > 0 ? positive(seen - x->scanned) / seconds : 0;
	x->true_rate = seconds > 0 ? positive(truth - x->truly_scanned) / seconds : 0;
	x->scanned = seen;
	x->truly_scanned = truth;
}

void watch_read(struct task *t, struct watched *x, enum watch_number number)
{
	struct memcg *m = x->memcg;
	struct stat_read stat;

	if (number != WATCH_CURRENT && number != WATCH_PRESSURE)
		memory_stat_read(t, m, &stat);
	if (number != WATCH_ANON && number != WATCH_PGSCAN) {
		cpu_work(t, m->host->costs->read_open);
		line_read(t, &m->memory.line);
	}
	task_sync(t);
	switch (number) {
	case WATCH_CURRENT:
		x->seen = (double)memcg_current(m);
		break;
	case WATCH_ANON:
		x->seen = positive(stat_reported(m, NR_ANON_MAPPED));
		break;
	case WATCH_WORKING_SET:
		x->seen = fmax(0, (double)memcg_current(m) - positive(stat_reported(m, NR_INACTIVE_FILE)));
		break;
	case WATCH_PRESSURE:
		x->seen = pressure(m);
		break;
	case WATCH_PGSCAN:
		rates(x, t->clock);
		break;
	}
	x->read_at = t->clock;
}

double watch_truth(const struct task *t, const struct watched *x, enum watch_number number)
{
	struct memcg *m = x->memcg;
	double seconds;

	switch (number) {
	case WATCH_CURRENT:
		return (double)memcg_current(m);
	case WATCH_ANON:
		return positive(stat_truth(m, NR_ANON_MAPPED));
	case WATCH_WORKING_SET:
		return fmax(0, (double)memcg_current(m) - positive(stat_truth(m, NR_INACTIVE_FILE)));
	case WATCH_PRESSURE:
		return pressure(m);
	default:
		/* Since the reading at hand, or if that is of this instant, up to it. */
		seconds = x->read_at == SIM_NEVER ? 0 : sim_seconds(t->clock - x->read_at);
		if (seconds <= 0.01)
			return x->true_rate;
		return positive(scanned(m, stat_truth) - x->truly_scanned) / seconds;
	}
}

sim_time_t watch_age(const struct task *t, const struct watched *x)
{
	return x->read_at == SIM_NEVER ? t->clock : t->clock - x->read_at;
}

uint64_t watch_off(double seen, double truth, enum watch_number number)
{
	return number == WATCH_PRESSURE || number == WATCH_PGSCAN ? 0 : (uint64_t)fabs(seen - truth);
}
