/*
 * ticker.c - a thread that stops a simulation now and then. See ticker.h.
 *
 * A thread rather than a signal: a handler would need a global variable to know its simulation, and signals
 * interrupt system calls of the caller.
 */
#include "sim/experiment/ticker.h"

#include <signal.h>
#include <time.h>

static void add_ms(struct timespec *t, unsigned int ms)
{
	t->tv_sec += ms / 1000;
	t->tv_nsec += (long)(ms % 1000) * 1000000;
	if (t->tv_nsec >= 1000000000) {
		t->tv_nsec -= 1000000000;
		t->tv_sec++;
	}
}

static void *tick(void *arg)
{
	struct ticker *t = arg;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	pthread_mutex_lock(&t->mutex);
	while (!t->end) {
		add_ms(&next, t->period_ms);
		while (!t->end && pthread_cond_timedwait(&t->ended, &t->mutex, &next) == 0)
			continue;
		if (!t->end)
			sim_stop(t->sim);
	}
	pthread_mutex_unlock(&t->mutex);
	return NULL;
}

bool ticker_start(struct ticker *t, struct sim *sim, unsigned int period_ms)
{
	pthread_condattr_t monotonic;
	sigset_t all, before;

	*t = (struct ticker){ .sim = sim, .period_ms = period_ms };
	pthread_mutex_init(&t->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&t->ended, &monotonic);
	pthread_condattr_destroy(&monotonic);

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&t->thread, NULL, tick, t);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error == 0;
}

void ticker_stop(struct ticker *t)
{
	pthread_mutex_lock(&t->mutex);
	t->end = true;
	pthread_cond_signal(&t->ended);
	pthread_mutex_unlock(&t->mutex);
	pthread_join(t->thread, NULL);
	pthread_cond_destroy(&t->ended);
	pthread_mutex_destroy(&t->mutex);
}
