/*
 * zram.c - compressed swap in memory, after drivers/block/zram of Linux 6.1.
 *
 * A page is compressed when it is written and decompressed when it is read, by the CPU of whoever does it and
 * at once. What it takes is its compressed size, drawn once for each write; pages that would save less than a
 * quarter are stored as they are, and of those that are filled with one word (zeroes, mostly) only the word
 * is kept, in the table of slots (since 4.14). The store grows and shrinks by whole frames of the machine as
 * the sum of sizes does (zsmalloc's holes are left out); without a frame, or beyond `limit`, a write fails.
 */
#include "models/backing/backing_impl.h"
#include "sim/engine/random.h"

#define HUGE_FROM   (PAGE_SIZE / 4 * 3) /* huge_class_size: stored uncompressed */
#define SAME_FILLED UINT16_MAX          /* in place of a size: ZRAM_SAME */

struct algorithm {
	const char *name;
	double ratio;
	sim_time_t compress, decompress;
};

/* Means of published runs: see the sources of `compress` and `decompress` below. */
static const struct algorithm algorithms[] = {
	{ "lz4", 2.63, 9700 * SIM_NS, 1710 * SIM_NS },
	{ "lzo-rle", 2.74, 9900 * SIM_NS, 2240 * SIM_NS },
	{ "lzo", 2.77, 9900 * SIM_NS, 2430 * SIM_NS },
	{ "zstd", 3.37, 21600 * SIM_NS, 5710 * SIM_NS },
};

static const struct enum_name names[] = {
	{ "lz4", 0, "ratio 2.63, 9.7 us to compress a page, 1.71 us to decompress it" },
	{ "lzo-rle", 1, "2.74, 9.9 us, 2.24 us; the kernel's default since 5.1" },
	{ "lzo", 2, "2.77, 9.9 us, 2.43 us" },
	{ "zstd", 3, "3.37, 21.6 us, 5.71 us" },
	{ NULL, 0, NULL },
};

struct zram_options {
	int algorithm;
	uint64_t size, limit; /* bytes: of pages that it takes, of memory that it may use */
	struct dist ratio;
	double same_filled;
	sim_time_t compress, decompress; /* 0: the algorithm's */
	sim_time_t io;
};

static const struct option rows[] = {
	OPTION(struct zram_options, algorithm, OPT_ENUM, .names = names, .fallback = "lzo-rle",
	       .help = "how pages are compressed", .source = "drivers/block/zram: default of 5.1 and later"),
	OPTION(struct zram_options, size, OPT_BYTES, .fallback = "512MiB", .min = "4KiB", .max = "16TiB",
	       .help = "uncompressed bytes that it holds (disksize)"),
	OPTION(struct zram_options, limit, OPT_BYTES, .fallback = "max", .allow_max = true,
	       .help = "memory that it may take (mem_limit)"),
	OPTION(struct zram_options, ratio, OPT_DIST, .fallback = "0",
	       .help = "bytes of a page by bytes that it takes; 0: as published for the algorithm"),
	OPTION(struct zram_options, same_filled, OPT_RATIO, .fallback = "0", .min = "0", .max = "1",
	       .help = "share of the pages that are one word over and over"),
	OPTION(struct zram_options, compress, OPT_DURATION, .fallback = "0s",
	       .help = "CPU time to compress a page; 0: the algorithm's",
	       .source = "published: raw speed of LZ4 and LZO, i5-3340M; zstd by the difference in writing a "
			 "file "
			 "of 1.1 GiB to zram"),
	OPTION(struct zram_options, decompress, OPT_DURATION, .fallback = "0s",
	       .help = "CPU time to decompress a page; 0: the algorithm's",
	       .source = "published: mean of random reads of 4 KiB from zram"),
	OPTION(struct zram_options, io, OPT_DURATION, .fallback = "0s",
	       .help = "CPU time of a write or read beside that: page to bio, bio to device and back",
	       .source = "0: what is in the times above, which were measured through the block layer or not"),
};
static const struct option_table options_table = OPTION_TABLE("zram", struct zram_options, rows);

enum { PAGES, STORED, USED, HUGE, SAME, FAILED };

static const struct metric metrics[] = {
	[PAGES] = { "zram.pages", "pages", METRIC_GAUGE, "pages that it holds" },
	[STORED] = { "zram.compr_data_size", "bytes", METRIC_GAUGE, "their compressed sizes together" },
	[USED] = { "zram.mem_used_total", "bytes", METRIC_GAUGE, "memory that it takes" },
	[HUGE] = { "zram.huge_pages", "pages", METRIC_GAUGE, "pages stored uncompressed" },
	[SAME] = { "zram.same_pages", "pages", METRIC_GAUGE,
		   "pages that one word fills, which is all that is stored of them" },
	[FAILED] = { "zram.failed_writes", "1", METRIC_COUNTER, "writes that found no memory" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(zram_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "zram",
	.help = "compressed swap",
	.ops = &table,
};

struct zram {
	struct host *host;
	const char *name;
	const struct zram_options *options;
	const struct algorithm *algorithm;
	struct stream *stream, *fills;
	uint16_t *sizes; /* by slot; 0: nothing there */
	uint64_t pages, stored, huge, same, failed;
	frame_t frames; /* a stack, linked by page.next */
	uint64_t nr_frames;
};

static uint64_t pages_of(const void *options)
{
	return ((const struct zram_options *)options)->size / PAGE_SIZE;
}

static void *create(struct host *host, const char *name, const void *options)
{
	struct zram *z = sim_alloc(host->sim, sizeof *z);

	z->host = host;
	z->name = name;
	z->options = options;
	z->algorithm = &algorithms[z->options->algorithm];
	z->stream = stream_open(host->sim, name, "ratio");
	z->fills = stream_open(host->sim, name, "same_filled");
	z->sizes = arena_array(sim_arena(host->sim), pages_of(options) + 1, sizeof *z->sizes);
	return z;
}

static uint32_t draw_size(struct zram *z)
{
	double ratio = dist_draw(&z->options->ratio, z->stream);
	double bytes = PAGE_SIZE / (ratio > 0 ? ratio : z->algorithm->ratio);
	uint32_t size = bytes < PAGE_SIZE ? (uint32_t)bytes : PAGE_SIZE;

	if (size >= HUGE_FROM)
		return PAGE_SIZE;
	return size ? size : 1;
}

static uint64_t frames_for(uint64_t bytes)
{
	return (bytes + PAGE_SIZE - 1) / PAGE_SIZE;
}

/* zs_malloc(): false when there is no memory for it. */
static bool grow(struct task *t, struct zram *z, uint32_t size)
{
	z->stored += size; /* before others come: who allocates may sleep */
	while (z->nr_frames < frames_for(z->stored)) {
		frame_t frame = z->nr_frames < z->options->limit / PAGE_SIZE ? frame_alloc(t, z->host)
									     : NO_FRAME;

		if (!frame) {
			z->stored -= size;
			return false;
		}
		page_of(z->host, frame)->next = z->frames;
		z->frames = frame;
		z->nr_frames++;
	}
	return true;
}

static void shrink(struct task *t, struct zram *z)
{
	while (z->nr_frames > frames_for(z->stored)) {
		frame_t frame = z->frames;

		z->frames = page_of(z->host, frame)->next;
		z->nr_frames--;
		frame_free(t, z->host, frame);
	}
}

static void zram_free(struct task *t, void *device, swap_slot_t slot)
{
	struct zram *z = device;
	uint32_t size = z->sizes[slot];

	if (!size)
		return;
	z->sizes[slot] = 0;
	z->pages--;
	if (size == SAME_FILLED) {
		z->same--;
		return;
	}
	z->huge -= size == PAGE_SIZE;
	z->stored -= size;
	shrink(t, z);
}

static bool is_same_filled(struct zram *z)
{
	double share = z->options->same_filled;

	return share >= 1 || (share > 0 && stream_uniform(z->fills) < share);
}

/* Looking through 4 KiB costs about what clearing them does. */
static void keep_word(struct task *t, struct zram *z, swap_slot_t slot)
{
	cpu_work(t, z->host->costs->page_clear);
	task_sync(t);
	z->sizes[slot] = SAME_FILLED;
	z->pages++;
	z->same++;
}

static bool zram_write(struct task *t, void *device, swap_slot_t slot)
{
	struct zram *z = device;
	uint32_t size;

	cpu_work(t, z->options->io);
	task_sync(t);
	if (is_same_filled(z)) {
		keep_word(t, z, slot);
		return true;
	}
	cpu_work(t, z->options->compress ? z->options->compress : z->algorithm->compress);
	task_sync(t);
	size = draw_size(z);
	bool stored = grow(t, z, size);

	shrink(t, z);
	if (!stored) {
		z->failed++;
		return false;
	}
	z->sizes[slot] = (uint16_t)size;
	z->pages++;
	z->huge += size == PAGE_SIZE;
	return true;
}

static void zram_read(struct task *t, void *device, swap_slot_t slot)
{
	const struct zram *z = device;

	cpu_work(t, z->options->io);
	if (z->sizes[slot] == SAME_FILLED)
		cpu_work(t, z->host->costs->page_clear);
	else if (z->sizes[slot] == PAGE_SIZE)
		cpu_work(t, z->host->costs->page_copy);
	else
		cpu_work(t, z->options->decompress ? z->options->decompress : z->algorithm->decompress);
}

static void sample(void *device, sim_time_t now)
{
	const struct zram *z = device;
	struct record *record = z->host->run->record;

	record_sample(record, &metrics[PAGES], z->name, now, (double)z->pages);
	record_sample(record, &metrics[USED], z->name, now, (double)z->nr_frames * PAGE_SIZE);
}

static void finish(void *device)
{
	const struct zram *z = device;
	struct record *record = z->host->run->record;

	record_summary(record, &metrics[PAGES], z->name, (double)z->pages);
	record_summary(record, &metrics[STORED], z->name, (double)z->stored);
	record_summary(record, &metrics[USED], z->name, (double)z->nr_frames * PAGE_SIZE);
	record_summary(record, &metrics[HUGE], z->name, (double)z->huge);
	record_summary(record, &metrics[SAME], z->name, (double)z->same);
	record_summary(record, &metrics[FAILED], z->name, (double)z->failed);
	record_invariant(record, "zram", z->nr_frames == frames_for(z->stored),
			 "%s holds %lld bytes in %lld frames", z->name, (long long)z->stored,
			 (long long)z->nr_frames);
}

static const struct device_ops ops = {
	.create = create,
	.pages = pages_of,
	.synchronous = true,
	.write = zram_write,
	.read = zram_read,
	.free = zram_free,
	.sample = sample,
	.finish = finish,
};

MODULE(zram) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_DEVICE,
	.axis = "block",
	.name = "zram",
	.help = "compressed swap in the machine's own memory",
	.source = "drivers/block/zram",
	.options = &options_table,
	.ops = &ops,
};
