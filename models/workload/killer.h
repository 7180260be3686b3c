/*
 * killer.h - a daemon that looks at one number, and when that is too high ends the tasks of the cgroup that
 * it holds for the worst. The OOM daemon and the eviction manager are two of them.
 */
#ifndef MODELS_WORKLOAD_KILLER_H
#define MODELS_WORKLOAD_KILLER_H

#include "models/workload/watch.h"

enum killer_reading { READ_CACHED, READ_ON_DEMAND, READ_EVENT };
extern const struct enum_name killer_readings[];

struct killer_options {
	const char *watch;             /* the cgroup whose number decides whether */
	struct option_list candidates; /* patterns: whose numbers decide who */
	int when, by, reading;         /* watch_number, watch_number, killer_reading */
	uint64_t limit;                /* bytes; for `when` in pages */
	double pressure;               /* per cent; for the others */
	sim_time_t interval, refresh, settle, grace;
	uint32_t kills;
	uint64_t dying; /* most dying descendants of `watch` with which it acts */
};

/* The rows of both; defaults are the daemon's own. */
#define KILLER_OPTIONS(when_, by_, reading_, interval_, refresh_, settle_, grace_)                           \
	OPTION(struct killer_options, watch, OPT_STRING, .fallback = "/",                                    \
	       .help = "cgroup whose number decides whether to act"),                                        \
		OPTION(struct killer_options, candidates, OPT_STRINGS, .required = true,                     \
		       .help = "paths or patterns of the cgroups of which one is ended"),                    \
		OPTION(struct killer_options, when, OPT_ENUM, .names = watch_numbers, .fallback = (when_),   \
		       .help = "number of `watch` that is compared"),                                        \
		OPTION(struct killer_options, limit, OPT_BYTES, .allow_max = true, .fallback = "max",        \
		       .help = "acts above it, if `when` is an amount of memory"),                           \
		OPTION(struct killer_options, pressure, OPT_NUMBER, .fallback = "60", .min = "0",            \
		       .help = "acts above it, if `when` is pressure (per cent) or pgscan (pages a "         \
			       "second)"),                                                                   \
		OPTION(struct killer_options, by, OPT_ENUM, .names = watch_numbers, .fallback = (by_),       \
		       .help = "number of the candidates: the largest is ended"),                            \
		OPTION(struct killer_options, reading, OPT_ENUM, .names = killer_readings,                   \
		       .fallback = (reading_), .help = "when the numbers are read"),                         \
		OPTION(struct killer_options, interval, OPT_DURATION, .fallback = (interval_), .min = "1ms", \
		       .help = "between looks at `watch`"),                                                  \
		OPTION(struct killer_options, refresh, OPT_DURATION, .fallback = (refresh_), .min = "1ms",   \
		       .help = "`reading: cached`: age at which the numbers are read again"),                \
		OPTION(struct killer_options, settle, OPT_DURATION, .fallback = (settle_),                   \
		       .help = "rest after it has acted"),                                                   \
		OPTION(struct killer_options, grace, OPT_DURATION, .fallback = (grace_),                     \
		       .help = "between the choice and the end of the tasks"),                               \
		OPTION(struct killer_options, kills, OPT_U32, .fallback = "0",                               \
		       .help = "ends itself after so many; 0: never"),                                       \
		OPTION(struct killer_options, dying, OPT_U64, .allow_max = true, .fallback = "max",          \
		       .help = "ends nobody while `watch` has more dying descendants (cgroup.stat)")

/* Of a workload whose options are a struct killer_options. */
extern const struct workload_ops killer_ops;

#endif
