/*
 * execute.c - the local executor. See execute.h.
 *
 * What a child sends: any number of 'p' and a struct progress_state, then 'r' and the record up to the end of
 * the pipe. Whether that record is whole is record_read()'s to say; a child that dies leaves none.
 *
 * The parent is one poll() loop over the pipes and a signalfd, so no handler and no global state is needed.
 */
#include "sim/experiment/execute.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/engine/xalloc.h"
#include "sim/experiment/progress.h"
#include "sim/experiment/run.h"

struct child {
	pid_t pid; /* 0: none */
	int fd;
	size_t job;
	char *data;
	size_t size, capacity;
};

struct executor {
	const struct execute_setup *setup;
	struct child *children;  /* setup->at_once */
	struct record **records; /* by job, as far as they have arrived and are not handed on */
	size_t started, handed_on;
	int signals;
	sigset_t caught, before;
};

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct record *failed_record(const char *why)
{
	struct record *r = record_new(2);

	record_finish(r, &(struct record_end){ .error = why });
	return r;
}

static void send_progress(const struct run *run, void *arg)
{
	FILE *out = arg;
	struct progress_state state = {
		.sim_time = sim_now(run->sim),
		.events = sim_events(run->sim),
		.memory = arena_committed(sim_arena(run->sim)),
		.share = run_share(run),
	};

	putc('p', out);
	fwrite(&state, sizeof(state), 1, out);
	fflush(out);
}

/* The life of a child. The parent alone decides what a signal of the terminal means. */
static void child_main(const struct executor *e, const struct job *job, int fd)
{
	const struct execute_setup *setup = e->setup;
	FILE *out = fdopen(fd, "wb");

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	sigprocmask(SIG_SETMASK, &e->before, NULL);
	if (!out)
		_exit(1);

	struct record *record = run_one(&(struct run_setup){
		.scenario = job->scenario,
		.seed = job->seed,
		.random_ties = setup->random_ties,
		.naive = setup->naive,
		.progress = setup->progress ? send_progress : NULL,
		.arg = out,
	});

	putc('r', out);
	bool sent = record_write(record, out) && fflush(out) == 0;

	_exit(sent ? 0 : 1);
}

static bool start(struct executor *e, struct child *c, size_t i)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	fflush(NULL);
	pid_t pid = fork();

	if (pid == 0) {
		close(ends[0]);
		child_main(e, &e->setup->jobs[i], ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return false;
	}
	*c = (struct child){ .pid = pid, .fd = ends[0], .job = i };
	return true;
}

/* Takes the progress messages off the front of what has arrived. */
static void take_progress(struct executor *e, struct child *c)
{
	const size_t whole = 1 + sizeof(struct progress_state);
	size_t at = 0;

	while (c->size - at >= whole && c->data[at] == 'p') {
		struct progress_state state;

		memcpy(&state, c->data + at + 1, sizeof(state));
		progress_update(e->setup->progress, c->job, &state, seconds_now());
		at += whole;
	}
	if (at) {
		c->size -= at;
		memmove(c->data, c->data + at, c->size);
	}
}

/* false at the end of the pipe. */
static bool receive(struct executor *e, struct child *c)
{
	if (c->capacity - c->size < 65536) {
		c->capacity = 2 * c->capacity + 65536;
		c->data = xreallocarray(c->data, c->capacity, 1);
	}
	ssize_t n = read(c->fd, c->data + c->size, c->capacity - c->size);

	if (n < 0)
		return errno == EINTR;
	c->size += (size_t)n;
	if (e->setup->progress)
		take_progress(e, c);
	return n > 0;
}

static struct record *child_record(const struct child *c, int status)
{
	struct record *record = NULL;
	char why[128];

	if (c->size > 1 && c->data[0] == 'r') {
		FILE *in = fmemopen(c->data + 1, c->size - 1, "rb");

		record = in ? record_read(in) : NULL;
		if (in)
			fclose(in);
	}
	if (record)
		return record;
	if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "the run's process was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(why, sizeof(why), "the run's process ended with status %d and without results",
			 WEXITSTATUS(status));
	return failed_record(why);
}

static int reap(struct child *c)
{
	int status = 0;

	close(c->fd);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	c->pid = 0;
	return status;
}

static void arrived(struct executor *e, size_t job, struct record *record)
{
	e->records[job] = record;
	if (e->setup->progress)
		progress_done(e->setup->progress, job, seconds_now());
}

static void complete(struct executor *e, struct child *c)
{
	int status = reap(c);

	arrived(e, c->job, child_record(c, status));
	free(c->data);
}

/* Starts what may run at once. A run that cannot be started has failed. false: to stop was asked for. */
static bool fill(struct executor *e)
{
	const struct execute_setup *setup = e->setup;

	for (uint32_t i = 0; i < setup->at_once; i++) {
		while (!e->children[i].pid && e->started < setup->nr_jobs) {
			size_t job = e->started++;

			if (setup->started && !setup->started(setup->arg, &setup->jobs[job]))
				return false;
			if (!start(e, &e->children[i], job))
				arrived(e, job, failed_record("no process could be started for the run"));
		}
	}
	return true;
}

static bool hand_on_one(struct executor *e, size_t job)
{
	struct record *record = e->records[job];

	e->records[job] = NULL;
	return e->setup->finished(e->setup->arg, &e->setup->jobs[job], record);
}

static bool hand_on(struct executor *e)
{
	for (; e->handed_on < e->setup->nr_jobs && e->records[e->handed_on]; e->handed_on++)
		if (!hand_on_one(e, e->handed_on))
			return false;
	return true;
}

/* Interrupted: what has arrived out of turn is complete all the same. */
static void hand_on_rest(struct executor *e)
{
	for (size_t i = 0; i < e->setup->nr_jobs; i++)
		if (e->records[i] && !hand_on_one(e, i))
			return;
}

/* Waits for news; true when a signal says to end. */
static bool wait_for_news(struct executor *e, struct pollfd *fds)
{
	uint32_t n = e->setup->at_once;

	for (uint32_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){ .fd = e->children[i].pid ? e->children[i].fd : -1,
					  .events = POLLIN };
	fds[n] = (struct pollfd){ .fd = e->signals, .events = POLLIN };
	if (poll(fds, n + 1, e->setup->progress ? 500 : -1) > 0) {
		for (uint32_t i = 0; i < n; i++)
			if (fds[i].revents && !receive(e, &e->children[i]))
				complete(e, &e->children[i]);
	}
	if (e->setup->progress)
		progress_show(e->setup->progress, seconds_now());
	return fds[n].revents;
}

static void kill_children(struct executor *e)
{
	for (uint32_t i = 0; i < e->setup->at_once; i++) {
		struct child *c = &e->children[i];

		if (!c->pid)
			continue;
		kill(c->pid, SIGKILL);
		reap(c);
		free(c->data);
	}
}

static enum execute_end loop(struct executor *e)
{
	struct pollfd *fds = xcalloc(e->setup->at_once + 1, sizeof(*fds));
	enum execute_end end = EXECUTE_DONE;

	while (end == EXECUTE_DONE && e->handed_on < e->setup->nr_jobs) {
		if (!fill(e) || !hand_on(e))
			end = EXECUTE_STOPPED;
		else if (e->handed_on < e->setup->nr_jobs && wait_for_news(e, fds))
			end = EXECUTE_INTERRUPTED;
	}
	free(fds);
	return end;
}

enum execute_end execute(const struct execute_setup *setup)
{
	struct executor e = { .setup = setup };

	e.children = xcalloc(setup->at_once, sizeof(*e.children));
	e.records = xcalloc(setup->nr_jobs, sizeof(struct record *));
	sigemptyset(&e.caught);
	sigaddset(&e.caught, SIGINT);
	sigaddset(&e.caught, SIGTERM);
	sigprocmask(SIG_BLOCK, &e.caught, &e.before);
	e.signals = signalfd(-1, &e.caught, SFD_CLOEXEC);

	enum execute_end end = loop(&e);

	kill_children(&e);
	if (end == EXECUTE_INTERRUPTED) {
		struct signalfd_siginfo first;

		/* The next one is not ours any more. */
		if (read(e.signals, &first, sizeof(first)) > 0)
			sigprocmask(SIG_SETMASK, &e.before, NULL);
		hand_on_rest(&e);
	}
	for (size_t i = 0; i < setup->nr_jobs; i++)
		if (e.records[i])
			record_free(e.records[i]);
	sigprocmask(SIG_SETMASK, &e.before, NULL);
	close(e.signals);
	free(e.records);
	free(e.children);
	return end;
}
