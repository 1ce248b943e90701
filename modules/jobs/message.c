/* SPDX-License-Identifier: Apache-2.0
 *
 * message.c - qmsg: a line for the output of a running job.
 */
#include "jobs.h"

enum { FILES = 3 }; /* 1 output, 2 error */

void on_message(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *body = keel_req_body(req);
	const char *text = keel_msg_str(body, "msg");
	int64_t files = keel_msg_int(body, "file", 2) & FILES;
	struct keel_obj *job = job_running_for(mod, req);

	if (!job)
		return;
	keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "message to the job by %s",
		 keel_req_session(req)->who);
	keel_task_message(job, (int32_t)(files ? files : 2), text ? text : "", mod,
			  reply_later, req);
}
