/* SPDX-License-Identifier: Apache-2.0
 *
 * row.h - the few attributes of a job that tables show.
 */
#ifndef KEELSON_QSTAT_ROW_H
#define KEELSON_QSTAT_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "pbs_ifl.h"

/* An attribute that a table shows, and the member of a struct, a const char *, that receives its value. */
struct column {
	const char *name, *resource;
	size_t offset;
};

/* Fills the members of `to` from an object, borrowed from it; those without a value stay as they are. */
void columns_read(const struct column *columns, size_t n, const struct batch_status *one, void *to);

/* Members borrow from the status; NULL: not set. */
struct row {
	const char *id;
	const char *name, *owner, *state, *queue, *session, *hosts, *comment;
	const char *array, *array_id, *array_counts, *start;
	const char *nodect, *ncpus, *mem, *walltime, *cput;
	const char *used_walltime, *used_cput;
};

/* Reads the attributes of a job. */
void row_read(struct row *r, const struct batch_status *one);

/* Returns the attributes to request for row_read(): a list of ROW_WANTED entries. */
#define ROW_WANTED 20
struct attrl *row_want(struct attrl want[ROW_WANTED]);

/* Returns whether -J, -u and the chosen states select the job. `named`: an operand is its id, or its array's. */
bool row_chosen(const struct row *r, const struct options *o, bool named);

#endif
