/* SPDX-License-Identifier: Apache-2.0
 *
 * verb.c - the one-verb form: every job on a node, and those that it stopped.
 *
 * `pbsnodes --admin-suspend [-C comment] NODE` suspends each running job with a chunk on one of the
 * node's vnodes and remembers on the job which node's verb did it; `--admin-resume NODE` continues just
 * those. A job that two nodes' verbs stopped continues with the second resume.
 *
 * Until the first of its jobs stands, a vnode takes new ones: when all have answered it is looked again who runs
 * there, until nobody does.
 */
#include "admin-suspend.h"
#include "keel/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "out of memory; try again"
#define NOT_OURS "suspended, but out of memory to note for which node; qsig -s admin-resume continues it"
#define LOOKS_MOST 100 /* for a node where a user resumes what is suspended */
#define NAMES_SHOWN 8 /* vnodes that are listed by name */

struct verb {
	struct keel_req *req;
	char *node, *who, *comment;
	bool suspend;
	uint32_t open;	   /* jobs whose answer is missing, and our own hand */
	uint32_t done;	   /* jobs that did it */
	uint32_t fell_short; /* jobs that did not */
	uint32_t looks, asked; /* times it was looked who is there; jobs that were asked after the last one */
	int32_t code;	   /* of the first that did not */
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

/* The first job that did not is told; the others are asked all the same. */
static void falls_short(struct verb *v, int32_t code, const char *where, const char *text)
{
	v->fell_short++;
	if (v->code)
		return;
	v->code = code;
	snprintf(v->failed, sizeof(v->failed), "%s: %s", where, text);
}

/* ---- the answer ------------------------------------------------------------------------------------------ */

/* Vnodes without a job of these are not in maintenance: who works on the node should know. */
static void open_vnodes(struct keel_mod *mod, const struct verb *v, struct keel_text *ret)
{
	struct state *st = mod->state;
	struct keel_cursor *walk = st->object->cursor(mod, "node");
	struct keel_obj *node;
	uint32_t n = 0;

	while (walk && (node = st->object->next(walk))) {
		if (!is_of_node(mod, node, v->node) || st->node->unavailable(st->node->self, node) ||
		    st->resource->list_number(st->node->available(st->node->self, node), "ncpus", 0) <= 0)
			continue;
		if (n++ < NAMES_SHOWN)
			keel_text_printf(ret, "%s%s", ret->len ? "," : "", st->object->id(node));
	}
	if (walk)
		st->object->cursor_close(walk);
	if (n > NAMES_SHOWN)
		keel_text_printf(ret, " and %u more", n - NAMES_SHOWN);
}

static void tell_done(struct keel_mod *mod, struct verb *v)
{
	struct state *st = mod->state;
	struct keel_out *out = st->msg->out(mod);
	struct keel_text open, all;
	char line[64];

	snprintf(line, sizeof(line), "%u job%s %s", v->done, v->done == 1 ? "" : "s",
		 v->suspend ? "suspended" : "resumed");
	st->msg->open_array(out, "lines");
	st->msg->add_str(out, line);
	keel_text_init(&open);
	keel_text_init(&all);
	if (v->suspend)
		open_vnodes(mod, v, &open);
	if (open.len) {
		keel_text_printf(&all,
				 "not in maintenance, for no job was suspended there: %s; set them offline to keep new jobs away",
				 open.data);
		st->msg->add_str(out, all.data);
	}
	keel_text_fini(&all);
	keel_text_fini(&open);
	st->msg->close(out);
	st->request->reply_out(v->req, out);
}

static void tell_failed(struct keel_mod *mod, struct verb *v)
{
	struct state *st = mod->state;

	if (!*v->failed)
		st->request->reply(v->req, v->code, NULL);
	else if (v->done + v->fell_short > 1)
		st->request->reply(v->req, v->code, "%s (%u %s, %u not)", v->failed, v->done,
				   v->suspend ? "suspended" : "resumed", v->fell_short);
	else
		st->request->reply(v->req, v->code, "%s", v->failed);
}

static void look(struct keel_mod *mod, struct verb *v);

static void verb_done(struct keel_mod *mod, struct verb *v)
{
	if (--v->open)
		return;
	if (v->suspend && !v->code && v->asked && v->looks < LOOKS_MOST) {
		look(mod, v);
		return;
	}
	if (v->code)
		tell_failed(mod, v);
	else
		tell_done(mod, v);
	verb_free(v);
}

/* It stands: for this node's verb. */
static void stands(struct keel_mod *mod, struct verb *v, struct keel_obj *job)
{
	struct state *st = mod->state;

	if (mark_missing(mod, job))
		falls_short(v, PBSE_SYSTEM, st->object->id(job), MARK_MISSING);
	else if (st->object->set_str(job, st->verb_nodes, v->node) < 0)
		falls_short(v, PBSE_SYSTEM, st->object->id(job), NOT_OURS);
	else
		v->done++;
	if (v->comment && *v->comment)
		mark_comment(mod, job, v->comment);
}

static void step_done(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct state *st = mod->state;
	struct step *s = arg;
	struct verb *v = s->verb;
	struct keel_obj *job = st->object->find(mod, "job", s->job_id);

	if (code && job)
		falls_short(v, code, s->job_id, text ? text : st->core->pbse_text(code));
	else if (!code && job && v->suspend)
		stands(mod, v, job);
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
	v->asked++;
	if (v->suspend)
		st->job->suspend(st->job->self, job, SUSPEND, v->who, mod, step_done, s);
	else
		st->job->resume(st->job->self, job, RESUME, v->who, mod, step_done, s);
}

static void consider(struct keel_mod *mod, struct verb *v, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *held = st->object->get_str(job, st->verb_nodes);

	if (st->job->state(st->job->self, job) != 'R')
		return;
	if (v->suspend && st->job->is_suspended(st->job->self, job))
		also_held_by(mod, v, job);
	else if (v->suspend)
		act(mod, v, job);
	else if (held && has_word(held, v->node) && verb_released(mod, v, job))
		act(mod, v, job);
}

/* ---- the requests -------------------------------------------------------------------------------------------- */

/* False: there is no such node. */
static bool look_at(struct keel_mod *mod, struct verb *v)
{
	struct state *st = mod->state;
	struct keel_obj *job;
	struct whom whom;
	bool found = whom_look(mod, v->node, v->suspend, &whom);
	uint32_t i;

	v->asked = 0;
	v->looks++;
	if (whom.failed)
		falls_short(v, PBSE_SYSTEM, v->node, NO_MEMORY);
	for (i = 0; i < whom.n; i++)
		if ((job = st->object->find(mod, "job", whom.id[i])))
			consider(mod, v, job);
	whom_free(&whom);
	return found;
}

static void look(struct keel_mod *mod, struct verb *v)
{
	v->open = 1;
	if (!look_at(mod, v) && v->looks == 1)
		v->code = PBSE_UNKNODE;
	verb_done(mod, v);
}

static struct verb *verb_new(struct keel_mod *mod, struct keel_req *req, const char *node, const char *comment)
{
	struct state *st = mod->state;
	struct verb *v = calloc(1, sizeof(*v));

	if (v && (v->node = strdup(node)) && (v->who = strdup(st->request->session(req)->who)) &&
	    (!comment || (v->comment = strdup(comment))))
		return v;
	if (v)
		verb_free(v);
	return NULL;
}

static void on_verb(struct keel_mod *mod, struct keel_req *req, bool suspend)
{
	struct state *st = mod->state;
	uint32_t n;
	const char *const *args = st->msg->strings(st->request->body(req), "args", &n);
	struct verb *v = args && n > 0 ? verb_new(mod, req, args[0], n > 1 ? args[1] : NULL) : NULL;

	if (!v) {
		st->request->reply(req, args && n > 0 ? PBSE_SYSTEM : PBSE_UNKNODE,
				   args && n > 0 ? "System error: out of memory" : NULL);
		return;
	}
	v->req = req;
	v->suspend = suspend;
	look(mod, v);
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
