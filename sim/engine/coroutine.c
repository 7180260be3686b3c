/*
 * coroutine.c - birth of a coroutine, and the switch where it is not inline. See coroutine.h.
 *
 * The System V ABI lets a called function spoil everything but rbx, rbp, r12-r15 and the stack pointer
 * (aarch64: x19-x30, d8-d15, sp). A new coroutine's stack is laid out as if it had just been left, to be
 * resumed at coroutine_start.
 */
#include "sim/engine/coroutine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef COROUTINE_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* Below this many bytes of free stack a switch reports an overflow: room for the switch's own callees. */
#define STACK_RESERVE 1024

void coroutine_overflow(const struct coroutine *co)
{
	/* Not by stderr: its lock may be held by what overflowed. */
	dprintf(STDERR_FILENO, "memcgsim: stack overflow in task '%s' (it has %zu KiB)\n",
		co->name ? co->name : "?", (size_t)(co->stack.top - co->stack.base) / 1024);
	abort();
}

static void finish_switch(struct coroutine *self)
{
#ifdef COROUTINE_ASAN
	__sanitizer_finish_switch_fiber(self->sanitizer, NULL, NULL);
#else
	(void)self;
#endif
}

void coroutine_begin(struct coroutine *self) __attribute__((noreturn));
void coroutine_begin(struct coroutine *self)
{
	finish_switch(self);
	self->entry(self->arg);
	abort();
}

#if defined(__x86_64__)

/*
 * coroutine_swap(&from->sp, to->sp): a call and a return, although the caller could jump. The processor
 * predicts the return rightly, since whoever is resumed here was left by the same call; so it goes on while
 * the stack it returns to is still on its way from memory. An indirect jump would wait for it.
 */
__asm__(".text\n.p2align 4\n.globl coroutine_swap\n.type coroutine_swap,@function\n"
	"coroutine_swap:\n"
	"	movq %rsp, (%rdi)\n	movq %rsi, %rsp\n	ret\n"
	".size coroutine_swap,.-coroutine_swap\n");

void coroutine_start(void);
__asm__(".text\n.p2align 4\n.globl coroutine_start\n.hidden coroutine_start\n.type "
	"coroutine_start,@function\n"
	"coroutine_start:\n"
	"	movq %rdx, %rdi\n	xorl %ebp, %ebp\n	call coroutine_begin\n	ud2\n"
	".size coroutine_start,.-coroutine_start\n");

static void *first_frame(char *top)
{
	/* The resume address, and above it the stack aligned as before a call. */
	void **sp = (void **)((uintptr_t)top & ~(uintptr_t)15) - 3;
	void (*start)(void) = coroutine_start;

	memcpy(sp, &start, sizeof start);
	return sp;
}

static void jump(struct coroutine *from, struct coroutine *to)
{
	coroutine_jump(from, to);
}

#elif defined(__aarch64__)

void switch_stack(void **save, void *load, struct coroutine *to);
void coroutine_start(void);
__asm__(".text\n.p2align 4\n.globl switch_stack\n.hidden switch_stack\n.type switch_stack,%function\n"
	"switch_stack:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp]\n	stp x21, x22, [sp, #16]\n	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
	"	mov x3, sp\n	str x3, [x0]\n	mov sp, x1\n"
	"	ldp x19, x20, [sp]\n	ldp x21, x22, [sp, #16]\n	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n	ret\n.size switch_stack,.-switch_stack\n"
	".globl coroutine_start\n.hidden coroutine_start\n.type coroutine_start,%function\n"
	"coroutine_start:\n	mov x0, x2\n	bl coroutine_begin\n	brk #0\n"
	".size coroutine_start,.-coroutine_start\n");

static void *first_frame(char *top)
{
	void **sp = (void **)((uintptr_t)top & ~(uintptr_t)15) - 20;
	void (*start)(void) = coroutine_start;

	memset(sp, 0, 20 * sizeof *sp);
	memcpy(&sp[11], &start, sizeof start);
	return sp;
}

static void jump(struct coroutine *from, struct coroutine *to)
{
	switch_stack(&from->sp, to->sp, to);
}

#else
#include <ucontext.h>

static _Thread_local struct coroutine *arriving;

static void start_here(void)
{
	coroutine_begin(arriving);
}

/* The first context lives at the top of the stack it describes, later ones in the frame of jump(). */
static void *first_frame(char *top)
{
	ucontext_t *uc = (ucontext_t *)(((uintptr_t)top - sizeof *uc) & ~(uintptr_t)63);

	getcontext(uc);
	uc->uc_stack.ss_sp = (char *)uc - (ARENA_STACK_LEAST - 8192);
	uc->uc_stack.ss_size = ARENA_STACK_LEAST - 8192;
	makecontext(uc, start_here, 0);
	return uc;
}

static void jump(struct coroutine *from, struct coroutine *to)
{
	ucontext_t here;

	from->sp = &here;
	arriving = to;
	swapcontext(&here, to->sp);
}
#endif

void coroutine_init(struct coroutine *co, struct arena *a, const char *name, void (*entry)(void *arg),
		    void *arg)
{
	co->stack = stack_alloc(a);
	co->limit = co->stack.base + STACK_RESERVE;
	co->name = name;
	co->entry = entry;
	co->arg = arg;
#ifdef COROUTINE_ASAN
	/* A stack that was used before keeps the marks of the frames that its last user never left. */
	__asan_unpoison_memory_region(co->stack.base, (size_t)(co->stack.top - co->stack.base));
#endif
	stack_set_owner(&co->stack, co);
	co->sp = first_frame(co->stack.top);
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

	if (!from->limit && !thread_bottom) {
		pthread_attr_t attr;
		void *base = NULL;

		if (!pthread_getattr_np(pthread_self(), &attr)) {
			pthread_attr_getstack(&attr, &base, &thread_size);
			pthread_attr_destroy(&attr);
		}
		thread_bottom = base;
	}
	const void *bottom = to->limit ? to->stack.base : thread_bottom;
	size_t size = to->limit ? (size_t)(to->stack.top - to->stack.base) : thread_size;

	__sanitizer_start_switch_fiber(for_ever ? NULL : &from->sanitizer, bottom, size);
#else
	(void)for_ever;
#endif
	jump(from, to);
	finish_switch(from);
}

void coroutine_switch_call(struct coroutine *from, struct coroutine *to)
{
	switch_to(from, to, false);
}

void coroutine_leave(struct coroutine *from, struct coroutine *to)
{
	if ((const char *)__builtin_frame_address(0) < from->limit)
		coroutine_overflow(from);
	switch_to(from, to, true);
	abort();
}
