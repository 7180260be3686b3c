/*
 * overflow.c - from a fault in a guard page to a message with the task's name.
 *
 * A task whose stack is full cannot run a signal handler on it, so the handler has a stack of its own, one in
 * each thread that creates simulations. It looks who owns the guard page (arena.h), says so and aborts. Any
 * other fault is none of its business: it restores the default and lets the instruction fault again.
 *
 * A debugger, a sanitizer or a test framework that already handles SIGSEGV is left alone.
 */
#include "sim/engine/overflow.h"

#include <signal.h>

#include "sim/engine/coroutine.h"

#define HANDLER_STACK 32768 /* MINSIGSTKSZ is 2 KiB, and some 3 more where vector registers are wide */

static void on_fault(int number, siginfo_t *info, void *context)
{
	const struct coroutine *co = stack_owner_by_guard(info->si_addr);

	(void)context;
	if (co)
		coroutine_overflow(co);
	signal(number, SIG_DFL);
}

void overflow_watch(void)
{
	static _Thread_local char room[HANDLER_STACK];
	const stack_t stack = { .ss_sp = room, .ss_size = sizeof room };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK }, before;

	if (sigaction(SIGSEGV, NULL, &before) || before.sa_flags & SA_SIGINFO || before.sa_handler != SIG_DFL)
		return;
	if (!sigaltstack(&stack, NULL))
		sigaction(SIGSEGV, &action, NULL);
}
