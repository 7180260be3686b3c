/*
 * shared.h - a search by random seeds that the flavours share.
 *
 * Every test runs in the debug and in the sanitizer build, and a seed makes the same events in both: what
 * the second of them adds is other memory faults, and half of the seeds are enough to show these. So one
 * takes the even seeds and the other the odd ones.
 */
#ifndef TESTS_SHARED_H
#define TESTS_SHARED_H

enum {
	NR_SHARING = 2,
#ifdef __SANITIZE_ADDRESS__
	FIRST_SHARED = 1,
#else
	FIRST_SHARED = 0,
#endif
};

#endif
