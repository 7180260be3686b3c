/*
 * trace_file.c - see trace_file.h. Streams, since traces are often larger than memory.
 */
#include "models/workload/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "sim/engine/xalloc.h"

#define ORACLE_BYTES 24
#define LONGEST_LINE 1024
#define BLOCK_BYTES  (128 << 10)

struct trace_file {
	FILE *in;
	enum trace_format format;
	ZSTD_DStream *zstd; /* NULL: plain */
	ZSTD_inBuffer packed;
	unsigned char *block, *data; /* as read; unpacked */
	size_t at, filled, capacity; /* of data */
	uint64_t line;               /* or record */
	bool unfinished;             /* the last frame has not ended yet */
};

static bool is_zstd(FILE *in)
{
	static const unsigned char magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	unsigned char head[4];
	bool same = fread(head, 1, sizeof head, in) == sizeof head && !memcmp(head, magic, sizeof head);

	rewind(in);
	return same;
}

struct trace_file *trace_open(const char *path, enum trace_format format, char why[256])
{
	struct trace_file *f;
	struct stat st;
	FILE *in;

	/* Every variant reads it from its beginning, which a pipe has only once; opening one waits. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		snprintf(why, 256, "'%.150s' is not a file", path);
		return NULL;
	}
	in = fopen(path, "rbe");
	if (!in) {
		snprintf(why, 256, "'%.150s' cannot be read: %s", path, strerror(errno));
		return NULL;
	}
	f = xcalloc(1, sizeof *f);
	f->in = in;
	f->format = format;
	f->capacity = BLOCK_BYTES + LONGEST_LINE;
	f->block = xcalloc(1, BLOCK_BYTES);
	f->data = xcalloc(1, f->capacity);
	f->packed.src = f->block;
	if (is_zstd(in))
		f->zstd = xalloc_checked(ZSTD_createDStream());
	return f;
}

void trace_close(struct trace_file *f)
{
	if (!f)
		return;
	ZSTD_freeDStream(f->zstd);
	fclose(f->in);
	free(f->block);
	free(f->data);
	free(f);
}

/* More bytes behind those that are there; false at the end of the file or, with a reason, after a mistake. */
static bool fill(struct trace_file *f, char why[256])
{
	ZSTD_outBuffer out;
	size_t result;

	memmove(f->data, f->data + f->at, f->filled - f->at);
	f->filled -= f->at;
	f->at = 0;
	if (!f->zstd) {
		size_t n = fread(f->data + f->filled, 1, f->capacity - f->filled, f->in);

		f->filled += n;
		return n > 0;
	}
	out = (ZSTD_outBuffer){ f->data, f->capacity, f->filled };
	while (out.pos == f->filled) {
		if (f->packed.pos == f->packed.size) {
			f->packed.pos = 0;
			f->packed.size = fread(f->block, 1, BLOCK_BYTES, f->in);
			if (!f->packed.size) {
				if (f->unfinished)
					snprintf(why, 256, "the compressed file is cut off");
				return false;
			}
		}
		result = ZSTD_decompressStream(f->zstd, &out, &f->packed);
		if (ZSTD_isError(result)) {
			snprintf(why, 256, "damaged: %s", ZSTD_getErrorName(result));
			return false;
		}
		f->unfinished = result > 0;
	}
	f->filled = out.pos;
	return true;
}

static uint64_t little_endian(const unsigned char *bytes, int nr)
{
	uint64_t value = 0;

	while (nr-- > 0)
		value = value << 8 | bytes[nr];
	return value;
}

static bool next_oracle(struct trace_file *f, struct trace_record *record, char why[256])
{
	while (f->filled - f->at < ORACLE_BYTES) {
		if (fill(f, why))
			continue;
		if (f->filled > f->at && !*why)
			snprintf(why, 256, "cut off within record %llu", (unsigned long long)f->line);
		return false;
	}
	const unsigned char *bytes = f->data + f->at;

	record->seconds = (double)little_endian(bytes, 4);
	record->object = little_endian(bytes + 4, 8);
	record->bytes = (uint32_t)little_endian(bytes + 12, 4);
	record->cgroup[0] = '\0';
	f->at += ORACLE_BYTES;
	f->line++;
	return true;
}

/* The next line without its end, in place; NULL at the end or after a mistake. */
static char *next_line(struct trace_file *f, char why[256])
{
	char *begin, *end;

	while (!(end = memchr(f->data + f->at, '\n', f->filled - f->at))) {
		if (f->filled - f->at >= LONGEST_LINE) {
			snprintf(why, 256, "line %llu is too long", (unsigned long long)f->line + 1);
			return NULL;
		}
		if (fill(f, why))
			continue;
		if (*why || f->filled == f->at)
			return NULL;
		f->data[f->filled++] = '\n';
	}
	begin = (char *)f->data + f->at;
	f->at += (size_t)(end - begin) + 1;
	f->line++;
	if (end > begin && end[-1] == '\r')
		end--;
	*end = '\0';
	return begin;
}

static bool parse_line(char *line, struct trace_record *record)
{
	char *cgroup, *end;
	size_t length;

	record->seconds = strtod(line, &cgroup);
	if (cgroup == line || *cgroup++ != ',' || !(record->seconds >= 0))
		return false;
	length = strcspn(cgroup, ",");
	if (!cgroup[length] || length >= sizeof record->cgroup)
		return false;
	memcpy(record->cgroup, cgroup, length);
	record->cgroup[length] = '\0';
	record->object = strtoull(cgroup + length + 1, &end, 10);
	record->bytes = 0;
	return end > cgroup + length + 1 && !*end;
}

static bool next_csv(struct trace_file *f, struct trace_record *record, char why[256])
{
	for (;;) {
		char *line = next_line(f, why);

		if (!line)
			return false;
		if (!*line || *line == '#' || (f->line == 1 && !strncmp(line, "time", 4)))
			continue;
		if (parse_line(line, record))
			return true;
		snprintf(why, 256, "line %llu is not time,cgroup,page", (unsigned long long)f->line);
		return false;
	}
}

bool trace_next(struct trace_file *f, struct trace_record *record, char why[256])
{
	*why = '\0';
	return f->format == TRACE_ORACLE ? next_oracle(f, record, why) : next_csv(f, record, why);
}
