/*
 * progress.c - the progress line. See progress.h.
 *
 * The time left is what the rest would take at the mean rate so far. Runs differ less than workloads do over
 * their length, so the mean over everything is steadier than any recent rate; the rate of events, which is
 * there to show that something moves, is that of the last second.
 */
#include "sim/experiment/progress.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"

struct progress {
	FILE *out;
	bool live, drawn;
	size_t nr_jobs, nr_done;
	struct progress_state *states;
	bool *done;
	double began, shown;
	double rate, rate_since;
	uint64_t rate_events;
};

struct progress *progress_new(FILE *out, bool live, size_t nr_jobs, double now)
{
	struct progress *p = xcalloc(1, sizeof(*p));

	*p = (struct progress){ .out = out, .live = live, .nr_jobs = nr_jobs };
	p->began = p->shown = p->rate_since = now;
	p->states = xcalloc(nr_jobs, sizeof(*p->states));
	p->done = xcalloc(nr_jobs, sizeof(*p->done));
	return p;
}

void progress_clear(struct progress *p)
{
	if (!p || !p->drawn)
		return;
	fputs("\r\033[K", p->out);
	fflush(p->out);
	p->drawn = false;
}

void progress_free(struct progress *p)
{
	if (!p)
		return;
	progress_clear(p);
	free(p->states);
	free(p->done);
	free(p);
}

/* Of all jobs together; memory only of those that run. */
static struct progress_state total(const struct progress *p)
{
	struct progress_state sum = { 0 };

	for (size_t i = 0; i < p->nr_jobs; i++) {
		sum.sim_time += p->states[i].sim_time;
		sum.events += p->states[i].events;
		sum.share += p->done[i] ? 1 : p->states[i].share;
		if (!p->done[i])
			sum.memory += p->states[i].memory;
	}
	sum.share /= (double)p->nr_jobs;
	return sum;
}

void progress_update(struct progress *p, size_t i, const struct progress_state *state, double now)
{
	p->states[i] = *state;
	if (now - p->rate_since >= 1) {
		uint64_t events = total(p).events;

		p->rate = (double)(events - p->rate_events) / (now - p->rate_since);
		p->rate_events = events;
		p->rate_since = now;
	}
}

static void format_count(double value, char text[16])
{
	static const char prefixes[] = " kMGT";
	size_t i = 0;

	while (value >= 999.5 && i < sizeof(prefixes) - 2) {
		value /= 1000;
		i++;
	}
	snprintf(text, 16, i ? "%.3g %c" : "%.3g ", value, prefixes[i]);
}

static void format_left(double share, double elapsed, char text[32])
{
	if (share <= 0) {
		snprintf(text, 32, "?");
		return;
	}
	unsigned long left = (unsigned long)(elapsed * (1 - share) / share + 0.5);

	if (left >= 3600)
		snprintf(text, 32, "%lu:%02lu:%02lu", left / 3600, left / 60 % 60, left % 60);
	else
		snprintf(text, 32, "%lu:%02lu", left / 60, left % 60);
}

void progress_format(const struct progress *p, double now, char *line, size_t size)
{
	struct progress_state sum = total(p);
	double elapsed = now - p->began;
	double rate = p->rate > 0 || elapsed <= 0 ? p->rate : (double)sum.events / elapsed;
	char events[16], left[32];

	format_count(rate, events);
	format_left(sum.share, elapsed, left);
	snprintf(line, size, "%zu/%zu runs, %.3f s, %.0f%%, %sevents/s, %.2g x real, %llu MiB, ETA %s",
		 p->nr_done, p->nr_jobs, sim_seconds(sum.sim_time), 100 * sum.share, events,
		 elapsed > 0 ? sim_seconds(sum.sim_time) / elapsed : 0,
		 (unsigned long long)(sum.memory >> 20), left);
}

static void draw(struct progress *p, double now)
{
	char line[160];

	progress_format(p, now, line, sizeof(line));
	if (p->live)
		fprintf(p->out, "\r%.79s\033[K", line);
	else
		fprintf(p->out, "%s\n", line);
	fflush(p->out);
	p->drawn = p->live;
	p->shown = now;
}

void progress_show(struct progress *p, double now)
{
	if (now - p->shown >= (p->live ? 0.1 : PROGRESS_PLAIN_S))
		draw(p, now);
}

void progress_done(struct progress *p, size_t i, double now)
{
	p->done[i] = true;
	p->nr_done++;
	draw(p, now);
}
