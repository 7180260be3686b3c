/*
 * trace_file.h - reading page-access traces, record by record.
 *
 * csv: lines of time,cgroup,page; the time in seconds, the cgroup by path (empty: that of the task), the page
 * a number. A heading and lines that begin with '#' are passed over.
 *
 * oracle: the packed binary format of public cache traces (libCacheSim's oracleGeneral): 24 bytes a record,
 * little-endian: u32 seconds, u64 object, u32 bytes, i64 position of the next access to the object (not
 * used).
 *
 * Either may be compressed with zstd, which is seen from the first four bytes.
 */
#ifndef MODELS_WORKLOAD_TRACE_FILE_H
#define MODELS_WORKLOAD_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>

enum trace_format { TRACE_CSV, TRACE_ORACLE };

struct trace_record {
	double seconds;
	uint64_t object;  /* page number, or the object's identity */
	uint32_t bytes;   /* 0: not known */
	char cgroup[512]; /* "": none given */
};

struct trace_file;
/* NULL with a reason in `why`. */
struct trace_file *trace_open(const char *path, enum trace_format format, char why[256]);
/* False at the end, or after a mistake: then *why is not empty. */
bool trace_next(struct trace_file *f, struct trace_record *record, char why[256]);
void trace_close(struct trace_file *f);

#endif
