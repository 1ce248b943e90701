/* SPDX-License-Identifier: Apache-2.0
 *
 * verb.c - the verbs for a node: suspend every job on it, resume those that the verb suspended.
 *
 * `pbsnodes --admin-suspend [-C comment] NODE` suspends each running job with a chunk on one of the
 * node's vnodes and stores on the job which node's verb did it; `--admin-resume NODE` resumes just those.
 * A job that the verbs of two nodes suspended is resumed by the second resume.
 *
 * A vnode takes new jobs until the first of its jobs is suspended: when all steps are done, another round looks for
 * running jobs, until there are none.
 */
#include "admin-suspend.h"
#include "keel/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(job, admin_suspended_nodes);

#define NO_MEMORY "out of memory; try again"
#define NOT_OURS "suspended, but out of memory to note for which node; qsig -s admin-resume continues it"
#define ROUNDS_MOST 100 /* ends the rounds if a user resumes the jobs meanwhile */
#define NAMES_SHOWN 8 /* vnodes named in the reply */

struct verb {
	struct keel_req *req;
	char *node, *who, *comment;
	bool suspend;
	uint32_t open;	   /* steps whose reply is missing, and one while the round sends them */
	uint32_t done;	   /* jobs suspended or resumed */
	uint32_t n_failed; /* jobs that failed */
	uint32_t rounds, sent; /* rounds begun; steps sent in the last one */
	int32_t code;	   /* error of the first job that failed */
	char failed[300];  /* its id and text */
};

struct step {
	struct verb *verb;
	char *job_id;
};

static void verb_free(struct verb *v)
{
	free(v->node);
	free(v->who);
	free(v->comment);
	free(v);
}

/* The reply names the first failure; the steps of other jobs go on. */
static void step_failed(struct verb *v, int32_t code, const char *where, const char *text)
{
	v->n_failed++;
	if (v->code)
		return;
	v->code = code;
	snprintf(v->failed, sizeof(v->failed), "%s: %s", where, text);
}

/* ---- the reply ------------------------------------------------------------------------------------------- */

/* Lists vnodes that are not in maintenance because no job on them was suspended: they still take jobs. */
static void open_vnodes_list(struct keel_mod *mod, const struct verb *v, struct keel_text *ret)
{
	struct keel_cursor *walk = keel_cursor(mod, "node");
	struct keel_obj *node;
	uint32_t n = 0;

	while (walk && (node = keel_next(walk))) {
		if (!is_of_node(node, v->node) || keel_node_unavailable(node) ||
		    keel_resource_list_number(keel_node_available(node), "ncpus", 0) <= 0)
			continue;
		if (n++ < NAMES_SHOWN)
			keel_text_printf(ret, "%s%s", ret->len ? "," : "", keel_id(node));
	}
	if (walk)
		keel_cursor_close(walk);
	if (n > NAMES_SHOWN)
		keel_text_printf(ret, " and %u more", n - NAMES_SHOWN);
}

static void reply_done(struct keel_mod *mod, struct verb *v)
{
	struct keel_out *out = keel_out(mod);
	struct keel_text open, all;
	char line[64];

	snprintf(line, sizeof(line), "%u job%s %s", v->done, v->done == 1 ? "" : "s",
		 v->suspend ? "suspended" : "resumed");
	keel_open_array(out, "lines");
	keel_add_str(out, line);
	keel_text_init(&open);
	keel_text_init(&all);
	if (v->suspend)
		open_vnodes_list(mod, v, &open);
	if (open.len) {
		keel_text_printf(&all,
				 "not in maintenance, for no job was suspended there: %s; set them offline to keep new jobs away",
				 open.data);
		keel_add_str(out, all.data);
	}
	keel_text_fini(&all);
	keel_text_fini(&open);
	keel_close(out);
	keel_reply_out(v->req, out);
}

static void reply_failed(struct verb *v)
{
	if (!*v->failed)
		keel_reply(v->req, v->code, NULL);
	else if (v->done + v->n_failed > 1)
		keel_reply(v->req, v->code, "%s (%u %s, %u not)", v->failed, v->done,
			   v->suspend ? "suspended" : "resumed", v->n_failed);
	else
		keel_reply(v->req, v->code, "%s", v->failed);
}

static void round_start(struct keel_mod *mod, struct verb *v);

static void verb_done(struct keel_mod *mod, struct verb *v)
{
	if (--v->open)
		return;
	if (v->suspend && !v->code && v->sent && v->rounds < ROUNDS_MOST) {
		round_start(mod, v);
		return;
	}
	if (v->code)
		reply_failed(v);
	else
		reply_done(mod, v);
	verb_free(v);
}

/* Stores on the suspended job that this node's verb did it. */
static void job_stopped(struct verb *v, struct keel_obj *job)
{
	if (mark_missing(job))
		step_failed(v, PBSE_SYSTEM, keel_id(job), MARK_MISSING);
	else if (keel_set_str(job, job_admin_suspended_nodes, v->node) < 0)
		step_failed(v, PBSE_SYSTEM, keel_id(job), NOT_OURS);
	else
		v->done++;
	if (v->comment && *v->comment)
		mark_comment(job, v->comment);
}

static void step_done(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct step *s = arg;
	struct verb *v = s->verb;
	struct keel_obj *job = keel_find(mod, "job", s->job_id);

	if (code && job)
		step_failed(v, code, s->job_id, text ? text : keel_pbse_text(code));
	else if (!code && job && v->suspend)
		job_stopped(v, job);
	else if (!code)
		v->done++;
	free(s->job_id);
	free(s);
	verb_done(mod, v);
}

/* ---- which jobs ------------------------------------------------------------------------------------------- */

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t item = strcspn(list, ",");

		if (item == len && memcmp(list, word, len) == 0)
			return true;
		list += item + (list[item] == ',');
	}
	return false;
}

/* Drops the node from the list of verbs that suspended the job; returns whether the list is now empty. */
static bool verb_released(struct verb *v, struct keel_obj *job)
{
	char *copy = strdup(keel_get_str(job, job_admin_suspended_nodes)), *save = NULL, *word, *rest = NULL;
	size_t len = 0;
	FILE *out = copy ? open_memstream(&rest, &len) : NULL;
	bool last;

	for (word = out ? strtok_r(copy, ",", &save) : NULL; word; word = strtok_r(NULL, ",", &save))
		if (strcmp(word, v->node) != 0)
			fprintf(out, "%s%s", ftell(out) ? "," : "", word);
	if (!out || fclose(out) != 0)
		step_failed(v, PBSE_SYSTEM, keel_id(job), NO_MEMORY);
	last = out && len == 0;
	if (rest && len > 0 && keel_set_str(job, job_admin_suspended_nodes, rest) < 0)
		step_failed(v, PBSE_SYSTEM, keel_id(job), NO_MEMORY);
	free(rest);
	free(copy);
	return last;
}

static void verb_add(struct verb *v, struct keel_obj *job)
{
	const char *have = keel_get_str(job, job_admin_suspended_nodes);
	char *text;

	if (!have || has_word(have, v->node))
		return;
	if (asprintf(&text, "%s,%s", have, v->node) < 0)
		text = NULL;
	if (!text || keel_set_str(job, job_admin_suspended_nodes, text) < 0)
		step_failed(v, PBSE_SYSTEM, keel_id(job), NO_MEMORY);
	free(text);
}

static void step_send(struct keel_mod *mod, struct verb *v, struct keel_obj *job)
{
	struct step *s = calloc(1, sizeof(*s));

	if (!s || !(s->job_id = strdup(keel_id(job)))) {
		free(s);
		step_failed(v, PBSE_SYSTEM, keel_id(job), NO_MEMORY);
		return;
	}
	s->verb = v;
	v->open++;
	v->sent++;
	if (v->suspend)
		keel_job_suspend(job, SUSPEND, v->who, mod, step_done, s);
	else
		keel_job_resume(job, RESUME, v->who, mod, step_done, s);
}

static void job_step(struct keel_mod *mod, struct verb *v, struct keel_obj *job)
{
	const char *held = keel_get_str(job, job_admin_suspended_nodes);

	if (keel_job_state(job) != 'R')
		return;
	if (v->suspend && keel_job_is_suspended(job))
		verb_add(v, job);
	else if (v->suspend)
		step_send(mod, v, job);
	else if (held && has_word(held, v->node) && verb_released(v, job))
		step_send(mod, v, job);
}

/* ---- the requests -------------------------------------------------------------------------------------------- */

/* Sends the steps of one round. False: there is no such node. */
static bool round_steps(struct keel_mod *mod, struct verb *v)
{
	struct keel_obj *job;
	struct node_jobs jobs;
	bool found = node_jobs_find(mod, v->node, v->suspend, &jobs);
	uint32_t i;

	v->sent = 0;
	v->rounds++;
	if (jobs.failed)
		step_failed(v, PBSE_SYSTEM, v->node, NO_MEMORY);
	for (i = 0; i < jobs.n; i++)
		if ((job = keel_find(mod, "job", jobs.id[i])))
			job_step(mod, v, job);
	node_jobs_free(&jobs);
	return found;
}

static void round_start(struct keel_mod *mod, struct verb *v)
{
	v->open = 1;
	if (!round_steps(mod, v) && v->rounds == 1)
		v->code = PBSE_UNKNODE;
	verb_done(mod, v);
}

static struct verb *verb_new(struct keel_req *req, const char *node, const char *comment)
{
	struct verb *v = calloc(1, sizeof(*v));

	if (v && (v->node = strdup(node)) && (v->who = strdup(keel_req_session(req)->who)) &&
	    (!comment || (v->comment = strdup(comment))))
		return v;
	if (v)
		verb_free(v);
	return NULL;
}

static void on_verb(struct keel_mod *mod, struct keel_req *req, bool suspend)
{
	uint32_t n;
	const char *const *args = keel_msg_strings(keel_req_body(req), "args", &n);
	struct verb *v = args && n > 0 ? verb_new(req, args[0], n > 1 ? args[1] : NULL) : NULL;

	if (!v) {
		keel_reply(req, args && n > 0 ? PBSE_SYSTEM : PBSE_UNKNODE,
			   args && n > 0 ? "System error: out of memory" : NULL);
		return;
	}
	v->req = req;
	v->suspend = suspend;
	round_start(mod, v);
}

static void on_suspend_nodes(struct keel_mod *mod, struct keel_req *req)
{
	on_verb(mod, req, true);
}

static void on_resume_nodes(struct keel_mod *mod, struct keel_req *req)
{
	on_verb(mod, req, false);
}

const struct keel_request_def suspend_nodes = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_OPERATORS,
	.name = "keelson.admin_suspend_nodes",
	.doc = "suspend every job on a node for maintenance: node [comment]",
	.handler = on_suspend_nodes,
};
const struct keel_request_def resume_nodes = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_OPERATORS,
	.name = "keelson.admin_resume_nodes",
	.doc = "resume the jobs that suspending the node stopped: node",
	.handler = on_resume_nodes,
};
