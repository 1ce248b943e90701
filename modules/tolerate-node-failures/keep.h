/* SPDX-License-Identifier: Apache-2.0
 *
 * keep.h - which of a job's vnodes stay: those that satisfy a select, of hosts that are well.
 */
#ifndef KEEP_H
#define KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "keel/text.h"

#define KEEP_NOT UINT32_MAX

struct keep_job {
	const char *exec_vnode;	 /* as it is */
	const char *schedselect; /* of which exec_vnode is the answer; NULL: not known */
	/* The index of the vnode's host in the job's hosts; KEEP_NOT: it may not stay. */
	uint32_t (*host_of)(void *arg, const char *vnode);
	void *arg;
	const char *const *words; /* resources whose values are compared as words, even where they are numbers */
	uint32_t n_words;
};

/* Appends to *ret what of exec_vnode satisfies `select`: the first chunk in the first one, each other in the smallest that
 * is big enough, trimmed; ordered by host, as they were. *ret_select: the select with counts, its chunks in that order.
 * 0; -EINVAL: no select or exec_vnode; -ENOENT: it cannot be satisfied, and *why, which may be NULL, gets lines for the
 * log; -ENOMEM. */
int32_t keep_select(const struct keep_job *, const char *select, struct keel_text *ret, struct keel_text *ret_select,
		    struct keel_text *why);

/* Appends what is left of exec_vnode without vnodes that may not stay, and the select that this answers.
 * -ENOENT: nothing is left of the first chunk. */
int32_t keep_good(const struct keep_job *, struct keel_text *ret, struct keel_text *ret_select);

#endif
