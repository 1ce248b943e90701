/* SPDX-License-Identifier: Apache-2.0
 *
 * relevance.h - what a victim must have in common with the reason why a job does not start.
 */
#ifndef RELEVANCE_H
#define RELEVANCE_H

#include <stdbool.h>
#include <stdint.h>

enum relevance {
	SAME_QUEUE = 1,
	SAME_USER = 2,
	SAME_GROUP = 4,
	SAME_PROJECT = 8,
	USES_RESOURCE = 16, /* the one that is missing, where it is counted */
	HOPELESS = 32,	    /* no victim would help */

	OF_A_LIMIT = SAME_QUEUE | SAME_USER | SAME_GROUP | SAME_PROJECT,
};

/* Bits of enum relevance for a code of keel/sched_reason.def. */
uint32_t relevance_of(int32_t code);

#endif
