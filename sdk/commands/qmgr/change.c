/* SPDX-License-Identifier: Apache-2.0
 *
 * change.c - create, delete, set, unset.
 */
#include "run.h"

#include <string.h>

#include "pbs_error.h"

/* `@default`: all of that server, one after the other. */
struct all {
	struct session *s;
	const struct command *q;
	const struct target *t;
	int status;
};

static void change_one_of_all(const struct batch_status *object, void *arg)
{
	struct all *all = arg;
	struct target one = *all->t;
	int status;

	one.name = object->name;
	status = change_run(all->s, all->q, &one);
	if (status != 0)
		all->status = status;
}

int change_run(struct session *s, const struct command *q, const struct target *t)
{
	struct all all = { s, q, t, 0 };
	const char *said;
	int status;

	if (!*t->name && q->verb != MGR_CMD_CREATE &&
	    (q->object == MGR_OBJ_QUEUE || q->object == MGR_OBJ_NODE)) {
		status = objects_each(s, t, q->object, NULL, change_one_of_all, &all);
		return all.status ? all.status : status;
	}
	if (q->object == MGR_OBJ_QUEUE && strlen(t->name) > PBS_MAXQUEUENAME)
		return target_failed_as(t, PBSE_QUENBIG, NULL);
	if (pbs_manager(t->c, q->verb, q->object, t->name, q->attributes,
			q->object == MGR_OBJ_PBS_HOOK ? PBS_HOOK : NULL) != 0)
		return target_failed(s, t);
	said = pbs_geterrmsg(t->c);
	if (said && *said)
		fprintf(stderr, "%s\n", said);
	return 0;
}
