/* SPDX-License-Identifier: Apache-2.0
 *
 * verb.c - the one-verb form: every job on a node, and those that it stopped.
 *
 * `pbsnodes --admin-suspend [-C comment] NODE` suspends each running job with a chunk on one of the
 * node's vnodes and remembers on the job which node's verb did it; `--admin-resume NODE` continues just
 * those. A job that two nodes' verbs stopped continues with the second resume.
 */
#include "admin-suspend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "out of memory; try again"

struct verb {
	struct keel_req *req;
	char *node, *who, *comment;
	bool suspend;
	uint32_t open;	 /* jobs whose answer is missing, and our own hand */
	uint32_t done;	 /* jobs that did it */
	int32_t code;	 /* of the first that did not */
	char failed[300]; /* its id and text */
};

struct step {
	struct verb *verb;
	char *job_id;
};

/* The first job that did not is told; the others are asked all the same. */
static void falls_short(struct verb *v, int32_t code, const char *where, const char *text)
{
	if (v->code)
		return;
	v->code = code;
	snprintf(v->failed, sizeof(v->failed), "%s: %s", where, text);
}

/* ---- the answer ------------------------------------------------------------------------------------------ */

static void verb_done(struct keel_mod *mod, struct verb *v)
{
	struct state *st = mod->state;
	struct keel_out *out;
	char line[128];

	if (--v->open)
		return;
	if (v->code) {
		st->request->reply(v->req, v->code, "%s", v->failed);
	} else {
		out = st->msg->out(mod);
		snprintf(line, sizeof(line), "%u job%s %s", v->done, v->done == 1 ? "" : "s",
			 v->suspend ? "suspended" : "resumed");
		st->msg->open_array(out, "lines");
		st->msg->add_str(out, line);
		st->msg->close(out);
		st->request->reply_out(v->req, out);
	}
	free(v->node);
	free(v->who);
	free(v->comment);
	free(v);
}

static void step_done(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct state *st = mod->state;
	struct step *s = arg;
	struct verb *v = s->verb;
	struct keel_obj *job = st->object->find(mod, "job", s->job_id);

	if (code && job)
		falls_short(v, code, s->job_id, text ? text : st->core->pbse_text(code));
	if (!code) {
		v->done++;
		if (job && v->suspend)
			st->object->set_str(job, st->verb_nodes, v->node);
		if (job && v->suspend && v->comment && *v->comment)
			mark_comment(mod, job, v->comment);
	}
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

/* A node operand is a vnode or a host: all its vnodes. */
static bool on_node(struct keel_mod *mod, struct keel_obj *job, const char *node)
{
	struct state *st = mod->state;
	const char *text = st->object->get_str(job, st->exec_vnode);
	struct keel_exec *exec;
	bool found = false;
	uint32_t i;

	if (!text || st->resource->exec_parse(st->resource->self, text, &exec, NULL))
		return false;
	for (i = 0; i < exec->n && !found; i++) {
		const char *host = st->node->host_of(st->node->self, exec->part[i].vnode);

		found = strcmp(exec->part[i].vnode, node) == 0 || (host && strcmp(host, node) == 0);
	}
	st->resource->exec_free(exec);
	return found;
}

/* Drop the node from the list of verbs that hold the job; true when none is left. */
static bool verb_released(struct keel_mod *mod, struct verb *v, struct keel_obj *job)
{
	struct state *st = mod->state;
	char *copy = strdup(st->object->get_str(job, st->verb_nodes)), *save = NULL, *word, *rest = NULL;
	size_t len = 0;
	FILE *out = copy ? open_memstream(&rest, &len) : NULL;
	bool last;

	for (word = out ? strtok_r(copy, ",", &save) : NULL; word; word = strtok_r(NULL, ",", &save))
		if (strcmp(word, v->node) != 0)
			fprintf(out, "%s%s", ftell(out) ? "," : "", word);
	if (!out || fclose(out) != 0)
		falls_short(v, PBSE_SYSTEM, st->object->id(job), NO_MEMORY);
	last = out && len == 0;
	if (rest && len > 0 && st->object->set_str(job, st->verb_nodes, rest) < 0)
		falls_short(v, PBSE_SYSTEM, st->object->id(job), NO_MEMORY);
	free(rest);
	free(copy);
	return last;
}

static void also_held_by(struct keel_mod *mod, struct verb *v, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *have = st->object->get_str(job, st->verb_nodes);
	char *text;

	if (!have || has_word(have, v->node))
		return;
	if (asprintf(&text, "%s,%s", have, v->node) < 0)
		text = NULL;
	if (!text || st->object->set_str(job, st->verb_nodes, text) < 0)
		falls_short(v, PBSE_SYSTEM, st->object->id(job), NO_MEMORY);
	free(text);
}

static void act(struct keel_mod *mod, struct verb *v, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct step *s = calloc(1, sizeof(*s));

	if (!s || !(s->job_id = strdup(st->object->id(job)))) {
		free(s);
		falls_short(v, PBSE_SYSTEM, st->object->id(job), NO_MEMORY);
		return;
	}
	s->verb = v;
	v->open++;
	if (v->suspend)
		st->job->suspend(st->job->self, job, SUSPEND, v->who, mod, step_done, s);
	else
		st->job->resume(st->job->self, job, RESUME, v->who, mod, step_done, s);
}

static void consider(struct keel_mod *mod, struct verb *v, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *held = st->object->get_str(job, st->verb_nodes);

	if (st->job->state(st->job->self, job) != 'R' || !on_node(mod, job, v->node))
		return;
	if (v->suspend && st->job->is_suspended(st->job->self, job))
		also_held_by(mod, v, job);
	else if (v->suspend)
		act(mod, v, job);
	else if (held && has_word(held, v->node) && verb_released(mod, v, job))
		act(mod, v, job);
}

/* ---- the requests -------------------------------------------------------------------------------------------- */

static bool node_exists(struct keel_mod *mod, const char *name)
{
	struct state *st = mod->state;
	struct keel_cursor *walk;
	struct keel_obj *node;
	bool found = false;

	if (st->object->find(mod, "node", name))
		return true;
	walk = st->object->cursor(mod, "node");
	while (walk && !found && (node = st->object->next(walk))) {
		const char *host = st->node->host_of(st->node->self, st->object->id(node));

		found = host && strcmp(host, name) == 0;
	}
	if (walk)
		st->object->cursor_close(walk);
	return found;
}

static void run(struct keel_mod *mod, struct verb *v)
{
	struct state *st = mod->state;
	struct keel_cursor *walk = st->object->cursor(mod, "job");
	struct keel_obj *job;

	if (!walk)
		falls_short(v, PBSE_SYSTEM, v->node, NO_MEMORY);
	while (walk && (job = st->object->next(walk)))
		consider(mod, v, job);
	if (walk)
		st->object->cursor_close(walk);
	verb_done(mod, v);
}

static void on_verb(struct keel_mod *mod, struct keel_req *req, bool suspend)
{
	struct state *st = mod->state;
	uint32_t n;
	const char *const *args = st->msg->strings(st->request->body(req), "args", &n);
	struct verb *v;

	if (!args || n < 1 || !node_exists(mod, args[0])) {
		st->request->reply(req, PBSE_UNKNODE, NULL);
		return;
	}
	v = calloc(1, sizeof(*v));
	if (!v || !(v->node = strdup(args[0])) ||
	    !(v->who = strdup(st->request->session(req)->who))) {
		if (v)
			free(v->node);
		free(v);
		st->request->reply(req, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	v->comment = n > 1 && args[1] ? strdup(args[1]) : NULL;
	v->req = req;
	v->suspend = suspend;
	v->open = 1;
	run(mod, v);
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
