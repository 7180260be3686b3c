/*
 * test_random.c - the generator against its authors' vectors, streams against their names, distributions
 * against their moments. Seeds are fixed, so a test that holds once holds always.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "sim/engine/random.h"
#include "sim/engine/sim.h"

#define NR_DRAWS 200000

/* From the file of known answers that belongs to the publication. */
static void known_answers(void **state)
{
	static const struct {
		uint32_t counter[4], key[2], block[4];
	} vectors[] = {
		{ { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
		{ { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
		  { 0xffffffff, 0xffffffff },
		  { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
		{ { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
		  { 0xa4093822, 0x299f31d0 },
		  { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		uint32_t block[4];

		philox4x32(vectors[i].counter, vectors[i].key, block);
		assert_memory_equal(block, vectors[i].block, sizeof(block));
	}
}

static void names_make_the_stream(void **state)
{
	static const struct {
		uint64_t seed;
		const char *entity, *purpose;
	} names[] = {
		{ 1, "/a", "think" }, { 2, "/a", "think" }, { 1, "/b", "think" }, { 1, "/a", "pages" },
		{ 1, "/at", "hink" }, { 1, "think", "/a" }, { 1, "", "/athink" }, { 0, "/a", "think" },
	};
	enum { NR = sizeof(names) / sizeof(names[0]) };
	double first[NR];
	struct stream s;

	(void)state;
	for (size_t i = 0; i < NR; i++) {
		stream_init(&s, names[i].seed, names[i].entity, names[i].purpose);
		first[i] = stream_uniform(&s);
		for (size_t j = 0; j < i; j++)
			assert_true(first[i] != first[j]);
	}
	stream_init(&s, 1, "/a", "think");
	assert_true(stream_uniform(&s) == first[0]);
}

static void order_of_creation_does_not_matter(void **state)
{
	const struct sim_config config = { .seed = 42 };
	struct sim *one = sim_create(&config), *two = sim_create(&config);
	struct stream *a, *b, *b2, *a2;

	(void)state;
	a = stream_open(one, "/a", "think");
	b = stream_open(one, "/b", "think");
	b2 = stream_open(two, "/b", "think");
	stream_open(two, "/new", "think");
	a2 = stream_open(two, "/a", "think");
	for (int i = 0; i < 100; i++) {
		double from_a = stream_uniform(a), from_b = stream_uniform(b);

		stream_uniform(b); /* one draws more than the other's twin */
		assert_true(stream_uniform(a2) == from_a);
		assert_true(from_a != from_b);
		assert_true(stream_uniform(b2) == from_b);
		stream_uniform(b2);
	}
	sim_destroy(two);
	sim_destroy(one);
}

static void gsl_draws_from_it(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(stream_rng_type);
	double sum = 0;

	(void)state;
	gsl_rng_set(rng, 7);
	for (int i = 0; i < NR_DRAWS; i++)
		sum += gsl_ran_gamma(rng, 2, 3);
	assert_true(fabs(sum / NR_DRAWS - 6) < 4 * sqrt(18.0 / NR_DRAWS));
	assert_true(gsl_rng_max(rng) == UINT32_MAX && gsl_rng_min(rng) == 0);
	gsl_rng_free(rng);
}

/* Chi-square over all results; the bounds are at 4 standard deviations of the statistic. */
static void below_is_unbiased(void **state)
{
	uint64_t counts[7] = { 0 };
	double chi2 = 0, expected = NR_DRAWS / 7.0;
	uint64_t low = 0;
	struct stream s;

	(void)state;
	stream_init(&s, 1, "test_random", "below");
	for (int i = 0; i < NR_DRAWS; i++)
		counts[stream_below(&s, 7)]++;
	for (int i = 0; i < 7; i++)
		chi2 += pow((double)counts[i] - expected, 2) / expected;
	assert_true(chi2 < 6 + 4 * sqrt(12));
	assert_int_equal(stream_below(&s, 1), 0);
	/* Without drawing again, the lower half of 0 .. 1.5 * 2^63 would come up in 2/3 of the draws. */
	for (int i = 0; i < NR_DRAWS; i++)
		low += stream_below(&s, (uint64_t)3 << 62) < (uint64_t)3 << 61;
	assert_true(fabs((double)low / NR_DRAWS - 0.5) < 4 * 0.5 / sqrt(NR_DRAWS));
}

static void check_moments(struct dist d, double mean, double variance)
{
	double sum = 0, squares = 0, fourth = 0, got, error;
	struct stream s;

	dist_prepare(&d);
	stream_init(&s, 3, "test_random", "moments");
	for (int i = 0; i < NR_DRAWS; i++) {
		double x = dist_draw(&d, &s);

		assert_true(x >= 0);
		sum += x;
		squares += (x - mean) * (x - mean);
		fourth += pow(x - mean, 4);
	}
	if (fabs(dist_mean(&d) - mean) > 1e-9 * mean)
		fail_msg("kind %d: dist_mean %.12g, should be %.12g", d.kind, dist_mean(&d), mean);
	if (fabs(sum / NR_DRAWS - mean) > 4 * sqrt(variance / NR_DRAWS) + 1e-9 * mean)
		fail_msg("kind %d: mean %.9g, should be %.9g", d.kind, sum / NR_DRAWS, mean);
	got = squares / NR_DRAWS;
	error = sqrt((fourth / NR_DRAWS - got * got) / NR_DRAWS);
	if (fabs(got - variance) > 4 * error + 1e-9 * variance)
		fail_msg("kind %d: variance %.9g, should be %.9g +- %.2g", d.kind, got, variance, error);
	dist_release(&d);
}

static void distributions_have_their_moments(void **state)
{
	static const double table[] = { 10, 1, 20, 0, 40, 3 };
	const double sigma2 = 0.25;

	(void)state;
	check_moments((struct dist){ .kind = DIST_CONSTANT, .a = 5 }, 5, 0);
	check_moments((struct dist){ .kind = DIST_UNIFORM, .a = 2, .b = 8 }, 5, 3);
	check_moments((struct dist){ .kind = DIST_EXPONENTIAL, .a = 10 }, 10, 100);
	check_moments((struct dist){ .kind = DIST_NORMAL, .a = 100, .b = 10 }, 100, 100);
	/* Half a normal: mean 1/sqrt(2 pi), mean square 1/2. */
	check_moments((struct dist){ .kind = DIST_NORMAL, .a = 0, .b = 1 }, 1 / sqrt(2 * M_PI),
		      0.5 - 1 / (2 * M_PI));
	check_moments((struct dist){ .kind = DIST_LOGNORMAL, .a = 3, .b = 0.5 }, 3 * exp(sigma2 / 2),
		      9 * exp(sigma2) * (exp(sigma2) - 1));
	check_moments((struct dist){ .kind = DIST_PARETO, .a = 2, .b = 6 }, 2.4, 4 * 6 / (25.0 * 4));
	check_moments((struct dist){ .kind = DIST_TABLE, .table = table, .nr = 3 }, 32.5, 168.75);
}

static void zipf_moments(double n, double s)
{
	double weights = 0, first = 0, second = 0, mean;

	for (double k = n; k >= 1; k--) {
		double w = pow(k, -s);

		weights += w;
		first += w * k;
		second += w * k * k;
	}
	mean = first / weights;
	check_moments((struct dist){ .kind = DIST_ZIPF, .a = n, .b = s }, mean,
		      second / weights - mean * mean);
}

static void zipf_has_its_moments(void **state)
{
	(void)state;
	zipf_moments(1, 1);
	zipf_moments(100, 1);
	zipf_moments(4096, 0.8);
	zipf_moments(4097, 0.8);
	zipf_moments(100000, 0);
	zipf_moments(100000, 0.99);
	zipf_moments(100000, 1);
	zipf_moments(100000, 1.5);
}

/* The share of the first ranks is what a moment does not see; and a hundred million ranks take no memory. */
static void zipf_over_a_hundred_million(void **state)
{
	struct dist d = { .kind = DIST_ZIPF, .a = 1e8, .b = 1 };
	const double harmonic = log(1e8) + 0.57721566490153286 + 0.5e-8;
	uint32_t counts[4] = { 0 };
	struct stream s;

	(void)state;
	dist_prepare(&d);
	stream_init(&s, 1, "test_random", "zipf");
	for (int i = 0; i < NR_DRAWS; i++) {
		double rank = dist_draw(&d, &s);

		assert_true(rank >= 1 && rank <= 1e8 && rank == floor(rank));
		if (rank < 4)
			counts[(int)rank]++;
	}
	for (int k = 1; k < 4; k++) {
		double share = 1 / (k * harmonic);

		assert_true(fabs(counts[k] / (double)NR_DRAWS - share) < 4 * sqrt(share / NR_DRAWS));
	}
	assert_true(fabs(dist_mean(&d) - 1e8 / harmonic) < 1e-9 * dist_mean(&d));
	dist_release(&d);
}

static void mean_of_a_heavy_tail_is_infinite(void **state)
{
	(void)state;
	assert_true(isinf(dist_mean(&(struct dist){ .kind = DIST_PARETO, .a = 1, .b = 1 })));
}

static void draws_can_be_counts(void **state)
{
	const struct dist wide = { .kind = DIST_LOGNORMAL, .a = 1e9, .b = 1e300 };
	double largest = 0;
	struct stream s;

	(void)state;
	stream_init(&s, 1, "draws", "");
	for (int i = 0; i < 100; i++)
		largest = fmax(largest, dist_draw(&wide, &s));
	assert_true(largest == DIST_LARGEST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(names_make_the_stream),
		cmocka_unit_test(order_of_creation_does_not_matter),
		cmocka_unit_test(gsl_draws_from_it),
		cmocka_unit_test(below_is_unbiased),
		cmocka_unit_test(distributions_have_their_moments),
		cmocka_unit_test(zipf_has_its_moments),
		cmocka_unit_test(zipf_over_a_hundred_million),
		cmocka_unit_test(mean_of_a_heavy_tail_is_infinite),
		cmocka_unit_test(draws_can_be_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
