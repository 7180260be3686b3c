/*
 * datadir.c - finding scenarios/ and analysis/ at run time.
 *
 * Tried in order: every folder above the program, up to the depth at which test programs lie in a source
 * tree (build/san/tests/), then the share folder that belongs to its bin/, then the one given when the
 * program was built. A folder above counts only if it holds both scenarios/ and analysis/: a folder of one of
 * these names alone may be anybody's.
 */
#include "sim/datadir.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MEMCGSIM_DATADIR
#define MEMCGSIM_DATADIR "/usr/local/share/memcgsim"
#endif

#define LEVELS_ABOVE 4

static bool cut_last_part(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

static char *join(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return NULL;
	return path;
}

static bool present(const char *dir, const char *name)
{
	char *path = join(dir, name);
	bool there = path && access(path, R_OK) == 0;

	free(path);
	return there;
}

static bool holds_data(const char *dir)
{
	return present(dir, "scenarios") && present(dir, "analysis");
}

static bool find_dir(char dir[PATH_MAX])
{
	char above[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", above, sizeof(above) - 1);

	if (len > 0) {
		above[len] = '\0';
		for (int i = 0; i < LEVELS_ABOVE && cut_last_part(above); i++) {
			memcpy(dir, above, sizeof(above));
			if (holds_data(dir))
				return true;
			if (snprintf(dir, PATH_MAX, "%s/share/memcgsim", above) < PATH_MAX && holds_data(dir))
				return true;
		}
	}
	snprintf(dir, PATH_MAX, "%s", MEMCGSIM_DATADIR);
	return holds_data(dir);
}

char *data_path(const char *name)
{
	char dir[PATH_MAX];

	if (!find_dir(dir) || !present(dir, name))
		return NULL;
	return join(dir, name);
}
