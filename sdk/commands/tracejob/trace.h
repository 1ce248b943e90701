/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.h - log records about jobs, gathered from files and printed in order of time.
 */
#ifndef KEELSON_TRACEJOB_TRACE_H
#define KEELSON_TRACEJOB_TRACE_H

#include <stdbool.h>
#include <stddef.h>

enum trace_source { SOURCE_ACCOUNTING, SOURCE_SERVER, SOURCE_SCHED, SOURCE_MOM, SOURCES };

struct record {
	char *date; /* owned; as in the file */
	char *text; /* in the same block */
	char source; /* A S L M */
	size_t number; /* order of reading, breaks ties */
};

struct job {
	char *id; /* full, owned */
	struct record *records; /* owned */
	size_t n, size;
};

struct trace {
	struct job *jobs;
	size_t n_jobs, n_records;
	unsigned long dropped_events; /* -f */
	bool left_out[SOURCES];
	bool verbose;
	bool limit_repeats; /* -z */
	long repeats_max; /* -c */
	int columns; /* 0: lines are not broken */
};

/* Returns the job with the id of `len` bytes, NULL: its records are not gathered. */
struct job *trace_job(struct trace *t, const char *id, size_t len);

/* Reads the file of each source for the day `days_ago`. Returns 0 or -ENOMEM; a file that cannot be read is
 * skipped (with a line on stderr if verbose). */
int trace_read_day(struct trace *t, const char *home, const char *mom_home, int days_ago);

/* Parses one line of a file of `source`. Returns 0 or -ENOMEM; a line that is no record is skipped. */
int trace_take_line(struct trace *t, enum trace_source source, char *line);

/* Prints the records of one job in order of time. */
void trace_print(const struct trace *t, struct job *job);

#endif
