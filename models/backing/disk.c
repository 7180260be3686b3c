/*
 * disk.c - a disk: so many requests at a time, each with a latency, and a bandwidth that they share.
 *
 * A request waits in order of arrival for one of the device's slots, then takes its latency, drawn from a
 * distribution, and after it the time that its pages need on the shared channel. With an empty queue that is
 * what a benchmark at queue depth 1 shows; with a full one depth / latency requests a second, or the
 * bandwidth, whichever is less.
 *
 * A read is waited for by who wants it. A write that somebody waits for is no other; one that nobody does
 * (submit()) keeps its submitter only until it has a slot of the queue, as blk_mq_get_tag() does, and a task
 * of the device, which stands for its interrupt, tells the owner when it is done. Since all share the
 * channel, requests end in the order in which they got their slots.
 */
#include "models/backing/backing_impl.h"
#include "sim/engine/random.h"

struct disk_options {
	struct dist read, write; /* latency, ps */
	uint32_t depth;
	uint64_t bandwidth; /* bytes a second */
	uint64_t size;      /* bytes, as swap */
	uint64_t room;      /* bytes, of files */
};

static const struct option disk_rows[] = {
	OPTION(struct disk_options, read, OPT_DIST_DURATION, .fallback = "90us",
	       .help = "latency of a read, queueing and transfer excluded",
	       .source = "published: 80 to 100 us, data-centre TLC NVMe, 4 KiB at queue depth 1"),
	OPTION(struct disk_options, write, OPT_DIST_DURATION, .fallback = "20us",
	       .help = "latency of a write, as read",
	       .source = "estimate: NVMe with a protected write cache"),
	OPTION(struct disk_options, depth, OPT_U32, .fallback = "64", .min = "1", .max = "64K",
	       .help = "requests that it works on at a time", .source = "estimate: NVMe"),
	OPTION(struct disk_options, bandwidth, OPT_BYTES, .fallback = "3G", .min = "1K",
	       .help = "bytes a second, reads and writes together", .source = "estimate: PCIe 3.0 x4"),
	OPTION(struct disk_options, size, OPT_BYTES, .fallback = "8GiB", .min = "4KiB", .max = "16TiB",
	       .help = "what it holds when it is swap"),
	OPTION(struct disk_options, room, OPT_BYTES, .fallback = "max", .allow_max = true,
	       .help = "what files on it can still grow by; a write beyond that ends with ENOSPC",
	       .source = "statvfs(2): f_bavail"),
};
static const struct option_table disk_table = OPTION_TABLE("disk", struct disk_options, disk_rows);

enum { READ, WRITE, QUEUED, READ_BYTES, WRITTEN_BYTES, TAKEN, REFUSED };

static const struct metric metrics[] = {
	[READ] = { "disk.read", "ns", METRIC_DISTRIBUTION, "reads, from issue to completion" },
	[WRITE] = { "disk.write", "ns", METRIC_DISTRIBUTION, "writes, from issue to completion" },
	[QUEUED] = { "disk.queued", "1", METRIC_GAUGE, "requests on the device or waiting for it" },
	[READ_BYTES] = { "disk.read_bytes", "bytes", METRIC_COUNTER, "bytes read" },
	[WRITTEN_BYTES] = { "disk.written_bytes", "bytes", METRIC_COUNTER, "bytes written" },
	[TAKEN] = { "disk.room_taken", "bytes", METRIC_GAUGE, "bytes that files on it have grown by" },
	[REFUSED] = { "disk.enospc", "1", METRIC_COUNTER, "writes to files for which there was no room" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(disk_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "disk",
	.help = "requests of disks",
	.ops = &table,
};

struct disk_waiter { /* on the stack of who waits */
	struct disk_waiter *next;
	struct task *task;
	bool granted;
};

struct disk {
	struct host *host;
	const char *name;
	const struct disk_options *options;
	struct stream *stream;
	uint32_t busy; /* slots in use */
	uint32_t nr_waiting;
	struct disk_waiter *first, **last;
	sim_time_t channel_until; /* the channel is busy up to here */
	struct histogram *times[2];
	uint64_t pages[2];
	uint64_t taken, refused;                            /* pages of room, of `room` */
	struct device_request *under_way, **last_under_way; /* submitted; in the order in which they end */
	struct task *irq;                                   /* made with the first of them */
};

static void *create(struct host *host, const char *name, const void *options)
{
	struct disk *d = sim_alloc(host->sim, sizeof *d);

	d->host = host;
	d->name = name;
	d->options = options;
	d->last = &d->first;
	d->last_under_way = &d->under_way;
	d->stream = stream_open(host->sim, name, "latency");
	d->times[READ] = histogram_create(sim_arena(host->sim));
	d->times[WRITE] = histogram_create(sim_arena(host->sim));
	return d;
}

/* ---- a request ---- */

/* A slot that is given back goes to the first that waits, with the slot counted as busy all along. */
static void get_slot(struct task *t, struct disk *d)
{
	if (d->busy < d->options->depth) {
		d->busy++;
		return;
	}
	struct disk_waiter wait = { .task = t };

	*d->last = &wait;
	d->last = &wait.next;
	d->nr_waiting++;
	while (!wait.granted)
		task_block(t);
}

static void put_slot(struct task *t, struct disk *d)
{
	struct disk_waiter *first = d->first;

	if (!first) {
		d->busy--;
		return;
	}
	d->first = first->next;
	if (!d->first)
		d->last = &d->first;
	d->nr_waiting--;
	first->granted = true;
	task_wake(t->sim, t, first->task);
}

static sim_time_t transfer(const struct disk *d, uint32_t nr)
{
	return (sim_time_t)((double)nr * PAGE_SIZE / (double)d->options->bandwidth * (double)SIM_SEC);
}

/* A request that has a slot is accepted now, and done then. */
static sim_time_t accept(struct disk *d, const struct dist *latency, uint32_t nr)
{
	sim_time_t ready = sim_now(d->host->sim) + (sim_time_t)dist_draw(latency, d->stream);

	d->channel_until = (ready > d->channel_until ? ready : d->channel_until) + transfer(d, nr);
	return d->channel_until;
}

/* It is done. In a step. */
static void complete(struct task *t, struct disk *d, int what, sim_time_t issued, uint32_t nr)
{
	histogram_add(d->times[what], (sim_now(t->sim) - issued) / SIM_NS, 1);
	d->pages[what] += nr;
	put_slot(t, d);
}

static void request(struct task *t, struct disk *d, int what, const struct dist *latency, uint32_t nr)
{
	sim_time_t from;

	task_sync(t);
	from = sim_now(t->sim);
	get_slot(t, d);
	task_sync(t);
	task_sleep(t, accept(d, latency, nr) - sim_now(t->sim));
	task_sync(t);
	complete(t, d, what, from, nr);
}

void disk_read(struct task *t, struct disk *d, uint32_t nr)
{
	request(t, d, READ, &d->options->read, nr);
}

void disk_write(struct task *t, struct disk *d, uint32_t nr)
{
	request(t, d, WRITE, &d->options->write, nr);
}

/* ---- writes that nobody waits for ---- */

static void end_writes(struct task *t, void *arg)
{
	struct disk *d = arg;

	for (;;) {
		task_sync(t);
		struct device_request *r = d->under_way;

		if (!r) {
			task_block(t);
		} else if (r->done > sim_now(t->sim)) {
			task_block_until(t, r->done);
		} else {
			d->under_way = r->next;
			if (!d->under_way)
				d->last_under_way = &d->under_way;
			complete(t, d, WRITE, r->issued, r->nr);
			task_sync(t);
			r->end(t, r);
		}
	}
}

static void submit(struct task *t, void *device, struct device_request *r)
{
	struct disk *d = device;

	task_sync(t);
	r->issued = sim_now(t->sim);
	r->cpu = t->cpu->id;
	get_slot(t, d);
	task_sync(t);
	r->done = accept(d, &d->options->write, r->nr);
	r->next = NULL;
	*d->last_under_way = r;
	d->last_under_way = &r->next;
	if (!d->irq)
		d->irq = task_spawn(
			t->sim,
			&(struct task_attr){
				.name = d->name, .run = end_writes, .arg = d, .cpu = -1, .slept = true });
	else if (d->under_way == r)
		task_wake(t->sim, t, d->irq);
}

void disk_submit(struct task *t, struct disk *d, struct device_request *request)
{
	submit(t, d, request);
}

/* ---- room for files ---- */

bool disk_take_room(struct disk *d)
{
	bool there = d->taken < d->options->room / PAGE_SIZE;

	d->taken += there;
	d->refused += !there;
	return there;
}

void disk_give_room(struct disk *d, uint64_t nr)
{
	d->taken -= nr;
}

/* ---- as swap ---- */

static uint64_t swap_pages(const void *options)
{
	return ((const struct disk_options *)options)->size / PAGE_SIZE;
}

static void swap_in(struct task *t, void *device, swap_slot_t slot)
{
	(void)slot;
	disk_read(t, device, 1);
}

/* ---- results ---- */

static void sample(void *device, sim_time_t now)
{
	const struct disk *d = device;

	record_sample(d->host->run->record, &metrics[QUEUED], d->name, now, d->busy + d->nr_waiting);
	if (d->taken)
		record_sample(d->host->run->record, &metrics[TAKEN], d->name, now,
			      (double)d->taken * PAGE_SIZE);
}

static void finish(void *device)
{
	const struct disk *d = device;
	struct record *record = d->host->run->record;

	if (d->taken || d->refused) {
		record_summary(record, &metrics[TAKEN], d->name, (double)d->taken * PAGE_SIZE);
		record_summary(record, &metrics[REFUSED], d->name, (double)d->refused);
	}
	for (int what = READ; what <= WRITE; what++) {
		if (!d->times[what]->count)
			continue;
		record_histogram(record, &metrics[what], d->name, d->times[what]);
		record_summary(record, &metrics[READ_BYTES + what], d->name,
			       (double)d->pages[what] * PAGE_SIZE);
	}
}

static const struct device_ops ops = {
	.create = create,
	.pages = swap_pages,
	.read = swap_in,
	.submit = submit,
	.sample = sample,
	.finish = finish,
};

MODULE(disk) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_DEVICE,
	.axis = "block",
	.name = "disk",
	.help = "a disk with a latency, a queue depth and a bandwidth; for files or for swap",
	.options = &disk_table,
	.ops = &ops,
};
