/* SPDX-License-Identifier: Apache-2.0
 *
 * queues.h - what the files of this module share.
 */
#ifndef QUEUES_H
#define QUEUES_H

#include "keel/keel.h"
#include "keel/rows.h"
#include "keel/service/queue.h"
#include "pbs_error.h"

struct type_row;

struct state {
	struct keel_row *types; /* of keel_queue_type_def */
};

/* queues.c */
bool queue_has_jobs(struct keel_obj *queue); /* not counting finished jobs kept as history */

/* make.c: as keel/service/queue.h says */
int32_t queue_create(struct keel_mod *mod, const char *name, const struct keel_queue_set *set, uint32_t n, const char *who,
		     struct keel_err *err);
int32_t queue_change(struct keel_mod *mod, struct keel_obj *queue, const struct keel_queue_set *set, uint32_t n,
		     const char *who, struct keel_err *err);
int32_t queue_remove(struct keel_mod *mod, struct keel_obj *queue, const char *who);

/* type.c */
extern const struct keel_kind_def type_kind;
extern const struct keel_queue_type_def execution_type;
extern const struct keel_service_def service_def;
/* Returns the type of which `word` is a prefix, ignoring case; NULL: no module contributes one. */
const struct keel_queue_type_def *type_find(struct keel_mod *mod, const char *word);

#endif
