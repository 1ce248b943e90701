/* SPDX-License-Identifier: Apache-2.0
 *
 * attach.c - a process from outside becomes part of a job. Its caller's user must be the job's; the cookie may be missing.
 */
#include "task-manager.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "keel/directive.h"
#include "pbs_error.h"

struct attaching {
	struct keel_req *req;
	char *id;
	int64_t run;
	uint32_t number;
};

int32_t tm_code(int32_t code)
{
	if (code == 0 || code >= TM_ESYSTEM)
		return code;
	if (code == PBSE_HOOKERROR || code == PBSE_HOOK_REJECT)
		return TM_EHOOK;
	return code == PBSE_UNKJOBID ? TM_ENOTFOUND : TM_ESYSTEM;
}

static void attached(struct keel_mod *me, void *arg, int32_t code, const char *text)
{
	struct attaching *a = arg;
	struct job *j = job_find(me->state, a->id, a->run);
	struct task *t = code == 0 && j != NULL ? task_add(j, a->number, keel_host_name(me)) : NULL;
	struct keel_out *out;

	if (t != NULL)
		t->status = TASK_RUNS;
	if (code != 0) {
		keel_log(me, KEEL_LOG_JOB, "Job", a->id, "attach refused: %s", text != NULL ? text : "");
		keel_reply(a->req, tm_code(code), text != NULL ? "%s" : NULL, text);
	} else {
		out = keel_out(me);
		keel_put_int(out, "task", a->number);
		keel_reply_out(a->req, out);
	}
	free(a->id);
	free(a);
}

/* The only job of a user on this host. */
struct search {
	int64_t uid;
	const char *id;
	uint32_t n;
};

static void user_matches(struct keel_mod *me, const struct keel_part *p, void *arg)
{
	struct search *s = arg;

	(void)me;
	if (p->uid != s->uid || (p->state != KEEL_PART_READY && p->state != KEEL_PART_STOPPED))
		return;
	s->id = p->id;
	s->n++;
}

static const struct keel_part *job_meant(struct keel_mod *mod, const char *id, int64_t uid)
{
	struct search s = { .uid = uid };

	if (id != NULL && *id != '\0')
		return keel_part_find(id);
	keel_part_each(user_matches, mod, &s);
	return s.n == 1 ? keel_part_find(s.id) : NULL;
}

/* Returns 0, or why not. The service looks at the process again when it takes it. */
static int32_t process_check(int64_t pid, int64_t uid, const char **ret_text)
{
	struct stat st;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%lld", (long long)pid);
	*ret_text = "process does not exist";
	if (pid <= 1 || stat(path, &st) < 0)
		return TM_ENOPROC;
	*ret_text = "process owner does not match job";
	return st.st_uid == uid ? 0 : TM_EOWNER;
}

static int32_t attach_check(bool allowed, const struct keel_part *p, const struct keel_msg *m, int64_t uid,
			    const char **ret_text)
{
	const char *cookie = keel_msg_str(m, "cookie");

	*ret_text = "not implemented/supported";
	if (!allowed)
		return TM_ENOTIMPLEMENTED;
	*ret_text = "no matching job found";
	if (p == NULL)
		return TM_ENOTFOUND;
	*ret_text = "user not permitted to attach";
	if (p->uid != uid)
		return TM_EUSER;
	*ret_text = "not connected";
	if (cookie != NULL && *cookie != '\0' && !cookie_fits(p->cookie, cookie))
		return TM_ENOTCONNECTED;
	return process_check(keel_msg_int(m, "pid", 0), uid, ret_text);
}

static void on_attach(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *m = keel_req_body(req);
	const struct keel_session *user = keel_req_session(req);
	const char *id = keel_msg_str(m, "job"), *text;
	const struct keel_part *p = job_meant(mod, id, user->uid);
	const struct state *s = mod->state;
	const struct conf *cf = mod->conf;
	int32_t code = attach_check(s->attach_said < 0 ? cf->attach : s->attach_said != 0, p, m, user->uid, &text);
	struct job *j = code == 0 ? job_of(mod->state, p) : NULL;
	struct attaching *a = j != NULL ? calloc(1, sizeof(*a)) : NULL;

	if (code != 0) {
		keel_log(mod, KEEL_LOG_SECURITY, "Job", p != NULL ? p->id : "N/A", "tm_attach of %s refused: %s", user->who, text);
		keel_reply(req, code, "%s", text);
		return;
	}
	if (a == NULL || (a->id = strdup(p->id)) == NULL) {
		free(a);
		keel_reply(req, TM_ESYSTEM, "no memory");
		return;
	}
	a->req = req;
	a->run = p->run;
	a->number = job_number(j);
	keel_part_attach(p->id, a->number, keel_msg_int(m, "pid", 0), mod, attached, a);
}

const struct keel_request_def tm_attach = {
	.size = sizeof(struct keel_request_def), .roles = KEEL_EVERYBODY, .name = "tm_attach",
	.doc = "a process becomes part of a job", .handler = on_attach, .flags = KEEL_REQUEST_READ,
};

static int32_t allow_check(struct keel_mod *mod, const char *value, struct keel_err *err)
{
	bool yes;

	(void)mod;
	return keel_directive_bool(value, &yes, err);
}

static void allow_apply(struct keel_mod *mod, const char *const *values, uint32_t n)
{
	struct state *s = mod->state;
	bool yes = false;

	s->attach_said = n > 0 && keel_directive_bool(values[0], &yes, NULL) == 0 ? yes : -1;
}

const struct keel_mom_directive_def attach_directive = {
	.size = sizeof(struct keel_mom_directive_def), .name = "$attach_allow", .doc = "may processes from outside become part of a job?",
	.check = allow_check, .apply = allow_apply,
};
