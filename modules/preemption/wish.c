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

KEEL_ATTR_OF(sched, preempt_targets_enable);
KEEL_ATTRS_OF(job, Resource_List, queue);

#define NAME "preempt_targets"

bool targets_of(struct keel_mod *mod, struct keel_obj *job, char *buf, uint32_t len)
{
	struct keel_obj *sched = sched_default(mod);
	bool enabled = !sched || !keel_is_set(sched, sched_preempt_targets_enable) ||
		       keel_get_int(sched, sched_preempt_targets_enable);

	if (!enabled || keel_get_text(job, job_Resource_List, NAME, buf, len) <= 0)
		return false;
	targets_unquote(buf);
	return true;
}

/* ---- does a running job match? ------------------------------------------------------------------------ */

static bool equals(const char *text, const char *word, size_t len)
{
	return text && strlen(text) == len && strncmp(text, word, len) == 0;
}

static bool has_value(struct keel_obj *job, const struct target *t)
{
	char key[128], text[512];
	int32_t n;

	if (t->name_len >= sizeof(key))
		return false;
	memcpy(key, t->name, t->name_len);
	key[t->name_len] = '\0';
	n = keel_get_text(job, job_Resource_List, key, text, sizeof(text));
	return n > 0 && (size_t)n < sizeof(text) && equals(text, t->value, t->value_len);
}

bool is_target(const char *targets, struct keel_obj *job)
{
	const char *at = targets;
	struct target t;

	while (target_next(&at, &t) > 0) {
		if (t.kind == TARGET_QUEUE &&
		    equals(keel_get_str(job, job_queue), t.name, t.name_len))
			return true;
		if (t.kind == TARGET_RESOURCE && has_value(job, &t))
			return true;
	}
	return false;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static int32_t judge_one(struct keel_mod *mod, const struct target *t)
{
	char name[256];

	if (t->kind == TARGET_NONE)
		return 0;
	if (t->name_len >= sizeof(name))
		return PBSE_BADATVAL;
	memcpy(name, t->name, t->name_len);
	name[t->name_len] = '\0';
	if (t->kind == TARGET_QUEUE)
		return keel_find(mod, "queue", name) ? 0 : PBSE_UNKQUE;
	return keel_resource_find(name) ? 0 : PBSE_UNKRESC;
}

/* The value as this operation makes it, unless it is what the object has. */
static keel_verdict check(struct keel_call *c, struct keel_obj *obj, const char *list)
{
	const struct keel_attr *attr = keel_attr_find(c->mod, keel_klass(obj), list);
	char now[1024], before[1024] = "";
	int32_t len = keel_call_get(c, obj, list, NAME, now, sizeof(now)), code;
	const char *at = now;
	struct target t;

	if (len <= 0 || !attr)
		return KEEL_NEXT;
	if (keel_get_text(obj, attr, NAME, before, sizeof(before)) > 0 && strcmp(now, before) == 0)
		return KEEL_NEXT;
	targets_unquote(now);
	code = (size_t)len >= sizeof(now) || targets_are_wrong(now) ? PBSE_BADATVAL : 0;
	while (!code && target_next(&at, &t) > 0)
		code = judge_one(c->mod, &t);
	return code ? keel_reject(c, code, NULL) : KEEL_NEXT;
}

keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	char names[4096];
	int32_t len = keel_call_get(c, ev->job, "resources_defaulted", NULL, names, sizeof(names));
	const char *at = len > 0 && (size_t)len < sizeof(names) ? names : "";

	for (; *at; at += len + (at[len] == ',')) {
		len = (int32_t)strcspn(at, ",");
		if (equals(NAME, at, (size_t)len))
			return KEEL_NEXT; /* a default, which no request has set */
	}
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
