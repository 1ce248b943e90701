/* SPDX-License-Identifier: Apache-2.0
 *
 * prio.h - the language of preempt_prio: levels of jobs, highest first.
 */
#ifndef PRIO_H
#define PRIO_H

#include <stdbool.h>
#include <stdint.h>

#define PRIO_LEVELS 20
#define PRIO_HIGHEST 100000 /* of a qrun */

enum prio_condition {
	PRIO_EXPRESS = 1,
	PRIO_SHARE = 2,
	PRIO_QUEUE_SOFT = 4,
	PRIO_SERVER_SOFT = 8,
	PRIO_NORMAL = 16, /* none of the others */
};

struct prio {
	uint32_t n;
	struct {
		uint32_t conditions; /* all of them */
		int32_t level;
	} entry[PRIO_LEVELS]; /* more conditions first, then as written */
	int32_t normal;       /* level of jobs for which no entry holds */
	uint32_t asks;        /* conditions that occur in it */
};

/* False: not a value of preempt_prio. An empty text is one: all jobs are equal. */
bool prio_parse(const char *text, struct prio *ret);
/* The level of a job for which these conditions hold. */
int32_t prio_level(const struct prio *p, uint32_t conditions);

#endif
