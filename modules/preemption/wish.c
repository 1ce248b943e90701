/* SPDX-License-Identifier: Apache-2.0
 *
 * wish.c - preempt_targets of jobs: checked when a request sets it, applied to candidates.
 *
 * Only a request's value is checked: a value that is stored already, or that is the default of a queue or the
 * server, may name a queue that is gone, or not loaded yet.
 */
#include "preemption.h"

#include <stdio.h>
#include <string.h>

#include "targets.h"

#define NAME "preempt_targets"

bool targets_of(struct keel_mod *mod, struct keel_obj *job, char *buf, uint32_t len)
{
	struct state *st = mod->state;
	struct keel_obj *sched = sched_default(mod);
	bool enabled = !sched || !st->object->is_set(sched, st->sched.targets_enable) ||
		       st->object->get_int(sched, st->sched.targets_enable);

	if (!enabled || st->object->text(job, st->a.list, NAME, buf, len) <= 0)
		return false;
	targets_unquote(buf);
	return true;
}

/* ---- does a running job match? ------------------------------------------------------------------------ */

static bool equals(const char *text, const char *word, size_t len)
{
	return text && strlen(text) == len && strncmp(text, word, len) == 0;
}

static bool has_value(struct keel_mod *mod, struct keel_obj *job, const struct target *t)
{
	struct state *st = mod->state;
	char key[128], text[512];
	int32_t n;

	if (t->name_len >= sizeof(key))
		return false;
	memcpy(key, t->name, t->name_len);
	key[t->name_len] = '\0';
	n = st->object->text(job, st->a.list, key, text, sizeof(text));
	return n > 0 && (size_t)n < sizeof(text) && equals(text, t->value, t->value_len);
}

bool is_target(struct keel_mod *mod, const char *targets, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *at = targets;
	struct target t;

	while (target_next(&at, &t) > 0) {
		if (t.kind == TARGET_QUEUE &&
		    equals(st->object->get_str(job, st->a.queue), t.name, t.name_len))
			return true;
		if (t.kind == TARGET_RESOURCE && has_value(mod, job, &t))
			return true;
	}
	return false;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static int32_t judge_one(struct keel_mod *mod, const struct target *t)
{
	struct state *st = mod->state;
	char name[256];

	if (t->kind == TARGET_NONE)
		return 0;
	if (t->name_len >= sizeof(name))
		return PBSE_BADATVAL;
	memcpy(name, t->name, t->name_len);
	name[t->name_len] = '\0';
	if (t->kind == TARGET_QUEUE)
		return st->object->find(mod, "queue", name) ? 0 : PBSE_UNKQUE;
	return st->resource->find(st->resource->self, name) ? 0 : PBSE_UNKRESC;
}

static int32_t judge(struct keel_mod *mod, const char *text)
{
	const char *at = text;
	struct target t;
	int32_t code = 0;

	if (targets_are_wrong(text))
		return PBSE_BADATVAL;
	while (!code && target_next(&at, &t) > 0)
		code = judge_one(mod, &t);
	return code;
}

static bool is_in_list(const char *list, const char *word)
{
	size_t len;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (equals(word, list, len))
			return true;
	}
	return false;
}

/* The value as this operation makes it, unless it is what the object has. */
static keel_verdict check(struct keel_call *c, struct keel_obj *obj, const char *list)
{
	struct state *st = keel_state(c);
	const struct keel_attr *attr = st->object->attr(c->mod, st->object->klass(obj), list);
	char now[1024], before[1024] = "";
	int32_t len = st->call->get(c, obj, list, NAME, now, sizeof(now)), code;

	if (len <= 0 || !attr)
		return KEEL_NEXT;
	if (st->object->text(obj, attr, NAME, before, sizeof(before)) > 0 && strcmp(now, before) == 0)
		return KEEL_NEXT;
	targets_unquote(now);
	code = (size_t)len >= sizeof(now) ? PBSE_BADATVAL : judge(c->mod, now);
	return code ? st->call->reject(c, code, NULL) : KEEL_NEXT;
}

keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	struct state *st = keel_state(c);
	char names[4096];
	int32_t len = st->call->get(c, ev->job, "resources_defaulted", NULL, names, sizeof(names));

	if (len > 0 && (size_t)len < sizeof(names) && is_in_list(names, NAME))
		return KEEL_NEXT; /* a default, which no request has set */
	return check(c, ev->job, "Resource_List");
}

keel_verdict on_modify(struct keel_call *c, const struct keel_ev_job_modify *ev)
{
	return check(c, ev->job, "Resource_List");
}

keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev)
{
	if (!ev->obj || (strcmp(ev->klass, "server") != 0 && strcmp(ev->klass, "queue") != 0))
		return KEEL_NEXT;
	return check(c, ev->obj, "resources_default");
}
