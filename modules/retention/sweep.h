/* SPDX-License-Identifier: Apache-2.0
 *
 * sweep.h - delete old day files of one folder.
 */
#ifndef RETENTION_SWEEP_H
#define RETENTION_SWEEP_H

#include <stdint.h>

struct sweep {
	char *dir;	    /* owned by the caller */
	int64_t days, size; /* kept: days before today, bytes in all; 0: any number */
	int64_t now;	    /* seconds since 1970 */
	uint32_t deleted;   /* how many files, */
	int64_t freed;	    /* their bytes, */
	int oldest;	    /* and the day of the first, as 20260131 */
	int error;	    /* errno of the first that could not be deleted, or of the folder */
};

/* The day of a name: YYYYMMDD, with `.N`, `-YYYYMMDD` and the ending of a compressed file behind it; 0: it is none. */
int day_of_name(const char *name);
void sweep_run(void *sweep);

#endif
