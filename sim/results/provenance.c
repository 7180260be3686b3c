/*
 * provenance.c - what made a result. See provenance.h.
 *
 * Version, commit and flags come from the build; a tree that is not a checkout has no commit, and then there
 * is none in the results. Libraries are asked at run time, since it is what was loaded that counts. Process
 * and boot identify the writer, so that a later one can tell whether a run that never finished still goes on.
 */
#include "sim/results/provenance.h"

#include <gnu/libc-version.h>
#include <gsl/gsl_version.h>
#include <sqlite3.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <yaml.h>

#include "sim/engine/xalloc.h"
#include "sim/json.h"
#include "sim/results/writer.h"

#ifndef MEMCGSIM_VERSION
#define MEMCGSIM_VERSION "unknown"
#endif
#ifndef MEMCGSIM_COMMIT
#define MEMCGSIM_COMMIT ""
#endif
#ifndef MEMCGSIM_CFLAGS
#define MEMCGSIM_CFLAGS ""
#endif

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *program_version(void)
{
	return MEMCGSIM_VERSION;
}

static bool commit_known(void)
{
	return MEMCGSIM_COMMIT[0] != '\0' && strcmp(MEMCGSIM_COMMIT, "unknown") != 0;
}

char *program_version_text(void)
{
	if (!commit_known())
		return xstrdup(MEMCGSIM_VERSION);
	return xasprintf("%s (commit %s)", MEMCGSIM_VERSION, MEMCGSIM_COMMIT);
}

/* The name that /proc/cpuinfo gives the first CPU (x86), or the kind of machine. */
static char *cpu_model(void)
{
	FILE *info = fopen("/proc/cpuinfo", "re");
	struct utsname name;
	char line[256], *colon;

	while (info && fgets(line, sizeof(line), info)) {
		if (strncmp(line, "model name", 10) == 0 && (colon = strchr(line, ':'))) {
			fclose(info);
			line[strcspn(line, "\n")] = '\0';
			return xstrdup(colon + 1 + strspn(colon + 1, " "));
		}
	}
	if (info)
		fclose(info);
	return xstrdup(uname(&name) == 0 ? name.machine : "unknown");
}

static void field(FILE *out, const char *name, const char *value)
{
	fprintf(out, ",\"%s\":", name);
	json_string(out, value);
}

char *provenance_json(int argc, char *const *argv)
{
	struct utsname name;
	char *cpu = cpu_model(), *boot = boot_id(), *text;
	size_t size;
	FILE *out = xalloc_checked(open_memstream(&text, &size));

	fputs("{\"arguments\":[", out);
	for (int i = 0; i < argc; i++) {
		fputs(i ? "," : "", out);
		json_string(out, argv[i]);
	}
	putc(']', out);
	field(out, "commit", commit_known() ? MEMCGSIM_COMMIT : NULL);
	field(out, "compiler", COMPILER);
	field(out, "flags", MEMCGSIM_CFLAGS);
	field(out, "cpu", cpu);
	field(out, "kernel", uname(&name) == 0 ? name.release : NULL);
	fputs(",\"libraries\":{\"gsl\":", out);
	json_string(out, gsl_version);
	field(out, "sqlite", sqlite3_libversion());
	field(out, "yaml", yaml_get_version_string());
	field(out, "libc", gnu_get_libc_version());
	fprintf(out, "},\"process\":%ld", (long)getpid());
	field(out, "boot", boot);
	putc('}', out);
	fclose(out);
	free(cpu);
	free(boot);
	return text;
}
