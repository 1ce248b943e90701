/* SPDX-License-Identifier: Apache-2.0
 *
 * ask.c - delete, signal, rerun, run, alter: one table of acts on a job, for requests and for other modules.
 *
 * Each act has one function per job (delete_one() ...), which calls its callback exactly once; the callback of a
 * request sends the reply.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *verb;
	void (*act)(struct keel_mod *, struct keel_obj *, const struct keel_job_ask *,
		    const struct callback *);
} verbs[] = {
	{ "delete", delete_one },
	{ "signal", signal_one },
	{ "rerun", rerun_one },
	{ "run", run_one },
	{ "alter", alter_one },
};

/* ---- callbacks ------------------------------------------------------------------------------------- */

void callback_call(const struct callback *callback, int32_t code, const char *text)
{
	if (callback->done)
		callback->done(callback->me, callback->arg, code, text);
}

struct callback *callback_keep(const struct callback *callback)
{
	struct callback *kept = malloc(sizeof(*kept));

	if (kept)
		*kept = *callback;
	return kept;
}

void callback_end(struct callback **kept, int32_t code, const char *text)
{
	struct callback *callback = *kept;

	*kept = NULL;
	if (callback)
		callback_call(callback, code, text);
	free(callback);
}

/* ---- permission ------------------------------------------------------------------------------------ */

int32_t ask_permit(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_ask *ask,
		   uint32_t roles)
{
	const struct keel_session *who = ask->req ? keel_req_session(ask->req) : NULL;
	const char *id = job_id(mod, job);

	if (who && !(who->roles & roles & KEEL_OPERATORS) &&
	    !((roles & KEEL_USER) && is_owner(mod, who, job))) {
		keel_log(mod, KEEL_LOG_SECURITY, "Job", id,
			 "Unauthorized Request, Object: Job, Name: %s, request from: %s", id,
			 who->who);
		return PBSE_PERM;
	}
	return step_is_over(job_slot(mod, job)->step) ? PBSE_HISTJOBID : 0;
}

/* ---- from the verb to its act ----------------------------------------------------------------------- */

void ask_job(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_ask *ask,
	     const struct callback *callback)
{
	size_t i;

	for (i = 0; i < KEEL_COUNT(verbs); i++)
		if (strcmp(verbs[i].verb, ask->verb) == 0) {
			verbs[i].act(mod, job, ask, callback);
			return;
		}
	callback_call(callback, PBSE_IVALREQ, NULL);
}

void ask_operand(struct keel_mod *mod, const char *operand, const struct keel_job_ask *ask,
		 const struct callback *callback)
{
	struct keel_obj *job = job_find(mod, operand);

	if ((!job || job_role(mod, job) == ROLE_WHOLE) && form_ask(mod, operand, ask, callback))
		return;
	if (job)
		ask_job(mod, job, ask, callback);
	else
		callback_call(callback, PBSE_UNKJOBID, NULL);
}

void reply_later(struct keel_mod *mod, void *req, int32_t code, const char *text)
{
	(void)mod;
	keel_reply(req, code, text && *text ? "%s" : NULL, text);
}

void ask_request(struct keel_mod *mod, struct keel_req *req, const char *verb, const char *detail)
{
	const char *id = keel_msg_str(keel_req_body(req), "id");

	ask_operand(mod, id ? id : "",
		    &(struct keel_job_ask){ .size = sizeof(struct keel_job_ask),
					    .verb = verb,
					    .detail = detail,
					    .who = keel_req_session(req)->who,
					    .req = req },
		    &(struct callback){ mod, reply_later, req });
}
