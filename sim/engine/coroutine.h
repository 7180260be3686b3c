/*
 * coroutine.h - stackful coroutines: the switch between tasks.
 *
 * On x86-64 the switch is inline: it declares every register spoilt, so the compiler saves what is live in
 * the function that switches and one stack frame is all that a switch touches. On aarch64 it is a function
 * that saves the callee-saved registers; elsewhere and under AddressSanitizer (which has to be told) see
 * coroutine.c. Floating-point control words are not switched: no model changes them. Every switch checks
 * that the stack pointer it leaves is inside its stack, and that an unguarded stack's lowest page was not
 * written; an overflow ends the process with the name of the coroutine.
 */
#ifndef SIM_ENGINE_COROUTINE_H
#define SIM_ENGINE_COROUTINE_H

#include "sim/engine/arena.h"

struct coroutine {
	void *sp;
	const char *limit; /* a stack pointer below this is an overflow; NULL: the thread's own stack */
	struct stack stack;
	void (*entry)(void *arg);
	void *arg;
	const char *name;
	void *sanitizer; /* AddressSanitizer's shadow of this stack while it is not running */
};

/* Ready to run entry(arg) at the first switch to it. entry must not return: it switches away for ever. */
void coroutine_init(struct coroutine *co, struct arena *a, const char *name, void (*entry)(void *arg),
		    void *arg);
/* Gives back its stack. Not from itself. */
void coroutine_release(struct coroutine *co, struct arena *a);
static inline void coroutine_switch(struct coroutine *from, struct coroutine *to);
/* The last switch of `from`: what it leaves is never resumed. */
void coroutine_leave(struct coroutine *from, struct coroutine *to) __attribute__((noreturn));

void coroutine_overflow(const struct coroutine *co) __attribute__((noreturn));
void coroutine_switch_call(struct coroutine *from,
			   struct coroutine *to); /* the switch where it is not inline */

#if defined(__SANITIZE_ADDRESS__)
#define COROUTINE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COROUTINE_ASAN 1
#endif
#endif

#ifdef __x86_64__
#ifdef __AVX512F__ /* with -march=native the compiler may keep values in these, too */
#define COROUTINE_SPOILT_AVX512                                                                              \
	, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", \
		"xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define COROUTINE_SPOILT_AVX512
#endif

/*
 * A new coroutine begins in coroutine_start, which finds itself in rdx. The frame pointer cannot be
 * declared spoilt, so it is saved by hand; and that below the red zone, in which a function that calls
 * nothing else may keep values.
 */
static inline __attribute__((always_inline)) void coroutine_jump(struct coroutine *from, struct coroutine *to)
{
	void **save = &from->sp, *load = to->sp;

	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
			 "pushq %%rbp\n\t"
			 "call coroutine_swap\n\t"
			 "popq %%rbp\n\t"
			 "subq $-128, %%rsp"
			 : [save] "+D"(save), [load] "+S"(load), "+d"(to)
			 :
			 : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
			   "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
			   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory",
			   "cc" COROUTINE_SPOILT_AVX512);
}
#endif

static inline void coroutine_switch(struct coroutine *from, struct coroutine *to)
{
	if ((const char *)__builtin_frame_address(0) < from->limit ||
	    __builtin_expect(from->limit && !from->stack.guarded && !stack_intact(&from->stack), 0))
		coroutine_overflow(from);
#if defined(__x86_64__) && !defined(COROUTINE_ASAN)
	coroutine_jump(from, to);
#else
	coroutine_switch_call(from, to);
#endif
}

#endif
