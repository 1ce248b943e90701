/* SPDX-License-Identifier: Apache-2.0
 *
 * gate.c - may a job start, and where: policy (taps), then vnodes, both answered at once.
 */
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(queue, node_group_key);
KEEL_ATTRS_OF(server, node_group_enable, node_group_key);
KEEL_ATTRS_OF(job, euser, egroup);
KEEL_ATTR_AS(attr_queue_partition, queue, partition, 0);

struct gate {
	bool answered, abandoned, open;
	struct reason reason;
};

static void gate_answer(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct gate *g = arg;

	(void)mod;
	if (g->abandoned) {
		free(g);
		return;
	}
	g->answered = true;
	g->open = o->verdict == KEEL_NEXT || o->verdict == KEEL_DONE;
	if (g->open)
		return;
	reason_set(&g->reason, "%s", o->text && *o->text ? o->text : "refused by policy");
	g->reason.code = o->code;
}

/* Raises a point that decides at once. False with the reason: a tap refuses, or waits, which a cycle cannot do, or
 * there is no memory. */
static bool gate_raise(struct keel_mod *mod, uint32_t point, const void *event, struct reason *ret)
{
	struct gate *g;
	bool open;

	if (!keel_tapped(mod, point))
		return true;
	g = calloc(1, sizeof(*g));
	if (!g) {
		reason_set(ret, "out of memory in the scheduler");
		return false;
	}
	keel_raise(mod, &(struct keel_raise){ .size = sizeof(struct keel_raise),
					      .point = point,
					      .event = event,
					      .done = gate_answer,
					      .arg = g });
	if (!g->answered) {
		g->abandoned = true;
		reason_set(ret, "waiting for a decision");
		return false;
	}
	open = g->open;
	if (!open)
		*ret = g->reason;
	free(g);
	return open;
}

bool group_is_eligible(struct keel_mod *mod, struct keel_obj *job, struct reason *ret)
{
	return gate_raise(mod, KEEL_POINT_start_group,
		   KEEL_EVENT(start_group, .id = keel_id(job), .job = job), ret);
}

bool job_is_eligible(struct keel_mod *mod, struct keel_obj *job, struct reason *ret)
{
	return gate_raise(mod, KEEL_POINT_start_job,
		   KEEL_EVENT(start_job, .id = keel_id(job), .job = job), ret);
}

/* ---- times ----------------------------------------------------------------------------------------- */

struct planning {
	bool answered, abandoned;
	int64_t at;
};

static void start_when_answer(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct planning *p = arg;

	(void)mod;
	if (p->abandoned) {
		free(p);
		return;
	}
	p->answered = true;
	if (o->verdict == KEEL_DONE && o->text)
		p->at = strtoll(o->text, NULL, 10); /* "never" is 0 */
}

int64_t start_when(struct keel_mod *mod, struct keel_obj *job, int64_t at)
{
	struct planning *p = keel_tapped(mod, KEEL_POINT_start_when) ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return at;
	p->at = at;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_start_when,
		.event = KEEL_EVENT(start_when, .id = keel_id(job), .job = job, .start = at),
		.done = start_when_answer,
		.arg = p,
	});
	if (!p->answered) { /* a plan cannot wait */
		p->abandoned = true;
		return at;
	}
	at = p->at;
	free(p);
	return at;
}

struct wish_arg {
	struct keel_mod *mod;
	struct keel_obj *job;
	const struct keel_res_value **whole; /* owned, as the next */
	const char **set_key;
};

/* Names of resources that make placement sets, NULL-terminated; the caller frees them and the array. */
static const char **set_keys(struct keel_mod *mod, struct keel_obj *queue, uint32_t *ret_n)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const char *text = queue ? keel_get_str(queue, queue_node_group_key) : NULL, **keys;
	uint32_t n = 0;

	*ret_n = 0;
	if (!server || !keel_get_int(server, server_node_group_enable))
		return NULL;
	if (!text || !*text)
		text = keel_get_str(server, server_node_group_key);
	keys = text ? calloc(strlen(text) / 2 + 2, sizeof(*keys)) : NULL;
	while (keys && *text) {
		size_t len = strcspn(text, ", ");

		if (len && !(keys[n] = strndup(text, len)))
			break;
		n += len > 0;
		text += len;
		text += strspn(text, ", ");
	}
	*ret_n = keys ? n : 0;
	return keys;
}

static bool vnode_is_eligible(void *arg, const struct vnode *v)
{
	struct wish_arg *a = arg;
	struct keel_obj *node = keel_find(a->mod, "node", v->name);
	struct reason unused;

	return node && gate_raise(a->mod, KEEL_POINT_node_eligible,
			   KEEL_EVENT(node_eligible, .id = v->name, .node = node, .job = a->job),
			   &unused);
}

/* The job's wish to a snapshot; it points into `wish_arg`, which the caller keeps until wish_fini(). */
static void wish_make(struct keel_mod *mod, struct keel_obj *job, const struct group *g, const struct snapshot *s,
		      struct wish_arg *wish_arg, struct wish *ret)
{
	struct keel_obj *queue = keel_find(mod, "queue", g->line->name);

	*wish_arg = (struct wish_arg){ .mod = mod, .job = job };
	*ret = (struct wish){ .select = g->shape->select, .place = g->shape->place,
			      .queue = g->line->name, .arg = wish_arg, .memo = &g->shape->memo };
	ret->partition = queue ? keel_get_str(queue, attr_queue_partition) : NULL;
	if (s->is_room || (ret->partition && !*ret->partition))
		ret->partition = NULL;
	ret->till = s->at + g->longest;
	ret->user = keel_get_str(job, job_euser);
	ret->group = keel_get_str(job, job_egroup);
	ret->whole = wish_arg->whole = whole_of(job, &ret->n_whole);
	ret->set_key = wish_arg->set_key = set_keys(mod, queue, &ret->n_set_key);
	if (keel_tapped(mod, KEEL_POINT_node_eligible))
		ret->eligible = vnode_is_eligible;
}

static void wish_fini(struct wish_arg *wish_arg)
{
	uint32_t i;

	for (i = 0; wish_arg->set_key && wish_arg->set_key[i]; i++)
		free((char *)wish_arg->set_key[i]);
	free(wish_arg->set_key);
	free(wish_arg->whole);
}

/* ---- places ------------------------------------------------------------------------------------------ */

/* `ncpus=2:mem=1024kb` */
static void chunk_text(const struct keel_chunk *chunk, char *buf, size_t len)
{
	size_t at = 0;
	char amount[64];

	buf[0] = '\0';
	for (uint32_t i = 0; i < chunk->n && at < len; i++) {
		const struct keel_res_value *v = &chunk->v[i];

		if (!v->text)
			keel_resource_value_text(v, false, amount, sizeof(amount));
		at += (size_t)snprintf(buf + at, len - at, "%s%s=%s", i ? ":" : "", v->res->name,
				       v->text ? v->text : amount);
	}
}

/* A line for each chunk of the select that was looked at. */
static void chunks_log(struct keel_mod *mod, const char *id, const struct keel_select *select, bool placed,
		       const struct reason *r)
{
	uint32_t n = placed ? select->n : r->chunk + 1;
	char text[512];

	for (uint32_t i = 0; i < n && i < select->n; i++) {
		chunk_text(&select->chunk[i], text, sizeof(text));
		keel_log(mod, KEEL_LOG_DEBUG3, "Node", id, "Evaluating subchunk: %s", text);
		if (placed || i < r->chunk)
			keel_log(mod, KEEL_LOG_DEBUG3, "Node", id, "Allocated one subchunk: %s", text);
		else
			keel_log(mod, KEEL_LOG_DEBUG3, "Node", id, "Failed to satisfy subchunk: %u:%s",
				 select->chunk[i].count, text);
	}
}

char *find_place(struct keel_mod *mod, struct keel_obj *job, const struct group *g,
		 struct reason *ret)
{
	struct snapshot *s = ground_of(mod, g->line->name, ret);
	struct keel_exec *exec;
	char *exec_vnode;

	if (!s)
		return NULL;
	if (keel_tapped(mod, KEEL_POINT_node_score))
		snapshot_order(mod, s, job);
	exec_vnode = place_on(mod, job, g, s, ret);
	exec = exec_vnode && s->is_room ? exec_of(exec_vnode) : NULL;
	if (exec)
		ground_taken(mod, job, exec);
	keel_resource_exec_free(exec);
	return exec_vnode;
}

char *place_on(struct keel_mod *mod, struct keel_obj *job, const struct group *g, struct snapshot *s,
	       struct reason *ret)
{
	struct wish_arg wish_arg;
	struct wish wish;
	struct shut shut;
	char *exec_vnode;

	wish_make(mod, job, g, s, &wish_arg, &wish);
	avoid_shut(mod, s, job, &shut);
	exec_vnode = place_job(s, &wish, ret);
	ret->never &= !s->is_room; /* a block may become another */
	avoid_open(s, &shut);
	wish_fini(&wish_arg);
	chunks_log(mod, keel_id(job), wish.select, exec_vnode != NULL, ret);
	return exec_vnode;
}

bool would_fit(struct keel_mod *mod, struct keel_obj *job, const struct group *g, struct snapshot *s,
	       struct reason *ret)
{
	struct wish_arg wish_arg;
	struct wish wish;
	struct shut shut;
	bool fits;

	wish_make(mod, job, g, s, &wish_arg, &wish);
	avoid_shut(mod, s, job, &shut);
	fits = place_fits(s, &wish, ret);
	ret->never &= !s->is_room;
	avoid_open(s, &shut);
	wish_fini(&wish_arg);
	return fits;
}

bool vnode_words(struct keel_mod *mod, struct keel_obj *job, const struct group *g, struct snapshot *s,
		 struct vnode_words *ret)
{
	struct wish_arg wish_arg;
	struct wish wish;
	bool ok;

	wish_make(mod, job, g, s, &wish_arg, &wish);
	ok = place_words(s, &wish, ret);
	wish_fini(&wish_arg);
	return ok;
}

bool could_ever_fit(struct keel_mod *mod, struct keel_obj *job, const struct group *g,
		    struct reason *ret)
{
	struct reason unused = { 0 };
	struct snapshot *s = ground_of(mod, g->line->name, &unused);
	struct wish_arg wish_arg;
	struct wish wish;
	bool fits;

	if (!s)
		return true;
	wish_make(mod, job, g, s, &wish_arg, &wish);
	fits = place_possible(s, &wish, ret);
	wish_fini(&wish_arg);
	return fits;
}
