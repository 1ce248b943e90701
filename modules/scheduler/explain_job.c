/* SPDX-License-Identifier: Apache-2.0
 *
 * explain_job.c - the request keelson.explain: everything that decides whether a job starts, in lines.
 *
 *   <what>  <ok or what is in the way>
 *
 * A job's owner, operators and managers may ask. Policies add lines of their own at job_explain: each
 * tap appends lines that end with a newline. Nothing is changed by asking.
 */
#include "scheduler.h"

#include "keel/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLICY_MAX 65536

/* ---- who asks about what -------------------------------------------------------------------------- */

static struct keel_obj *job_named(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	struct keel_obj *job = st->object->find(mod, "job", id);
	char full[300];

	if (job || strchr(id, '.'))
		return job;
	snprintf(full, sizeof(full), "%s.%s", id, st->core->server_name(mod));
	return st->object->find(mod, "job", full);
}

static bool may_ask(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job)
{
	struct state *st = mod->state;
	const struct keel_attr *owner = st->object->attr(mod, "job", "Job_Owner");
	const char *text = owner ? st->object->get_str(job, owner) : NULL;
	size_t len = strcspn(who->who, "@");

	return (who->roles & KEEL_OPERATORS) ||
	       (text && strncmp(text, who->who, len) == 0 && text[len] == '@');
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static void explain_comment(struct keel_mod *mod, struct keel_obj *job, struct keel_text *out)
{
	struct state *st = mod->state;
	const struct keel_attr *attr = st->object->attr(mod, "job", "comment");
	const char *text = attr ? st->object->get_str(job, attr) : NULL;

	if (text)
		keel_text_printf(out, "comment      %s\n", text);
}

static void explain_rest(struct keel_mod *mod, const struct entry *e, struct keel_text *out)
{
	struct state *st = mod->state;

	if (e && e->where == RESTING)
		keel_text_printf(out, "back-off     rests after %u failed starts\n", e->failures);
	else if (e && e->not_before > clock_us(mod))
		keel_text_printf(out, "back-off     not resumed for another %lld ms\n",
				 (long long)((e->not_before - clock_us(mod)) / 1000));
	else
		keel_text_printf(out, "back-off     none\n");
	if (!scheduling_on(mod))
		keel_text_str(out, "scheduling   off: no job starts\n");
	(void)st;
}

/* Taps' lines; the blanks that join what they append are taken off. */
static void explain_policies(struct keel_mod *mod, struct keel_obj *job, struct keel_text *out)
{
	struct state *st = mod->state;
	char *buf, *line, *save = NULL;

	if (!st->hook->tapped(mod, KEEL_POINT_job_explain) || !(buf = calloc(1, POLICY_MAX)))
		return;
	st->hook->fold(mod, KEEL_POINT_job_explain,
		       KEEL_EVENT(job_explain, .id = st->object->id(job), .job = job), buf, POLICY_MAX);
	for (line = strtok_r(buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		line += strspn(line, " ");
		keel_text_printf(out, "%s\n", line);
	}
	free(buf);
}

static void explain_gates(struct keel_mod *mod, struct keel_obj *job, struct keel_text *out)
{
	struct reason r = { 0 };

	if (group_is_eligible(mod, job, &r) && job_is_eligible(mod, job, &r))
		keel_text_str(out, "policies     ok\n");
	else
		keel_text_printf(out, "policies     %s\n", r.text);
}

static void explain_all(struct keel_mod *mod, struct keel_obj *job, struct keel_text *out)
{
	struct state *st = mod->state;

	keel_text_printf(out, "job          %s  state %c  queue %s\n", st->object->id(job),
			 st->job->state(st->job->self, job),
			 st->object->get_str(job, st->a.queue) ? st->object->get_str(job, st->a.queue)
							       : "");
	explain_comment(mod, job, out);
	explain_rest(mod, entry_of(mod, job), out);
	explain_gates(mod, job, out);
	explain_policies(mod, job, out);
}

/* ---- the request --------------------------------------------------------------------------------------- */

static void reply_lines(struct keel_mod *mod, struct keel_req *req, char *text)
{
	struct state *st = mod->state;
	struct keel_out *out = st->msg->out(mod);
	char *line, *save = NULL;

	st->msg->open_array(out, "lines");
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		st->msg->add_str(out, line);
	st->msg->close(out);
	st->request->reply_out(req, out);
}

static void on_explain(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	uint32_t n;
	const char *const *args = st->msg->strings(st->request->body(req), "args", &n);
	struct keel_obj *job = args && n == 1 ? job_named(mod, args[0]) : NULL;
	struct keel_text out;

	if (!job) {
		st->request->reply(req, PBSE_UNKJOBID, NULL);
		return;
	}
	if (!may_ask(mod, st->request->session(req), job)) {
		st->request->reply(req, PBSE_PERM, NULL);
		return;
	}
	keel_text_init(&out);
	explain_all(mod, job, &out);
	if (out.failed)
		st->request->reply(req, PBSE_SYSTEM, "System error: out of memory");
	else
		reply_lines(mod, req, out.data);
	keel_text_fini(&out);
}

const struct keel_request_def explain_request = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_EVERYBODY,
	.flags = KEEL_REQUEST_READ,
	.name = "keelson.explain",
	.doc = "why a job does not start: job",
	.handler = on_explain,
};
