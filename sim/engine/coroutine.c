/*
 * coroutine.c - the register switch. See coroutine.h.
 *
 * The System V ABI lets a called function spoil everything but rbx, rbp, r12-r15 and the stack pointer
 * (aarch64: x19-x30, d8-d15, sp), so a switch is a function call that comes back on another stack. A new
 * coroutine's stack is laid out as if it had called switch_stack() from start_here.
 */
#include "sim/engine/coroutine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define COROUTINE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COROUTINE_ASAN 1
#endif
#endif
#ifdef COROUTINE_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* Below this many bytes of free stack a switch reports an overflow: room for the switch's own callees. */
#define STACK_RESERVE 1024

static void overflow(const struct coroutine *co)
{
	fprintf(stderr, "memcgsim: stack overflow in task '%s' (stacks are %zu KiB)\n", co->name ? co->name : "?",
		ARENA_STACK_SIZE / 1024);
	abort();
}

static inline void check_stack(const struct coroutine *co)
{
	if ((const char *)__builtin_frame_address(0) < co->limit)
		overflow(co);
	if (co->limit && !co->stack.guarded && !stack_intact(&co->stack))
		overflow(co);
}

#if defined(__x86_64__)

void switch_stack(void **save, void *load);
__asm__(".text\n.p2align 4\n.globl switch_stack\n.hidden switch_stack\n.type switch_stack,@function\n"
	"switch_stack:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	pushq %r15\n"
	"	movq %rsp, (%rdi)\n	movq %rsi, %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbx\n	popq %rbp\n"
	"	ret\n.size switch_stack,.-switch_stack\n");

static void *first_frame(char *top, void (*start)(void))
{
	/* After six pops and the return the stack pointer is 8 below a multiple of 16, as after a call. */
	void **sp = (void **)((uintptr_t)top & ~(uintptr_t)15) - 8;

	memset(sp, 0, 8 * sizeof *sp);
	memcpy(&sp[6], &start, sizeof start);
	return sp;
}

#elif defined(__aarch64__)

void switch_stack(void **save, void *load);
__asm__(".text\n.p2align 4\n.globl switch_stack\n.hidden switch_stack\n.type switch_stack,%function\n"
	"switch_stack:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp]\n	stp x21, x22, [sp, #16]\n	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
	"	mov x2, sp\n	str x2, [x0]\n	mov sp, x1\n"
	"	ldp x19, x20, [sp]\n	ldp x21, x22, [sp, #16]\n	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n	ret\n.size switch_stack,.-switch_stack\n");

static void *first_frame(char *top, void (*start)(void))
{
	void **sp = (void **)((uintptr_t)top & ~(uintptr_t)15) - 20;

	memset(sp, 0, 20 * sizeof *sp);
	memcpy(&sp[11], &start, sizeof start);
	return sp;
}

#else
#include <ucontext.h>

/* The context lives at the top of the stack it describes; `sp` points to it. */
static void switch_stack(void **save, void *load)
{
	ucontext_t here;

	*save = &here;
	swapcontext(&here, load);
}

static void *first_frame(char *top, void (*start)(void))
{
	ucontext_t *uc = (ucontext_t *)(((uintptr_t)top - sizeof *uc) & ~(uintptr_t)63);

	getcontext(uc);
	uc->uc_stack.ss_sp = (char *)uc - (ARENA_STACK_SIZE - 8192);
	uc->uc_stack.ss_size = ARENA_STACK_SIZE - 8192;
	makecontext(uc, start, 0);
	return uc;
}
#endif

/* The coroutine that is being switched to: read once at its first instruction, set before each switch. */
static _Thread_local struct coroutine *arriving;

static void finish_switch(struct coroutine *self)
{
#ifdef COROUTINE_ASAN
	__sanitizer_finish_switch_fiber(self->sanitizer, NULL, NULL);
#else
	(void)self;
#endif
}

static void start_here(void)
{
	struct coroutine *self = arriving;

	finish_switch(self);
	self->entry(self->arg);
	abort();
}

void coroutine_init(struct coroutine *co, struct arena *a, const char *name, void (*entry)(void *arg), void *arg)
{
	co->stack = stack_alloc(a);
#ifdef COROUTINE_ASAN
	/* Frames that were left for ever on this stack, perhaps in another simulation, have left their marks. */
	__asan_unpoison_memory_region(co->stack.base, (size_t)(co->stack.top - co->stack.base));
#endif
	co->name = name;
	co->entry = entry;
	co->arg = arg;
	co->limit = co->stack.base + STACK_RESERVE;
	co->sp = first_frame(co->stack.top, start_here);
}

void coroutine_release(struct coroutine *co, struct arena *a)
{
	stack_free(a, &co->stack);
	co->limit = NULL;
}

static void switch_to(struct coroutine *from, struct coroutine *to, bool for_ever)
{
#ifdef COROUTINE_ASAN
	static _Thread_local const void *thread_bottom;
	static _Thread_local size_t thread_size;
	const void *bottom = to->limit ? to->stack.base : thread_bottom;
	size_t size = to->limit ? (size_t)(to->stack.top - to->stack.base) : thread_size;

	if (!from->limit && !thread_bottom) {
		pthread_attr_t attr;
		void *base = NULL;

		if (!pthread_getattr_np(pthread_self(), &attr)) {
			pthread_attr_getstack(&attr, &base, &thread_size);
			pthread_attr_destroy(&attr);
		}
		thread_bottom = base;
	}
	__sanitizer_start_switch_fiber(for_ever ? NULL : &from->sanitizer, bottom, size);
#else
	(void)for_ever;
#endif
	arriving = to;
	switch_stack(&from->sp, to->sp);
	finish_switch(from);
}

void coroutine_switch(struct coroutine *from, struct coroutine *to)
{
	check_stack(from);
	switch_to(from, to, false);
}

void coroutine_leave(struct coroutine *from, struct coroutine *to)
{
	check_stack(from);
	switch_to(from, to, true);
	abort();
}
