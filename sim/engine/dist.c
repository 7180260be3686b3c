/*
 * dist.c - the distributions that a scenario can name. See random.h.
 *
 * All but a large Zipf draw by inversion: one uniform number each, put through the inverse of the cumulative
 * distribution. So two variants whose distributions differ only in a parameter draw values of the same rank,
 * which keeps their comparison sharp, and neither gets out of step with the stream.
 *
 * Zipf over 1..n: up to ZIPF_TABLE ranks a table of cumulative weights and a binary search, above that
 * rejection-inversion (Hoermann and Derflinger, ACM TOMACS 1996), which needs five constants and on average
 * fewer than 1.2 trials whatever n is; n = 100 million costs no memory.
 */
#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_exp.h>
#include <math.h>

#include "sim/engine/random.h"
#include "sim/engine/xalloc.h"

#define ZIPF_TABLE 4096

/* Constants of rejection-inversion: the hat's integral at the ends, and the width of sure acceptance. */
struct zipf_hat {
	double first, last, sure;
};

/* Integral of x^-s from 1 to x; the ratio (e^y - 1) / y keeps it exact where s is near 1. */
static double zipf_integral(double x, double s)
{
	double log_x = log(x);

	return log_x * gsl_sf_exprel((1 - s) * log_x);
}

/* Inverse of the above. */
static double zipf_inverse(double y, double s)
{
	double t = fmax((1 - s) * y, -1); /* rounding may lead below what has an inverse */

	return t == 0 ? exp(y) : exp(y * (log1p(t) / t));
}

static void *zipf_hat(double n, double s)
{
	struct zipf_hat *hat = xcalloc(1, sizeof(*hat));

	hat->first = zipf_integral(1.5, s) - 1;
	hat->last = zipf_integral(n + 0.5, s);
	hat->sure = 2 - zipf_inverse(zipf_integral(2.5, s) - pow(2, -s), s);
	return hat;
}

static double zipf_reject(const struct dist *d, struct stream *s)
{
	const struct zipf_hat *hat = d->lookup;

	for (;;) {
		double y = hat->last + stream_uniform(s) * (hat->first - hat->last);
		double x = zipf_inverse(y, d->b);
		double rank = fmin(fmax(floor(x + 0.5), 1), d->a);

		if (rank - x <= hat->sure || y >= zipf_integral(rank + 0.5, d->b) - pow(rank, -d->b))
			return rank;
	}
}

static void *zipf_table(double n, double s)
{
	double *sums = xcalloc((size_t)n, sizeof(*sums));
	double sum = 0;

	for (size_t i = 0; i < (size_t)n; i++)
		sums[i] = sum += pow((double)(i + 1), -s);
	return sums;
}

static double zipf_search(const struct dist *d, struct stream *s)
{
	const double *sums = d->lookup;
	size_t low = 0, high = (size_t)d->a - 1;
	double u = stream_uniform(s) * sums[high];

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (u < sums[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return (double)(low + 1);
}

void dist_prepare(struct dist *d)
{
	if (d->kind == DIST_ZIPF) {
		d->a = fmax(1, floor(d->a));
		d->lookup = d->a <= ZIPF_TABLE ? zipf_table(d->a, d->b) : zipf_hat(d->a, d->b);
	} else if (d->kind == DIST_TABLE) {
		double *weights = xcalloc(d->nr, sizeof(*weights));

		for (uint32_t i = 0; i < d->nr; i++)
			weights[i] = d->table[2 * i + 1];
		d->lookup = xalloc_checked(gsl_ran_discrete_preproc(d->nr, weights));
		free(weights);
	}
}

void dist_release(struct dist *d)
{
	if (d->kind == DIST_TABLE && d->lookup)
		gsl_ran_discrete_free(d->lookup);
	else
		free(d->lookup);
	d->lookup = NULL;
}

static double draw(const struct dist *d, struct stream *s)
{
	switch (d->kind) {
	case DIST_CONSTANT:
		return d->a;
	case DIST_UNIFORM:
		return d->a + (d->b - d->a) * stream_uniform(s);
	case DIST_EXPONENTIAL:
		return gsl_cdf_exponential_Pinv(stream_uniform(s), d->a);
	case DIST_NORMAL:
		return d->a + gsl_cdf_gaussian_Pinv(stream_uniform(s), d->b);
	case DIST_LOGNORMAL:
		return d->a * exp(gsl_cdf_gaussian_Pinv(stream_uniform(s), d->b));
	case DIST_PARETO:
		return gsl_cdf_pareto_Pinv(stream_uniform(s), d->b, d->a);
	case DIST_ZIPF:
		return d->a <= ZIPF_TABLE ? zipf_search(d, s) : zipf_reject(d, s);
	case DIST_TABLE:
		return d->table[2 * gsl_ran_discrete(&s->rng, d->lookup)];
	}
	return 0;
}

double dist_draw(const struct dist *d, struct stream *s)
{
	return fmin(fmax(draw(d, s), 0), DIST_LARGEST);
}

/* Sum of k^-s for k = 1..n: term by term up to 1,000, from there Euler-Maclaurin with two terms. */
static double power_sum(double n, double s)
{
	double from = fmin(n, 1000), sum = 0;

	for (double k = 1; k < from; k++)
		sum += pow(k, -s);
	sum += zipf_integral(n, s) - zipf_integral(from, s);
	sum += (pow(from, -s) + pow(n, -s)) / 2;
	return sum + s * (pow(from, -s - 1) - pow(n, -s - 1)) / 12;
}

static double table_mean(const struct dist *d)
{
	double sum = 0, weights = 0;

	for (uint32_t i = 0; i < d->nr; i++) {
		sum += fmax(d->table[2 * i], 0) * d->table[2 * i + 1];
		weights += d->table[2 * i + 1];
	}
	return sum / weights;
}

static double normal_mean(double mean, double sd)
{
	if (sd <= 0)
		return fmax(mean, 0);
	return mean * gsl_cdf_ugaussian_P(mean / sd) + sd * gsl_ran_ugaussian_pdf(mean / sd);
}

double dist_mean(const struct dist *d)
{
	switch (d->kind) {
	case DIST_CONSTANT:
		return d->a;
	case DIST_UNIFORM:
		return (d->a + d->b) / 2;
	case DIST_EXPONENTIAL:
		return d->a;
	case DIST_NORMAL:
		return normal_mean(d->a, d->b);
	case DIST_LOGNORMAL:
		return d->a * exp(d->b * d->b / 2);
	case DIST_PARETO:
		return d->b > 1 ? d->a * d->b / (d->b - 1) : HUGE_VAL;
	case DIST_ZIPF:
		return power_sum(floor(d->a), d->b - 1) / power_sum(floor(d->a), d->b);
	case DIST_TABLE:
		return table_mean(d);
	}
	return 0;
}
