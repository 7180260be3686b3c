/*
 * units.c - see units.h.
 *
 * A number is read as a decimal fraction of two integers and multiplied by its unit in 128 bits. What a bare
 * number means is a row with an empty unit name; a type without that row demands a unit, except for 0, which
 * is the same in every unit.
 */
#include "sim/scenario/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct unit {
	const char *name;
	uint64_t scale;
};

static const struct unit counts[] = {
	{ "", 1 },
	{ "K", 1000 },
	{ "M", 1000000 },
	{ "G", 1000000000 },
};

static const struct unit bytes[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", 1000 },
	{ "M", 1000000 },
	{ "G", 1000000000 },
	{ "T", 1000000000000 },
	{ "KiB", UINT64_C(1) << 10 },
	{ "MiB", UINT64_C(1) << 20 },
	{ "GiB", UINT64_C(1) << 30 },
	{ "TiB", UINT64_C(1) << 40 },
};

static const struct unit durations[] = {
	{ "ps", SIM_PS }, { "ns", SIM_NS },        { "us", SIM_US },        { "ms", SIM_MS },
	{ "s", SIM_SEC }, { "min", 60 * SIM_SEC }, { "h", 3600 * SIM_SEC }, { "d", 86400 * SIM_SEC },
};

struct real_unit {
	const char *name;
	double scale;
};

static const struct real_unit ratios[] = { { "", 1 }, { "%", 0.01 } };
static const struct real_unit plain[] = { { "", 1 } };
static const struct real_unit rates[] = {
	{ "/s", 1 },          { "K/s", 1e3 },        { "M/s", 1e6 },        { "G/s", 1e9 },
	{ "/min", 1.0 / 60 }, { "K/min", 1e3 / 60 }, { "M/min", 1e6 / 60 }, { "/h", 1.0 / 3600 },
};

const char *unit_names(enum opt_type type)
{
	switch (type) {
	case OPT_U32:
	case OPT_U64:
		return "K, M or G";
	case OPT_BYTES:
		return "B, K, M, G, T, KiB, MiB, GiB or TiB";
	case OPT_DURATION:
		return "ps, ns, us, ms, s, min, h or d";
	case OPT_RATIO:
		return "%";
	case OPT_RATE:
		return "/s, /min or /h, with K, M or G before it";
	default:
		return NULL;
	}
}

const char *unit_pattern(enum opt_type type)
{
	switch (type) {
	case OPT_U32:
	case OPT_U64:
		return "^[0-9]+(\\.[0-9]+)? ?[KMG]?$";
	case OPT_BYTES:
		return "^[0-9]+(\\.[0-9]+)? ?([KMGT]i?B|[BKMGT])?$";
	case OPT_DURATION:
		return "^(0|[0-9]+(\\.[0-9]+)? ?(ps|ns|us|ms|s|min|h|d))$";
	case OPT_RATIO:
		return "^[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)? ?%?$";
	case OPT_RATE:
		return "^(0|[0-9]+(\\.[0-9]+)? ?[KMG]?/(s|min|h))$";
	default:
		return "^-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?$";
	}
}

bool unit_is_integer(enum opt_type type)
{
	return type == OPT_U32 || type == OPT_U64 || type == OPT_BYTES || type == OPT_DURATION;
}

static const struct unit *units_of(enum opt_type type, size_t *nr)
{
	switch (type) {
	case OPT_BYTES:
		*nr = COUNT(bytes);
		return bytes;
	case OPT_DURATION:
		*nr = COUNT(durations);
		return durations;
	default:
		*nr = COUNT(counts);
		return counts;
	}
}

static const struct real_unit *real_units_of(enum opt_type type, size_t *nr)
{
	switch (type) {
	case OPT_RATIO:
		*nr = COUNT(ratios);
		return ratios;
	case OPT_RATE:
		*nr = COUNT(rates);
		return rates;
	default:
		*nr = COUNT(plain);
		return plain;
	}
}

static const char *thing(enum opt_type type)
{
	switch (type) {
	case OPT_BYTES:
		return "a size in bytes";
	case OPT_DURATION:
		return "a duration";
	case OPT_RATIO:
		return "a ratio";
	case OPT_RATE:
		return "a rate";
	case OPT_NUMBER:
		return "a number";
	default:
		return "a count";
	}
}

static bool fail(struct unit_error *error, bool range, const char *why)
{
	error->range = range;
	snprintf(error->text, sizeof(error->text), "%s", why);
	return false;
}

static bool not_a_number(struct unit_error *error, enum opt_type type)
{
	error->range = false;
	snprintf(error->text, sizeof(error->text), "is not %s", thing(type));
	return false;
}

static bool wrong_unit(struct unit_error *error, enum opt_type type, const char *unit)
{
	const char *names = unit_names(type);

	error->range = false;
	if (!names)
		snprintf(error->text, sizeof(error->text), "is not %s: '%.20s' is too much", thing(type),
			 unit);
	else if (*unit)
		snprintf(error->text, sizeof(error->text), "has no unit of %s: '%.20s' is not %s",
			 thing(type), unit, names);
	else
		snprintf(error->text, sizeof(error->text), "needs a unit: %s", names);
	return false;
}

/* digits / 10^places */
struct decimal {
	unsigned __int128 digits;
	unsigned places;
	bool huge; /* or with more digits than can matter */
	const char *end;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct decimal read_decimal(const char *s)
{
	struct decimal d = { 0 };
	unsigned zeros = 0; /* met behind the point and not taken in yet: 1.50 is 1.5 */

	for (; is_digit(*s); s++) {
		d.digits = d.digits * 10 + (unsigned)(*s - '0');
		if (d.digits >> 64)
			d.huge = true;
		if (d.huge)
			d.digits = 0;
	}
	if (*s == '.' && is_digit(s[1])) {
		for (s++; is_digit(*s); s++) {
			zeros++;
			if (*s == '0')
				continue;
			for (; zeros; zeros--, d.places++)
				d.digits = d.places < 30 ? d.digits * 10 : d.digits;
			d.digits += (unsigned)(*s - '0');
			if (d.places > 18 || d.digits >> 64)
				d.huge = true;
			if (d.huge)
				d.digits = 0;
		}
	}
	d.end = s;
	return d;
}

bool unit_integer(enum opt_type type, const char *text, uint64_t *value, struct unit_error *error)
{
	bool negative = text[0] == '-' && is_digit(text[1]);
	struct decimal d = read_decimal(text + negative);
	unsigned __int128 product, power = 1;
	const char *unit = d.end;
	const struct unit *units;
	size_t nr, i;

	if (!is_digit(text[negative]))
		return not_a_number(error, type);
	if (*unit == ' ')
		unit++;
	units = units_of(type, &nr);
	for (i = 0; i < nr && strcmp(units[i].name, unit); i++)
		;
	if (i == nr && !(*unit == '\0' && !d.digits && !d.huge))
		return wrong_unit(error, type, unit);
	if (negative)
		return fail(error, true, "is negative");
	if (d.huge)
		return fail(error, true, d.places ? "has too many digits" : "is too large");
	product = d.digits * (i < nr ? units[i].scale : 1);
	for (unsigned p = 0; p < d.places; p++)
		power *= 10;
	if (product % power)
		return fail(error, false,
			    type == OPT_BYTES      ? "is not a whole number of bytes"
			    : type == OPT_DURATION ? "is not a whole number of picoseconds"
						   : "is not a whole number");
	if (product / power > UINT64_MAX)
		return fail(error, true, "is too large");
	*value = (uint64_t)(product / power);
	return true;
}

/* Past a number of the form -1.5e-3; NULL when there is none. Of strtod()'s forms only this is wanted. */
static const char *skip_real(const char *s)
{
	s += *s == '-';
	if (!is_digit(*s))
		return NULL;
	while (is_digit(*s))
		s++;
	if (*s == '.' && is_digit(s[1])) {
		for (s++; is_digit(*s); s++)
			;
	}
	if ((*s == 'e' || *s == 'E') &&
	    (is_digit(s[1]) || ((s[1] == '-' || s[1] == '+') && is_digit(s[2])))) {
		for (s += 2; is_digit(*s); s++)
			;
	}
	return s;
}

bool unit_real(enum opt_type type, const char *text, double *value, struct unit_error *error)
{
	const char *unit = skip_real(text);
	const struct real_unit *units;
	double number;
	size_t nr, i;

	if (!unit)
		return not_a_number(error, type);
	number = strtod(text, NULL);
	if (*unit == ' ')
		unit++;
	units = real_units_of(type, &nr);
	for (i = 0; i < nr && strcmp(units[i].name, unit); i++)
		;
	if (i == nr && !(*unit == '\0' && number == 0))
		return wrong_unit(error, type, unit);
	if (!isfinite(number))
		return fail(error, true, "is too large");
	if (number < 0 && type != OPT_NUMBER)
		return fail(error, true, "is negative");
	*value = i < nr ? number * units[i].scale : 0;
	return true;
}
