/*
 * source.h - finding and reading the files of a scenario.
 */
#ifndef SIM_SCENARIO_SOURCE_H
#define SIM_SCENARIO_SOURCE_H

#include "sim/scenario/table.h"

#define MOST_FILES    256 /* read for one scenario */
#define DEEPEST_FILES 16  /* that include each other */

struct sources {
	struct reader reader;
	const char *const *paths;
	size_t nr_paths;
	const char *folder; /* of the scenario's own file */
	const char *data;   /* scenarios/ of the program; NULL: not found */
	unsigned nr_files;
	const char *stack[DEEPEST_FILES]; /* files being read, for the message about a circle */
	unsigned depth;
};

/* Each returns a map with includes taken in and the key `include` gone, or NULL after a complaint. */
const struct node *source_file(struct sources *s, const struct option_table *table, const char *path);
const struct node *source_text(struct sources *s, const struct option_table *table, const char *path,
			       const char *text, size_t length);
/* FOLDER/KIND/NAME.yaml or FOLDER/NAME.yaml in the folder of the scenario, --path, and the program's own. */
const struct node *source_bundle(struct sources *s, const struct option_table *table, const char *kind,
				 const struct node *name, const struct node *own);

/* What `over` says, and for the rest what `under` says. merge.c */
const struct node *source_merge(struct pool *pool, const struct option_table *table, const struct node *over,
				const struct node *under);

#endif
