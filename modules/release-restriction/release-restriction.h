/* SPDX-License-Identifier: Apache-2.0
 *
 * release-restriction.h - what the files of this module share.
 */
#ifndef RELEASE_RESTRICTION_H
#define RELEASE_RESTRICTION_H

#include "keel/keel.h"
#include "keel/service/job.h"
#include "keel/service/resource.h"
#include "keel/text.h"
#include "pbs_error.h"

#define COUNTED (KEEL_RES_SUM | KEEL_RES_EACH | KEEL_RES_FIRST)

/* ---- names.c: comma lists of names ------------------------------------------------------------------ */

/* One name of a list, without the blanks around it. name_next() returns the rest of the list; NULL: no name left. */
struct name {
	const char *text;
	size_t len;
};
const char *name_next(const char *list, struct name *ret);
bool name_is(const struct name *n, const char *text); /* ignoring case */
bool names_have(const char *list, const char *text);
extern const struct keel_type_def names_type;

/* ---- released.c: the two attributes of a suspended job --------------------------------------------------- */

extern const struct keel_attr_def released_row, released_list_row;
/* Appends `(n1:ncpus=2)+(n2:ncpus=0)`: the amounts of `exec` that `names` has, vnode by vnode. */
void released_text(const struct keel_exec *exec,
		   const char *names, struct keel_text *ret);
/* That of a job; appends nothing if it released everything, or is not suspended. */
void released_of(struct keel_obj *job, struct keel_text *ret);
/* Calls fn with each amount of resource_released_list, sorted by name. `requested`: the job's Resource_List. */
typedef void amount_fn(void *arg, const struct keel_res_value *v, bool in_kb);
void released_amounts(const struct keel_exec *exec,
		      const struct keel_reslist *requested, const char *names, amount_fn *fn, void *arg);

#endif
