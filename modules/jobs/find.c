/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c - the job a request names, and whether its asker may touch it.
 */
#include "jobs.h"

#include <stdio.h>
#include <string.h>

/* Length of `12`, `12[]` or `12[3]` in front of an operand; 0: none of them. */
static size_t id_number(const char *operand)
{
	size_t digits = strspn(operand, "0123456789"), at = digits;

	if (digits && operand[at] == '[') {
		at += 1 + strspn(operand + at + 1, "0123456789");
		if (operand[at++] != ']')
			return 0;
	}
	return at;
}

struct keel_obj *job_find(struct keel_mod *mod, const char *operand)
{
	struct state *st = mod->state;
	struct keel_obj *job = st->object->find(mod, "job", operand);
	size_t digits = id_number(operand);
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

char job_letter(struct keel_mod *mod, const char *operand)
{
	struct keel_obj *job = job_find(mod, operand);

	return job ? step_letter(job_slot(mod, job)->step) : form_letter(mod, operand);
}

bool is_owner(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *euser = st->object->get_str(job, st->a.euser);

	return euser && strcmp(euser, who->user) == 0;
}

struct keel_obj *job_for(struct keel_mod *mod, struct keel_req *req, uint32_t roles)
{
	return job_named(mod, req, "id", roles);
}

struct keel_obj *job_named(struct keel_mod *mod, struct keel_req *req, const char *key,
			   uint32_t roles)
{
	struct state *st = mod->state;
	const struct keel_job_ask ask = { .size = sizeof(ask),
					  .who = st->request->session(req)->who,
					  .req = req };
	const char *id = st->msg->str(st->request->body(req), key);
	struct keel_obj *job = id ? job_find(mod, id) : NULL;
	int32_t code = job ? ask_permit(mod, job, &ask, roles) : PBSE_UNKJOBID;

	if (!code && job_role(mod, job) == ROLE_PART)
		code = PBSE_IVALREQ; /* its array can be held and altered, it cannot */
	if (!job && id && form_has(mod, id))
		code = PBSE_IVALREQ;
	if (!code)
		return job;
	st->request->reply(req, code, NULL);
	return NULL;
}

void on_locate(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	const char *id = st->msg->str(st->request->body(req), "id");
	struct keel_out *out;

	if (!id || (!job_find(mod, id) && !form_has(mod, id))) {
		st->request->reply(req, PBSE_UNKJOBID, NULL);
		return;
	}
	out = st->msg->out(mod);
	st->msg->put_str(out, "server", st->core->server_name(mod));
	st->request->reply_out(req, out);
}
