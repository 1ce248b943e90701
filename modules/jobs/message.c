/* SPDX-License-Identifier: Apache-2.0
 *
 * message.c - qmsg: a line for the output of a running job.
 */
#include "jobs.h"

enum { FILES = 3 }; /* 1 output, 2 error */

static void written(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct state *st = mod->state;

	st->request->reply(arg, code, text && *text ? "%s" : NULL, text);
}

void on_message(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	const struct keel_msg *body = st->request->body(req);
	const char *text = st->msg->str(body, "msg");
	int64_t files = st->msg->integer(body, "file", 2) & FILES;
	struct keel_obj *job = job_running_for(mod, req);

	if (!job)
		return;
	st->core->log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "message to the job by %s",
		      st->request->session(req)->who);
	st->task->message(st->task->self, job, (int32_t)(files ? files : 2), text ? text : "", mod,
			  written, req);
}
