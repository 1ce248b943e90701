/* SPDX-License-Identifier: Apache-2.0
 *
 * remains.h - what a job that shrinks has before and after, compared.
 */
#ifndef JOBS_REMAINS_H
#define JOBS_REMAINS_H

#include "keel/keel.h"
#include "keel/service/resource.h"
#include "keel/text.h"

struct remains {
	struct keel_exec *had, *has;
	uint32_t *from;	 /* of each chunk that stays, which it was */
	bool *stays;	 /* of each part of `had`: does the job keep some of it? */
	uint32_t *had_begin, *has_begin, *found; /* while it is made; where chunks begin */
	bool *taken;
};

/* Compares two values of exec_vnode. Returns 0, and the caller calls remains_fini(); fails with PBSE_IVALREQ when `has`
 * is not a part of `had`, an error of exec_parse() or PBSE_SYSTEM, and *err. */
int32_t remains_find(const char *had, const char *has, struct remains *ret, struct keel_err *err);
void remains_fini(struct remains *r);
/* What is left of exec_host: each item keeps its slot, with the cpus of now. False: it does not fit to exec_vnode, or
 * there is no memory. */
bool remains_hosts(const struct remains *r, const char *hosts, struct keel_text *out);
/* Appends `(vnode:res=amount...)`, with a '+' before when the text is not empty. */
void part_text(const struct keel_exec_part *part, struct keel_text *out);

/* Sums of the resources that are summed in a Resource_List, in the order met. */
struct sums {
	struct keel_res_value *v; /* owned; texts are not */
	uint32_t n;
};
void sums_fini(struct sums *s);
/* The sum of that resource, 0 when it is new. NULL without memory. */
struct keel_res_value *sums_at(struct sums *s, const struct keel_res_value *v);
bool sums_add(struct sums *s, const struct keel_res_value *v, uint32_t n, double times); /* false without memory */
bool sums_add_exec(struct sums *s, const struct keel_exec *exec);

#endif
