/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.c - pick the records of some jobs out of log files.
 *
 * A log record is "date;event;daemon;class;object;text", one of accounting "date;letter;id;text".
 */
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
	const char *directory;
	char letter;
	int object_field; /* which ';' stands before the id */
	bool of_mom;
} sources[SOURCES] = {
	[SOURCE_ACCOUNTING] = { "server_priv/accounting", 'A', 2, false },
	[SOURCE_SERVER] = { "server_logs", 'S', 4, false },
	[SOURCE_SCHED] = { "sched_logs", 'L', 4, false },
	[SOURCE_MOM] = { "mom_logs", 'M', 4, true },
};

struct job *trace_job(struct trace *t, const char *id, size_t len)
{
	size_t i;

	for (i = 0; i < t->n_jobs; i++)
		if (strncmp(t->jobs[i].id, id, len) == 0 && t->jobs[i].id[len] == '\0')
			return &t->jobs[i];
	return NULL;
}

static int keep(struct trace *t, struct job *job, char source, const char *date, size_t date_len,
		const char *text)
{
	size_t size = job->size ? job->size * 2 : 64, len = strlen(text);
	struct record *more;
	char *block;

	if (job->n == job->size) {
		more = realloc(job->records, size * sizeof(*more));
		if (!more)
			return -ENOMEM;
		job->records = more;
		job->size = size;
	}
	block = malloc(date_len + len + 2);
	if (!block)
		return -ENOMEM;
	memcpy(block, date, date_len);
	block[date_len] = '\0';
	memcpy(block + date_len + 1, text, len + 1);
	job->records[job->n++] =
		(struct record){ block, block + date_len + 1, source, t->n_records++ };
	return 0;
}

int trace_take_line(struct trace *t, enum trace_source source, char *line)
{
	const char *field[6] = { line };
	char *semicolon = line;
	int n, wanted = sources[source].object_field;
	struct job *job;

	line[strcspn(line, "\n")] = '\0';
	for (n = 1; n <= wanted + 1; n++) {
		semicolon = strchr(semicolon, ';');
		if (!semicolon)
			return 0;
		field[n] = ++semicolon;
	}
	job = trace_job(t, field[wanted], (size_t)(field[wanted + 1] - field[wanted]) - 1);
	if (!job)
		return 0;
	if (source != SOURCE_ACCOUNTING && (strtoul(field[1], NULL, 16) & t->dropped_events))
		return 0;
	return keep(t, job, sources[source].letter, line, (size_t)(field[1] - line) - 1,
		    field[wanted + 1]);
}

static int read_file(struct trace *t, enum trace_source source, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int rc = 0;

	if (!f) {
		if (t->verbose)
			fprintf(stderr, "tracejob: %s: %s\n", path, strerror(errno));
		return 0;
	}
	while (rc == 0 && getline(&line, &size, f) > 0)
		rc = trace_take_line(t, source, line);
	free(line);
	fclose(f);
	return rc;
}

int trace_read_day(struct trace *t, const char *home, const char *mom_home, int days_ago)
{
	time_t now = time(NULL);
	char path[4096];
	struct tm day;
	int i, rc = 0;

	if (!localtime_r(&now, &day))
		return 0;
	day.tm_mday -= days_ago;
	day.tm_hour = 12;
	day.tm_isdst = -1;
	mktime(&day);
	for (i = 0; i < SOURCES && rc == 0; i++) {
		if (t->left_out[i])
			continue;
		snprintf(path, sizeof(path), "%s/%s/%04d%02d%02d",
			 sources[i].of_mom ? mom_home : home, sources[i].directory,
			 day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
		rc = read_file(t, (enum trace_source)i, path);
	}
	return rc;
}
