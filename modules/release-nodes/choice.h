/* SPDX-License-Identifier: Apache-2.0
 *
 * choice.h - which chunks of a job stay, as texts: pure functions.
 */
#ifndef RELEASE_NODES_CHOICE_H
#define RELEASE_NODES_CHOICE_H

#include "keel/service/resource.h"
#include "keel/text.h"

struct choice {
	const struct keel_exec *exec;
	const struct keel_select *select; /* one chunk for each of exec, or its chunks count for nothing */
};

/* What stays without the parts that `gone` marks: exec_vnode, and a select of one item per chunk that has the amounts of
 * now, and what else its chunk asked for. */
void choice_without(const struct choice *c, const bool *gone, struct keel_text *exec, struct keel_text *select);

/* Chunks that `fixed` marks stay; each wanted one takes, from the end, another whose request has all that it names. They
 * stay whole. Returns 0, or fails with -ENOENT: a wanted chunk finds none, -ENOMEM. */
int32_t choice_keep(const struct choice *c, const bool *fixed, const struct keel_select *want, struct keel_text *exec,
		    struct keel_text *select);

#endif
