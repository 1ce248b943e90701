/* SPDX-License-Identifier: Apache-2.0
 *
 * task.h - what the files about tasks on other hosts share: task.c, call.c, errand.c, over.c.
 */
#ifndef SISTERS_TASK_H
#define SISTERS_TASK_H

#include "sisters.h"

/* call.c: questions under way, and tasks that are somewhere else than who had them started */
struct far_task *far_find(struct far_task *table, uint32_t number);
struct far_task *far_add(struct far_task **table, uint32_t number, const char *host); /* NULL: too many, or no memory */
void far_remove(struct far_task **table, struct far_task *t);
const char *own_name(const struct job *j);
int way_to(const struct job *j, const char *name); /* the next host on the way; -1: there is none */
bool is_gone(const struct job *j, int host);	   /* the primary's view */
struct call *call_find(struct job *j, const char *from, uint64_t number);
struct call *call_make(struct job *j, const char *from, const char *to, uint32_t task); /* NULL: too many, or no memory */
void call_free(struct job *j, struct call *c);
void call_send(struct keel_mod *mod, struct job *j, const struct call *c);
void call_answer(struct keel_mod *mod, struct job *j, struct call *c, int32_t code, const char *text);
void answer_send(struct keel_mod *mod, struct job *j, const char *to, uint64_t number, int32_t code, const char *text);
/* False: more than CALLS_BYTES_MAX, or no memory. */
bool task_copy(struct job *j, struct call *c, const char *const *argv, uint32_t n_argv, const char *const *env, uint32_t n_env, const char *dir);

/* over.c */
void over_send(struct keel_mod *mod, struct job *j, const struct far_task *t);

#endif
