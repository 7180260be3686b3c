/*
 * overflow.h - says which task it was that ran into the guard page below its stack.
 */
#ifndef SIM_ENGINE_OVERFLOW_H
#define SIM_ENGINE_OVERFLOW_H

/* Watches the process for it from now on, unless somebody else handles SIGSEGV. Again: no effect. */
void overflow_watch(void);

#endif
