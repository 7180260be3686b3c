/*
 * writer.h - whether the process that wrote a row still lives.
 */
#ifndef SIM_RESULTS_WRITER_H
#define SIM_RESULTS_WRITER_H

#include <stdbool.h>

/* A name of this boot of this machine, on the heap; "" where the kernel gives none. */
char *boot_id(void);
/* False only if it surely ended: same machine, same boot, and no such process. */
bool writer_may_live(const char *boot, long process);

#endif
