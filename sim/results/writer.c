/*
 * writer.c - whether the process that wrote a row still lives. See writer.h.
 *
 * Two programs may write to one result file, so a run marked as running is not by itself a dead one; and a
 * file may come from another machine, where nothing can be asked. An earlier boot of this machine looks like
 * another machine, so its runs are left as they are: running, and in no figure.
 */
#include "sim/results/writer.h"

#include <errno.h>
#include <signal.h>
#include <sys/types.h>

#include "sim/engine/xalloc.h"

char *boot_id(void)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char line[64] = "";

	if (file) {
		if (!fgets(line, sizeof(line), file))
			line[0] = '\0';
		fclose(file);
	}
	line[strcspn(line, "\n")] = '\0';
	return xstrdup(line);
}

bool writer_may_live(const char *boot, long process)
{
	char *own = boot_id();
	bool here = own[0] != '\0' && strcmp(own, boot) == 0;

	free(own);
	return !here || process <= 0 || kill((pid_t)process, 0) == 0 || errno != ESRCH;
}
