/* SPDX-License-Identifier: Apache-2.0
 *
 * ended.h - what is known of each subjob as a small number, and those that are over as a stored text.
 */
#ifndef ARRAYS_ENDED_H
#define ARRAYS_ENDED_H

#include "indices.h"

/* The value of an ordinal. Those that are over and have no object carry how they ended. */
enum {
	WAITS = 0,
	LIVES = 1, /* an object, from its start to its end */
	KEPT = 2,  /* an object that is history (X, later F) */
	OVER = 16, /* and above: over_value() */
};
enum kind { KIND_WAITS, KIND_LIVES, KIND_KEPT, KIND_OVER, KINDS };

/* Substates of those that are over beside those of keel/service/job.h */
#define SUB_EXPIRED 69 /* how is no longer known */
#define SUB_FORCED 94  /* qdel -W force: shown as KEEL_SUB_TERMINATED, with the comment of a subjob that jobs discards */

/* Runs that are kept apart: more than the subjobs of an array of the default max_array_size (10,000). Each
 * costs 8 bytes, and up to 7 of the stored text, which is written again when a subjob ends. */
#define WAYS_MAX 16384

enum kind kind_of(int32_t value);
int32_t over_value(int32_t substate, int32_t exit_status);
int32_t over_unknown(void); /* it is over: SUB_EXPIRED, exit status 0 */
int32_t over_substate(int32_t value);
int32_t over_exit(int32_t value);
bool over_failed(int32_t value); /* it is known to have failed */

/* More than WAYS_MAX runs: of all that are over only that is kept. True: so it was done. */
bool ended_coarsen(struct runs *r);
/* `value:ranges;value:ranges` of those that are over; the caller frees it. NULL without memory. */
char *ended_text(const struct indices *x, const struct runs *r);
/* Those that the text names and that are `others` become what it says, as far as it can be read. Fails with -ENOMEM. */
int ended_load(const struct indices *x, struct runs *r, int32_t others, const char *text);

#endif
