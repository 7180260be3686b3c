/*
 * units.h - numbers with units, read exactly.
 *
 * Integers (counts, bytes, picoseconds) never pass through floating point: "0.2ns" is 200 ps, and
 * "0.0001ns" is a mistake because it is no whole number of them.
 */
#ifndef SIM_SCENARIO_UNITS_H
#define SIM_SCENARIO_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/scenario/option.h"

/* Why a text is not a number of its type: a clause that follows the text, "is negative". */
struct unit_error {
	char text[160];
	bool range; /* the type's number, but out of its bounds: the option's own range is worth naming */
};

/* OPT_U32, OPT_U64, OPT_BYTES, OPT_DURATION. */
bool unit_integer(enum opt_type type, const char *text, uint64_t *value, struct unit_error *error);
/* OPT_RATIO, OPT_NUMBER, OPT_RATE. */
bool unit_real(enum opt_type type, const char *text, double *value, struct unit_error *error);
bool unit_is_integer(enum opt_type type);

/* The units of a type in words: "ps, ns, us, ms, s, min, h or d". NULL: takes none. */
const char *unit_names(enum opt_type type);
/* A regular expression (ECMA) of a text with a unit, for the JSON Schema. */
const char *unit_pattern(enum opt_type type);

#endif
