/*
 * coroutine.h - stackful coroutines: the switch between tasks.
 *
 * A switch saves the callee-saved registers on the stack it leaves and loads those of the stack it goes to
 * (x86-64 and aarch64 by hand, elsewhere ucontext). Floating-point control words are not switched: no model
 * changes them. Every switch checks that the stack pointer it leaves is inside its stack, and that an
 * unguarded stack's lowest page was not written; an overflow ends the process with the name of the coroutine.
 */
#ifndef SIM_ENGINE_COROUTINE_H
#define SIM_ENGINE_COROUTINE_H

#include "sim/engine/arena.h"

struct coroutine {
	void *sp;
	struct stack stack; /* base NULL: the thread's own */
	void (*entry)(void *arg);
	void *arg;
	const char *name;
	void *sanitizer; /* AddressSanitizer's shadow of this stack while it is not running */
};

/* Ready to run entry(arg) at the first switch to it. entry must not return: it switches away for ever. */
void coroutine_init(struct coroutine *co, struct arena *a, const char *name, void (*entry)(void *arg), void *arg);
/* Gives back its stack. Not from itself. */
void coroutine_release(struct coroutine *co, struct arena *a);
void coroutine_switch(struct coroutine *from, struct coroutine *to);
/* The last switch of `from`: what it leaves is never resumed. */
void coroutine_leave(struct coroutine *from, struct coroutine *to) __attribute__((noreturn));

#endif
