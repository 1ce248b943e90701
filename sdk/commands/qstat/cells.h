/* SPDX-License-Identifier: Apache-2.0
 *
 * cells.h - the texts of table cells: cut names, amounts of memory, times, percentages.
 */
#ifndef KEELSON_QSTAT_CELLS_H
#define KEELSON_QSTAT_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "out.h"

#define CELL_SIZE 64
#define CELL_NONE " -- "

/* The first `width` characters; when there are more, the last one shown is a star. */
void cell_cut(char cell[CELL_SIZE], const char *text, size_t len, size_t width);

/* A job id for the default table: up to its second dot. */
size_t cell_id_length(const char *id);

enum cell_unit { CELL_AS_GIVEN, CELL_GIGABYTES, CELL_MEGAWORDS };

/* An amount of memory in at most five characters; " -- " for NULL. */
void cell_memory(char cell[CELL_SIZE], const char *size, enum cell_unit unit);

/* [[HH:]MM:]SS as seconds; -1 when it is no time. */
int64_t cell_seconds(const char *duration);

/* Per cent done, for job_state `state` with the requested and used amounts (NULL: not set). */
struct cell_progress {
	char state;
	const char *cput_asked, *cput_used, *walltime_asked, *walltime_used;
	const char *array_counts; /* array_state_count, for arrays */
};
void cell_percent(char cell[CELL_SIZE], const struct cell_progress *p);

/* When a job is estimated to start, seen at `now`; five columns. `start` NULL: none. */
void cell_estimate(char cell[CELL_SIZE], const char *start, time_t now);

/* A counter in five columns: longer ones are four digits and a star. */
void cell_count(char cell[CELL_SIZE], const char *number);

/* The number after "WORD:" in a state_count, or 0. */
long cell_counted(const char *counts, const char *word);

/* A counter as a column; the columns of a state_count, as tables of queues and servers have them. */
void column_count(struct out *o, const char *number);
void columns_states(struct out *o, const char *counts);

#endif
