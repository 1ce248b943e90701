/* SPDX-License-Identifier: Apache-2.0
 *
 * verb.c - the verbs for a node: suspend every job on it, resume those that the verb suspended.
 *
 * `pbsnodes --admin-suspend [-C comment] NODE` suspends each running job with a chunk on one of the
 * node's vnodes and stores on the job which node's verb did it; `--admin-resume NODE` resumes just those.
 * A job that the verbs of two nodes suspended is resumed by the second resume.
 *
 * A vnode takes new jobs until the first of its jobs is suspended: when all steps are done, another round looks for
 * running jobs, until there are none. They are found by the tenants of vnodes, so that the cost grows with the jobs on
 * the node, not with those in the cluster.
 */
#include "admin-suspend.h"
#include "keel/words.h"

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
	const char *node, *comment; /* of the request; comment may be NULL */
	bool suspend;
	uint32_t open;	   /* steps whose reply is missing, and one while the round sends them */
	uint32_t done;	   /* jobs suspended or resumed */
	uint32_t n_failed; /* jobs that failed */
	uint32_t rounds, sent; /* rounds begun; steps sent in the last one */
	int32_t code;	   /* error of the first job that failed */
	char failed[300];  /* its id and text */
};

/* The reply names the first error; the steps of other jobs go on. */
static void step_failed(struct verb *v, int32_t code, const char *where, const char *text)
{
	v->n_failed++;
	if (v->code)
		return;
	v->code = code;
	snprintf(v->failed, sizeof(v->failed), "%s: %s", where, text);
}

/* A node operand is a vnode or a host: all its vnodes. */
static bool is_of_node(struct keel_obj *node, const char *name)
{
	const char *id = keel_id(node), *host = keel_node_host_of(id);

	return strcmp(id, name) == 0 || (host && strcmp(host, name) == 0);
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

static void round_start(struct keel_mod *mod, struct verb *v);

static void verb_done(struct keel_mod *mod, struct verb *v)
{
	if (--v->open)
		return;
	if (v->suspend && !v->code && v->sent && v->rounds < ROUNDS_MOST) {
		round_start(mod, v);
		return;
	}
	if (!v->code)
		reply_done(mod, v);
	else if (!*v->failed)
		keel_reply(v->req, v->code, NULL);
	else if (v->done + v->n_failed > 1)
		keel_reply(v->req, v->code, "%s (%u %s, %u not)", v->failed, v->done,
			   v->suspend ? "suspended" : "resumed", v->n_failed);
	else
		keel_reply(v->req, v->code, "%s", v->failed);
	free(v);
}

static void step_over(struct keel_mod *mod, void *arg, struct keel_obj *job, const char *id, int32_t code, const char *text)
{
	struct verb *v = arg;
	bool stopped = job && !code && v->suspend;

	if (stopped && v->comment && *v->comment)
		mark_comment(job, v->comment);
	if (stopped && keel_set_str(job, job_admin_suspended_nodes, v->node) < 0) {
		code = PBSE_SYSTEM;
		text = NOT_OURS;
	}
	if (job && code)
		step_failed(v, code, id, text ? text : keel_pbse_text(code));
	else
		v->done += !code;
	verb_done(mod, v);
}

/* ---- which jobs ------------------------------------------------------------------------------------------- */

/* Stores the nodes whose verbs suspended the job; returns whether there is one. */
static bool nodes_store(struct verb *v, struct keel_obj *job, const char *but, const char *and)
{
	struct keel_text list;
	bool any;

	keel_text_init(&list);
	keel_words_add(&list, keel_get_str(job, job_admin_suspended_nodes), but);
	keel_words_add(&list, and, NULL);
	any = list.len > 0;
	if (list.failed || (any && keel_set_str(job, job_admin_suspended_nodes, list.data) < 0))
		step_failed(v, PBSE_SYSTEM, keel_id(job), NO_MEMORY);
	keel_text_fini(&list);
	return any || list.failed;
}

static void job_step(struct keel_mod *mod, struct verb *v, struct keel_obj *job)
{
	const char *held = keel_get_str(job, job_admin_suspended_nodes);
	bool ours = held && keel_words_have(held, v->node);

	if (keel_job_state(job) != 'R')
		return;
	if (v->suspend && keel_job_is_suspended(job)) {
		if (held && !ours)
			nodes_store(v, job, NULL, v->node);
		return;
	}
	if (!v->suspend && (!ours || nodes_store(v, job, v->node, "")))
		return;
	v->open++;
	v->sent++;
	step(mod, job, v->suspend, keel_req_session(v->req)->who, step_over, v);
}

struct ids {
	char **id; /* owned */
	uint32_t n;
	bool failed; /* out of memory: some are missing */
};

static void ids_add(void *arg, const char *job_id, bool suspended)
{
	struct ids *ids = arg;
	char **bigger = suspended || ids->failed ? NULL : reallocarray(ids->id, ids->n + 1, sizeof(*bigger));

	if (suspended)
		return;
	ids->id = bigger ? bigger : ids->id;
	ids->failed = !bigger || !(ids->id[ids->n] = strdup(job_id));
	ids->n += !ids->failed;
}

/* The oldest first. */
static int by_number(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	long long n = strtoll(x, NULL, 10), m = strtoll(y, NULL, 10);

	return n != m ? (n > m) - (n < m) : strcmp(x, y);
}

/* Those on the vnodes of the node that are admin-suspended and, for a suspension, those that run there. Returns false if
 * there is no such node. */
static bool ids_find(struct keel_mod *mod, const struct verb *v, struct ids *ret)
{
	struct keel_cursor *walk = keel_cursor(mod, "node");
	const struct listed *l;
	struct keel_obj *node;
	bool found = !walk;

	*ret = (struct ids){ .failed = !walk };
	while (walk && (node = keel_next(walk))) {
		if (!is_of_node(node, v->node))
			continue;
		found = true;
		if (v->suspend)
			keel_node_tenants(node, ids_add, ret);
		for (l = listing_of(mod, node); l; l = l->next)
			ids_add(ret, l->id, false);
	}
	if (walk)
		keel_cursor_close(walk);
	if (ret->n)
		qsort(ret->id, ret->n, sizeof(*ret->id), by_number);
	return found;
}

/* ---- the requests -------------------------------------------------------------------------------------------- */

/* Sends the steps of one round. A job with chunks on several vnodes is there more than once. */
static void round_start(struct keel_mod *mod, struct verb *v)
{
	struct keel_obj *job;
	struct ids ids;
	uint32_t i;

	v->open = 1;
	v->sent = 0;
	if (!ids_find(mod, v, &ids) && v->rounds == 0)
		v->code = PBSE_UNKNODE;
	v->rounds++;
	if (ids.failed)
		step_failed(v, PBSE_SYSTEM, v->node, NO_MEMORY);
	for (i = 0; i < ids.n; i++)
		if ((i == 0 || strcmp(ids.id[i - 1], ids.id[i]) != 0) && (job = keel_find(mod, "job", ids.id[i])))
			job_step(mod, v, job);
	for (i = 0; i < ids.n; i++)
		free(ids.id[i]);
	free(ids.id);
	verb_done(mod, v);
}

static void on_verb(struct keel_mod *mod, struct keel_req *req, bool suspend)
{
	uint32_t n;
	const char *const *args = keel_msg_strings(keel_req_body(req), "args", &n);
	struct verb *v = args && n > 0 ? calloc(1, sizeof(*v)) : NULL;

	if (!v) {
		keel_reply(req, args && n > 0 ? PBSE_SYSTEM : PBSE_UNKNODE,
			   args && n > 0 ? "System error: out of memory" : NULL);
		return;
	}
	*v = (struct verb){ .req = req, .node = args[0], .comment = n > 1 ? args[1] : NULL, .suspend = suspend };
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
	.size = sizeof(struct keel_request_def), .roles = KEEL_OPERATORS,
	.name = "keelson.admin_suspend_nodes",
	.doc = "suspend every job on a node for maintenance: node [comment]",
	.handler = on_suspend_nodes,
};
const struct keel_request_def resume_nodes = {
	.size = sizeof(struct keel_request_def), .roles = KEEL_OPERATORS,
	.name = "keelson.admin_resume_nodes",
	.doc = "resume the jobs that suspending the node stopped: node",
	.handler = on_resume_nodes,
};
