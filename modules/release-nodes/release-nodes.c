/* SPDX-License-Identifier: Apache-2.0
 *
 * release-nodes.c - pbs_release_nodes: a running job gives up vnodes of its sister hosts.
 *
 *   requester -> state -> what is requested -> what stays (choice.c) -> shrink() of service job
 *
 * The vnodes of the job's first host stay always. A job with release_nodes_on_stageout does the same for all others when its
 * program has ended and files are staged out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "keel/jobid.h"
#include "keel/keel.h"
#include "keel/place.h"
#include "keel/service/job.h"
#include "keel/service/node.h"
#include "pbs_error.h"

KEEL_USE(job);
KEEL_USE(node);
KEEL_USE(resource);
KEEL_ATTRS_OF(job, exec_vnode, schedselect, substate);
KEEL_ATTR(on_stageout, job, release_nodes_on_stageout, "bool", .order = 415, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_FLAG1,
	  .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_EVERYBODY,
	  .doc = "whether all hosts but the first come free before files are staged out (qsub -W); unset: False");

#define ONLY_SELECT "only a \"select=\" string is valid in -k option\n"
#define NO_WAY "Server returned error 15010 for job" /* as tools know it: what is requested names nothing to release */

/* ---- what is requested ------------------------------------------------------------------------------------- */

struct release {
	struct keel_mod *mod;
	struct keel_obj *job;
	const char *names; /* vnodes and hosts, with '+' between; "" all */
	const char *keep;  /* "select=...", or NULL */
	struct keel_exec *exec;
	struct keel_select *select, *want;
	struct keel_text to_exec, to_select;
	struct keel_err *err;
};

static int32_t no_memory(struct release *r)
{
	return keel_error(r->err, PBSE_SYSTEM, "System error: out of memory");
}

static bool names_part(const char *name, const struct keel_exec_part *part)
{
	const char *host;

	if (strcmp(name, part->vnode) == 0)
		return true;
	host = keel_node_host_of(part->vnode);
	return host && keel_host_same(name, host);
}

static bool is_of(const char *host, const struct keel_exec_part *part)
{
	const char *of = keel_node_host_of(part->vnode);

	return host && of && strcmp(host, of) == 0;
}

static const char *primary_of(const struct release *r)
{
	return keel_node_host_of(r->exec->part[0].vnode);
}

/* ---- by names ------------------------------------------------------------------------------------------------ */

/* Marks what a name means; returns how many parts that are, or fails with -EPERM: it is on the first host. */
static int32_t name_mark(const struct release *r, const char *name, bool *gone)
{
	int32_t n = 0;

	for (uint32_t i = 0; i < r->exec->n; i++) {
		if (!names_part(name, &r->exec->part[i]))
			continue;
		if (i == 0 || is_of(primary_of(r), &r->exec->part[i]))
			return -EPERM;
		gone[i] = true;
		n++;
	}
	return n;
}

static int32_t names_mark(struct release *r, bool *gone)
{
	char *copy = strdup(r->names), *save = NULL, *name;
	struct keel_text strange;
	int32_t found = 0, n, code = 0;

	if (!copy)
		return no_memory(r);
	keel_text_init(&strange);
	for (name = strtok_r(copy, "+", &save); name && !code; name = strtok_r(NULL, "+", &save)) {
		n = name_mark(r, name, gone);
		if (n < 0) {
			code = keel_error(r->err, PBSE_SYSTEM, "Can't free '%s' since it's on a primary execution host", name);
			keel_log(r->mod, KEEL_LOG_DEBUG2, "Job", keel_id(r->job), "%s", r->err->text);
		} else if (n == 0) {
			keel_text_printf(&strange, "%s%s", strange.len ? " " : "", name);
		}
		found += n > 0;
	}
	if (!code && !found)
		code = keel_error(r->err, PBSE_SYSTEM, NO_WAY);
	if (!code && strange.len)
		code = keel_error(r->err, PBSE_SYSTEM, "node(s) requested to be released not part of the job: %.180s",
				  strange.data);
	keel_text_fini(&strange);
	free(copy);
	return code;
}

static int32_t all_mark(struct release *r, bool *gone)
{
	const char *primary = primary_of(r);
	bool found = false;

	for (uint32_t i = 1; i < r->exec->n; i++)
		found |= gone[i] = !is_of(primary, &r->exec->part[i]);
	return found ? 0 : keel_error(r->err, PBSE_SYSTEM, NO_WAY);
}

static int32_t named_leave(struct release *r)
{
	const struct choice c = { r->exec, r->select };
	bool *gone = calloc(r->exec->n + 1u, sizeof(*gone));
	int32_t code = !gone ? no_memory(r) : *r->names ? names_mark(r, gone) : all_mark(r, gone);

	if (!code)
		choice_without(&c, gone, &r->to_exec, &r->to_select);
	free(gone);
	return code;
}

/* ---- by a select ----------------------------------------------------------------------------------------------- */

static int32_t some_stay(struct release *r)
{
	const struct choice c = { r->exec, r->select };
	const char *primary = primary_of(r);
	bool *fixed;
	int32_t code;

	if (strncmp(r->keep, "select=", 7) != 0)
		return keel_error(r->err, PBSE_IVALREQ, ONLY_SELECT);
	if (!r->keep[7])
		return keel_error(r->err, PBSE_BADATVAL, "%s Resource_List.select", keel_pbse_text(PBSE_BADATVAL));
	code = keel_resource_select_parse(r->keep + 7, &r->want, r->err);
	if (code == PBSE_INVALSELECTRESC)
		return keel_error(r->err, code, "illegal -k value: %s", r->keep);
	if (code)
		return code;
	fixed = calloc(r->exec->chunks + 1u, sizeof(*fixed));
	if (!fixed)
		return no_memory(r);
	for (uint32_t i = 0; i < r->exec->n; i++)
		if (i == 0 || is_of(primary, &r->exec->part[i]))
			fixed[r->exec->part[i].chunk] = true;
	code = choice_keep(&c, fixed, r->want, &r->to_exec, &r->to_select);
	free(fixed);
	return code == -ENOENT ? keel_error(r->err, PBSE_SYSTEM, NO_WAY) : code ? no_memory(r) : 0;
}

/* ---- the request --------------------------------------------------------------------------------------------- */

static int32_t vntype_check(struct release *r)
{
	for (uint32_t i = 0; i < r->exec->n; i++) {
		struct keel_obj *node = keel_find(r->mod, "node", r->exec->part[i].vnode);
		const struct keel_res_value *type =
			node ? keel_resource_list_get(keel_node_available(node), "vntype") : NULL;

		if (type && type->text && strncmp(type->text, "cray_", 5) == 0)
			return keel_error(r->err, PBSE_IVALREQ, "not currently supported on Cray X* series nodes: %s",
					  r->exec->part[i].vnode);
	}
	return 0;
}

static int32_t release(struct release *r)
{
	const char *vnodes = keel_get_str(r->job, job_exec_vnode), *select = keel_get_str(r->job, job_schedselect);
	int32_t code = keel_resource_exec_parse(vnodes ? vnodes : "", &r->exec, r->err);

	if (!code && select)
		code = keel_resource_select_parse(select, &r->select, r->err);
	if (!code)
		code = vntype_check(r);
	if (!code)
		code = r->keep ? some_stay(r) : named_leave(r);
	if (!code && (r->to_exec.failed || r->to_select.failed))
		code = no_memory(r);
	if (code)
		return code;
	return keel_job_shrink(r->job, &(struct keel_job_shrink){ .size = sizeof(struct keel_job_shrink),
								  .frees = r->keep ? KEEL_SHRINK_CHUNKS : KEEL_SHRINK_HOSTS,
								  .exec_vnode = r->to_exec.data,
								  .schedselect = r->to_select.data,
								  .why = "release" },
			       r->err);
}

static void release_fini(struct release *r)
{
	keel_resource_exec_free(r->exec);
	keel_resource_select_free(r->select);
	keel_resource_select_free(r->want);
	keel_text_fini(&r->to_exec);
	keel_text_fini(&r->to_select);
}

static int32_t job_of(struct keel_mod *mod, struct keel_req *req, struct keel_obj **ret, struct keel_err *err)
{
	const char *id = keel_msg_str(keel_req_body(req), "id");
	const struct keel_job_ask ask = { .size = sizeof(ask), .who = keel_req_session(req)->who, .req = req };
	int32_t code;

	*ret = id ? keel_find(mod, "job", id) : NULL;
	if (id && (keel_id_is_whole(id) || (!*ret && keel_id_is_part(id))))
		return keel_error(err, PBSE_NOSUP, "not supported for Array Jobs or multiple sub-jobs");
	if (!*ret)
		return keel_error(err, PBSE_UNKJOBID, "%s", keel_pbse_text(PBSE_UNKJOBID));
	code = keel_job_permit(*ret, &ask, KEEL_EVERYBODY);
	if (!code && (keel_job_state(*ret) != 'R' || keel_job_substate(*ret) != KEEL_SUB_RUNNING))
		code = PBSE_BADSTATE;
	return code ? keel_error(err, code, "%s", keel_pbse_text(code)) : 0;
}

static void on_release(struct keel_mod *mod, struct keel_req *req)
{
	const char *names = keel_msg_str(keel_req_body(req), "vnodes");
	struct keel_err err = { 0 };
	struct release r = { .mod = mod, .names = names ? names : "", .err = &err };
	int32_t code;

	r.keep = keel_msg_str(keel_req_body(req), "keep");
	keel_text_init(&r.to_exec);
	keel_text_init(&r.to_select);
	code = job_of(mod, req, &r.job, &err);
	if (!code)
		code = release(&r);
	if (!code)
		keel_log(mod, KEEL_LOG_JOB, "Job", keel_id(r.job), "vnodes released at request of %s, exec_vnode is %s",
			 keel_req_session(req)->who, r.to_exec.data);
	keel_reply(req, code, code ? "%s" : NULL, err.text);
	release_fini(&r);
}

/* ---- files are staged out -------------------------------------------------------------------------------------- */

/* Only the first host has to do with them: the others go before the copies, if the job wants that. */
static keel_verdict on_step(struct keel_call *c, const struct keel_ev_job_step *ev)
{
	struct keel_err err = { 0 };
	struct release r = { .mod = c->mod, .job = ev->job, .names = "", .err = &err };
	int32_t code;

	if (!ev->job || ev->state != 'E' || keel_get_int(ev->job, job_substate) != KEEL_STAGE_OUT ||
	    !keel_get_int(ev->job, on_stageout))
		return KEEL_NEXT;
	keel_text_init(&r.to_exec);
	keel_text_init(&r.to_select);
	code = release(&r);
	if (code && strcmp(err.text, NO_WAY) != 0)
		keel_log(c->mod, KEEL_LOG_ERROR, "Job", ev->id, "its other hosts stay while files are staged out: %s", err.text);
	release_fini(&r);
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = { KEEL_TAP(job_step, on_step) };

static const struct keel_request_def request = {
	.size = sizeof(struct keel_request_def), .roles = KEEL_EVERYBODY, .name = "release_nodes", .handler = on_release,
	.doc = "a running job gives up vnodes",
};
static const struct keel_contrib contribs[] = { KEEL_ROW(REQUEST, request), KEEL_ROW(ATTR, on_stageout_row) };

KEEL_MODULE(.name = "release-nodes", .version = "1.0", .vendor = "Keelson",
	    .summary = "running jobs give up vnodes (pbs_release_nodes)", .roles = KEEL_SERVER, KEEL_CONTRIBS(contribs), KEEL_TAPS(taps));
