/*
 * scratch.h - a folder for the files of one test, gone afterwards.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/engine/xalloc.h"

/* For cmocka_unit_test_setup_teardown(): *state is the folder's path. */
static inline int scratch_setup(void **state)
{
	const char *base = getenv("TMPDIR");
	char *folder = xasprintf("%s/memcgsim-test-XXXXXX", base ? base : P_tmpdir);

	*state = mkdtemp(folder);
	return *state ? 0 : -1;
}

static inline char *scratch_path(void *const *state, const char *name)
{
	return xasprintf("%s/%s", (const char *)*state, name);
}

/* Number of files in the folder. */
static inline int scratch_files(void *const *state)
{
	DIR *dir = opendir(*state);
	struct dirent *entry;
	int nr = 0;

	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

static inline int scratch_teardown(void **state)
{
	DIR *dir = opendir(*state);
	struct dirent *entry;

	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(*state);
	free(*state);
	return 0;
}

#endif
