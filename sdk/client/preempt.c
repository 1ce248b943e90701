/* SPDX-License-Identifier: Apache-2.0
 *
 * preempt.c - preempts running jobs and returns the outcome of each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "connection.h"
#include "pbs_error.h"

struct outcomes {
	preempt_job_info *job;
	size_t n, room;
};

static int word(const struct pack_value *from, char *to, size_t room)
{
	if (from->kind != PACK_STR || from->n >= room)
		return -EPROTO;
	memcpy(to, from->text, from->n);
	to[from->n] = '\0';
	return 0;
}

/* An outcome is [id, method]. As many of them as jobs requested, else it is a protocol error. */
static int outcomes_reply(const struct pack_value *body, void *arg)
{
	const struct pack_value *list = pack_get(body, "jobs");
	struct outcomes *o = arg;

	if (list == NULL || list->kind != PACK_ARRAY)
		return -EPROTO;
	for (uint32_t i = 0; i < list->n; i++, o->n++) {
		const struct pack_value *pair = &list->at[i];
		preempt_job_info *to = &o->job[o->n];

		if (o->n == o->room || pair->kind != PACK_ARRAY || pair->n < 2 ||
		    word(&pair->at[0], to->job_id, sizeof(to->job_id)) != 0 ||
		    word(&pair->at[1], to->order, sizeof(to->order)) != 0)
			return -EPROTO;
	}
	return o->n != o->room ? -EPROTO : 0;
}

preempt_job_info *pbs_preempt_jobs(int c, char **ids)
{
	struct outcomes o = { 0 };
	struct listener l = { .reply = outcomes_reply, .arg = &o };

	while (ids != NULL && ids[o.room] != NULL)
		o.room++;
	if (o.room == 0) {
		connection_fail_code(connection_find(c), PBSE_IVALREQ);
		return NULL;
	}
	o.job = calloc(o.room, sizeof(*o.job));
	if (o.job == NULL) {
		connection_fail_code(connection_find(c), PBSE_SYSTEM);
		return NULL;
	}
	if (CALL(c, "preempt_jobs", &l, arg_strs("ids", ids, o.room)) != 0) {
		free(o.job);
		return NULL;
	}
	return o.job;
}
