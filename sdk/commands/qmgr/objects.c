/* SPDX-License-Identifier: Apache-2.0
 *
 * objects.c - requests the objects for list and print.
 */
#include <string.h>

#include "cmd.h"
#include "pbs_error.h"
#include "run.h"

#define FAILED 1

static struct batch_status *objects_get(const struct target *t, int object, struct attropl *want)
{
	struct attrl *list = (struct attrl *)want;

	switch (object) {
	case MGR_OBJ_SERVER:
		return pbs_statserver(t->c, list, NULL);
	case MGR_OBJ_QUEUE:
		return pbs_statque(t->c, t->name, list, NULL);
	case MGR_OBJ_NODE:
		return pbs_statvnode(t->c, t->name, list, NULL);
	case MGR_OBJ_RSC:
		return pbs_statrsc(t->c, t->name, list, NULL);
	case MGR_OBJ_SCHED:
		return pbs_statsched(t->c, list, NULL);
	case MGR_OBJ_HOOK:
		return pbs_stathook(t->c, t->name, list, SITE_HOOK);
	default:
		return pbs_stathook(t->c, t->name, list, PBS_HOOK);
	}
}

/* The reply had no object. A server that does not show hooks returns a text, which is printed alone if none was
 * requested by name. */
static int nothing(struct session *s, const struct target *t, int object)
{
	const char *text = cmd_error_text(t->c);
	bool hooks = object == MGR_OBJ_HOOK || object == MGR_OBJ_PBS_HOOK;

	if (text && (pbs_errno == 0 ||
		     (hooks && !*t->name && pbs_errno == PBSE_HOOKERROR))) {
		fprintf(stderr, "%s\n", text);
		return pbs_errno == 0 ? 0 : FAILED;
	}
	if (pbs_errno == 0)
		return 0;
	target_failed(s, t);
	return FAILED;
}

int objects_each(struct session *s, const struct target *t, int object, struct attropl *want,
		 show_fn *show, void *arg)
{
	struct batch_status *all = objects_get(t, object, want), *one;
	bool shown = false;

	if (!all)
		return nothing(s, t, object);
	for (one = all; one; one = one->next) {
		/* schedulers cannot be requested by name: filters the reply */
		if (object == MGR_OBJ_SCHED && *t->name && strcmp(one->name, t->name) != 0)
			continue;
		show(one, arg);
		shown = true;
	}
	pbs_statfree(all);
	if (shown)
		return 0;
	target_failed_as(t, PBSE_UNKSCHED, "Unknown Scheduler");
	return FAILED;
}

/* From the last requested to the first. */
static void requested_each(const struct batch_status *object, const struct attropl *requested,
		       void (*each)(const struct attrl *a, void *arg), void *arg)
{
	const struct attrl *a;

	if (!requested)
		return;
	requested_each(object, requested->next, each, arg);
	for (a = object->attribs; a && requested->name; a = a->next)
		if (strcmp(a->name, requested->name) == 0 &&
		    (!requested->resource || (a->resource && strcmp(a->resource, requested->resource) == 0)))
			each(a, arg);
}

void attributes_each(const struct batch_status *object, const struct attropl *requested,
		     void (*each)(const struct attrl *a, void *arg), void *arg)
{
	const struct attrl *a;

	if (requested) {
		requested_each(object, requested, each, arg);
		return;
	}
	for (a = object->attribs; a; a = a->next)
		each(a, arg);
}
