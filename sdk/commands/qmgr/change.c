/* SPDX-License-Identifier: Apache-2.0
 *
 * change.c - create, delete, set, unset.
 */
#include "run.h"

#include <string.h>

#include "pbs_error.h"

int change_run(struct session *s, const struct command *q, const struct target *t)
{
	const char *said;

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
