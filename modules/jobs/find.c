/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c - the job a request names, and whether its asker may touch it.
 */
#include "jobs.h"

#include <stdio.h>
#include <string.h>

struct keel_obj *job_find(struct keel_mod *mod, const char *operand)
{
	struct state *st = mod->state;
	struct keel_obj *job = st->object->find(mod, "job", operand);
	size_t digits = strspn(operand, "0123456789");
	char id[512];

	if (job || digits == 0)
		return job;
	if (operand[digits] == '@')
		; /* `12@server`: the server is this one, or the client would not have asked here */
	else if (operand[digits] != '\0')
		return NULL;
	if (snprintf(id, sizeof(id), "%.*s.%s", (int)digits, operand, st->core->server_name(mod)) >=
	    (int)sizeof(id))
		return NULL;
	return st->object->find(mod, "job", id);
}

bool is_owner(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *euser = st->object->get_str(job, st->a.euser);

	return euser && strcmp(euser, who->user) == 0;
}

static void refused(struct keel_mod *mod, struct keel_req *req, const char *id)
{
	struct state *st = mod->state;
	const struct keel_session *who = st->request->session(req);

	st->core->log(mod, KEEL_LOG_SECURITY, "Job", id,
		      "Unauthorized Request, Object: Job, Name: %s, request from: %s", id, who->who);
	st->request->reply(req, PBSE_PERM, NULL);
}

struct keel_obj *job_for(struct keel_mod *mod, struct keel_req *req, uint32_t roles)
{
	struct state *st = mod->state;
	const struct keel_session *who = st->request->session(req);
	const char *id = st->msg->str(st->request->body(req), "id");
	struct keel_obj *job = id ? job_find(mod, id) : NULL;

	if (!job) {
		st->request->reply(req, PBSE_UNKJOBID, NULL);
		return NULL;
	}
	if (!(who->roles & roles & KEEL_OPERATORS) &&
	    !((roles & KEEL_USER) && is_owner(mod, who, job))) {
		refused(mod, req, job_id(mod, job));
		return NULL;
	}
	if (step_is_over(job_slot(mod, job)->step)) {
		st->request->reply(req, PBSE_HISTJOBID, NULL);
		return NULL;
	}
	return job;
}

void on_locate(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	const char *id = st->msg->str(st->request->body(req), "id");
	struct keel_out *out;

	if (!id || !job_find(mod, id)) {
		st->request->reply(req, PBSE_UNKJOBID, NULL);
		return;
	}
	out = st->msg->out(mod);
	st->msg->put_str(out, "server", st->core->server_name(mod));
	st->request->reply_out(req, out);
}
