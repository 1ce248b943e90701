/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c - the job a request names, and whether the requester may touch it.
 */
#include "jobs.h"

#include <stdio.h>
#include <string.h>

#include "keel/acl.h"

KEEL_ATTRS_OF(job, Job_Owner, exec_host);
KEEL_ATTR_OF(server, flatuid);

struct keel_obj *find_by_operand(struct keel_mod *mod, const char *klass, const char *operand)
{
	struct keel_obj *job = keel_find(mod, klass, operand);
	size_t digits = keel_id_number(operand);
	char id[512];

	if (job || digits == 0)
		return job;
	if (operand[digits] == '@')
		; /* `12@server`: the server is this one, the client connected to it */
	else if (operand[digits] != '\0')
		return NULL;
	if (snprintf(id, sizeof(id), "%.*s.%s", (int)digits, operand, keel_server_name(mod)) >=
	    (int)sizeof(id))
		return NULL;
	return keel_find(mod, klass, id);
}

struct keel_obj *job_find(struct keel_mod *mod, const char *operand)
{
	return find_by_operand(mod, "job", operand);
}

char job_letter(struct keel_mod *mod, const char *operand)
{
	struct keel_obj *job = job_find(mod, operand);

	return job ? step_letter(job_slot(mod, job)->step) : form_letter(mod, operand);
}

/* exec_host: NULL for a job that is over. */
static bool is_owner_at(struct keel_mod *mod, const struct keel_session *who, const char *owner, const char *exec_host)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	return keel_acl_is_job_owner(owner, exec_host, who->user, who->host, keel_host_name(mod),
				     server && keel_get_int(server, server_flatuid));
}

bool is_owner_named(struct keel_mod *mod, const struct keel_session *who, const char *owner)
{
	return is_owner_at(mod, who, owner, NULL);
}

bool is_owner(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job)
{
	bool runs = step_is_running(job_slot(mod, job)->step);

	return is_owner_at(mod, who, job_text(job, job_Job_Owner), runs ? keel_get_str(job, job_exec_host) : NULL);
}

struct keel_obj *job_for(struct keel_mod *mod, struct keel_req *req, uint32_t roles)
{
	return job_named(mod, req, "id", roles);
}

/* The job an argument of the request names, in *ret. Returns 0, or fails with the PBSE code why the requester may not
 * touch it. */
static int32_t find_permitted(struct keel_mod *mod, struct keel_req *req, const char *key,
			      uint32_t roles, struct keel_obj **ret)
{
	const struct keel_job_ask ask = { .size = sizeof(ask),
					  .who = keel_req_session(req)->who,
					  .req = req };
	const char *id = keel_msg_str(keel_req_body(req), key);

	*ret = id ? job_find(mod, id) : NULL;
	if (*ret)
		return ask_permit(mod, *ret, &ask, roles);
	return id && form_has(mod, id) ? PBSE_IVALREQ : PBSE_UNKJOBID;
}

struct keel_obj *job_named(struct keel_mod *mod, struct keel_req *req, const char *key,
			   uint32_t roles)
{
	struct keel_obj *job;
	int32_t code = find_permitted(mod, req, key, roles, &job);

	if (!code && job_role(mod, job) == ROLE_PART)
		code = PBSE_IVALREQ; /* its array can be held and altered, it cannot */
	if (!code)
		return job;
	keel_reply(req, code, NULL);
	return NULL;
}

struct keel_obj *job_running_for(struct keel_mod *mod, struct keel_req *req)
{
	struct keel_obj *job;
	int32_t code = find_permitted(mod, req, "id", KEEL_EVERYBODY, &job);

	if (code == PBSE_IVALREQ || (!code && !step_is_running(job_slot(mod, job)->step)))
		code = PBSE_BADSTATE;
	if (!code)
		return job;
	keel_reply(req, code, NULL);
	return NULL;
}

/* Does the id end in a name that this server had before, or is it one of its own, but not of a job? This server answers then. */
static bool is_renamed(struct keel_mod *mod, const char *id)
{
	const char *dot = strchr(id, '.');
	bool here = dot && keel_find(mod, "server", dot + 1);

	return here && (!keel_id_number(id) || strcmp(dot + 1, keel_server_name(mod)) != 0);
}

void on_locate(struct keel_mod *mod, struct keel_req *req)
{
	const char *id = keel_msg_str(keel_req_body(req), "id");
	struct keel_out *out;

	if (!id || (!job_find(mod, id) && !form_has(mod, id) && !is_renamed(mod, id))) {
		keel_reply(req, PBSE_UNKJOBID, NULL);
		return;
	}
	out = keel_out(mod);
	keel_put_str(out, "server", keel_server_name(mod));
	keel_reply_out(req, out);
}
