/*
 * series.c - time-weighted means, and series that thin themselves. See series.h.
 *
 * Which rows a series keeps depends on their number alone: rows 0, 2^k, 2 * 2^k, ... with the smallest k that
 * fits the budget. The budget is even, so that the row which finds the series full is one of those that
 * the doubled stride keeps.
 */
#include "sim/stats/series.h"

#include "sim/engine/xalloc.h"

void time_weighted_start(struct time_weighted *w, sim_time_t now, double value)
{
	*w = (struct time_weighted){ .since = now, .begin = now, .value = value, .max = value };
}

static double area_until(const struct time_weighted *w, sim_time_t now)
{
	return w->area + w->value * (double)(now - w->since);
}

void time_weighted_set(struct time_weighted *w, sim_time_t now, double value)
{
	w->area = area_until(w, now);
	w->since = now;
	w->value = value;
	if (value > w->max)
		w->max = value;
}

double time_weighted_mean(const struct time_weighted *w, sim_time_t now)
{
	if (now == w->begin)
		return w->value;
	return area_until(w, now) / (double)(now - w->begin);
}

void series_init(struct series *s, uint32_t budget)
{
	*s = (struct series){ .budget = budget < 2 ? 2 : budget & ~(uint32_t)1, .stride = 1 };
}

void series_release(struct series *s)
{
	free(s->rows);
	series_init(s, s->budget);
}

static void thin(struct series *s)
{
	for (uint32_t i = 1; i < s->nr / 2; i++)
		s->rows[i] = s->rows[2 * i];
	s->nr /= 2;
	s->stride *= 2;
}

static void grow(struct series *s)
{
	s->capacity = s->capacity ? s->capacity * 2 : 16;
	if (s->capacity > s->budget)
		s->capacity = s->budget;
	s->rows = xreallocarray(s->rows, s->capacity, sizeof(*s->rows));
}

void series_add(struct series *s, sim_time_t t, double value)
{
	if (s->nr && s->skipped + 1 < s->stride) {
		s->skipped++;
		return;
	}
	if (s->nr == s->budget)
		thin(s);
	else if (s->nr == s->capacity)
		grow(s);
	s->rows[s->nr++] = (struct series_row){ t, value };
	s->skipped = 0;
}
