/* SPDX-License-Identifier: Apache-2.0
 *
 * attributes.c - what administrators say about preemption, and what is remembered of jobs.
 *
 * The values are parsed when they change; a value is replaced as a whole, so nothing of an earlier one
 * is left.
 */
#include "preemption.h"

#include <stdio.h>
#include <string.h>

KEEL_ATTRS_OF(sched, preempt_order, preempt_prio);

#define CHECK(name)                                                                                \
	static int32_t name(struct keel_mod *mod, const struct keel_session *session,              \
			    struct keel_obj *obj, int32_t op, const char *key, const char *text,   \
			    struct keel_err *err)

static int32_t bad_value(struct keel_err *err)
{
	return keel_error(err, PBSE_BADATVAL, "%s", keel_pbse_text(PBSE_BADATVAL));
}

static bool is_offered(void *arg, char letter)
{
	return method_find(arg, letter) != NULL;
}

CHECK(check_order)
{
	struct state *st = mod->state;
	struct order unused;

	(void)session, (void)obj, (void)op, (void)key;
	return order_parse(text, is_offered, st, &unused) ? 0 : bad_value(err);
}

CHECK(check_prio)
{
	struct prio unused;

	(void)session, (void)obj, (void)op, (void)key, (void)mod;
	return prio_parse(text, &unused) ? 0 : bad_value(err);
}

CHECK(check_sort)
{
	(void)session, (void)obj, (void)op, (void)key, (void)mod;
	return strcmp(text, "min_time_since_start") == 0 ? 0 : bad_value(err);
}

struct keel_obj *sched_default(struct keel_mod *mod)
{
	return keel_find(mod, "sched", "default");
}

static bool is_default(const struct keel_obj *obj)
{
	return strcmp(keel_id(obj), "default") == 0;
}

/* A letter whose module is not loaded stays in the value and is passed over. */
static void order_changed(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr)
{
	struct state *st = mod->state;
	const char *text = keel_get_str(obj, attr);

	if (is_default(obj) && !order_parse(text ? text : "SCR", NULL, NULL, &st->order))
		order_parse("SCR", NULL, NULL, &st->order);
}

static void prio_changed(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr)
{
	struct state *st = mod->state;
	const char *text = keel_get_str(obj, attr);

	if (is_default(obj) && !prio_parse(text ? text : "", &st->prio))
		prio_parse("express_queue, normal_jobs", &st->prio);
}

#define S KEEL_ATTR_SAVE
#define T (KEEL_ATTR_SAVE | KEEL_ATTR_RESET)
#define ROW(attr_name, type_name, place, flag_bits, value, words, ...)                             \
	KEEL_ATTR_DEF("sched", attr_name, type_name, .order = (place), .flags = (flag_bits),       \
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_MANAGERS,                  \
		      .fallback = (value), .doc = (words), ##__VA_ARGS__)
const struct keel_attr_def preemption_sched_attrs[PREEMPTION_SCHED_ATTRS] = {
	ROW("sched_preempt_enforce_resumption", "bool", 50, S, NULL,
	    "whether jobs that were preempted have a planned time to go on, which no other job may delay; unset: False"),
	ROW("preempt_targets_enable", "bool", 60, S, NULL, "whether preempt_targets of jobs is obeyed; unset: True"),
	ROW("preempt_queue_prio", "long", 180, T, "150",
	    "queues of this Priority or more are express queues: their jobs may preempt others"),
	ROW("preempt_prio", "string", 190, T | KEEL_ATTR_EMPTY, "express_queue, normal_jobs",
	    
	    "levels of jobs, highest first, of express_queue, normal_jobs, queue_softlimits, server_softlimits, fairshare",
	    .check = check_prio, .changed = prio_changed),
	ROW("preempt_order", "string", 200, T | KEEL_ATTR_EMPTY, "SCR",
	    
	    "ways to preempt, in order: S suspend, C checkpoint, R requeue, D delete; METHODS PERCENT METHODS: by "
	    "the time a job has left",
	    .check = check_order, .changed = order_changed),
	ROW("preempt_sort", "string", 210, T, "min_time_since_start",
	    "which of equal jobs is preempted first: the one that started last",
	    .check = check_sort),
};

#define HIDDEN(attr_name, type_name, place, words)                                                 \
	KEEL_ATTR_DEF("job", attr_name, type_name, .order = (place), .flags = KEEL_ATTR_SAVE,      \
		      .doc = (words))
const struct keel_attr_def preemption_job_attrs[PREEMPTION_JOB_ATTRS] = {
	HIDDEN("ptime", "long", 940, "when it gave way, until it runs again"),
	HIDDEN("stopped_at", "long", 941, "since when it is suspended"),
	HIDDEN("stopped_for", "long", 942, "seconds of its run in which it was suspended"),
};

/* Values that were set before this module came. */
int32_t attributes_read(struct keel_mod *mod, struct keel_err *err)
{
	struct keel_obj *sched = sched_default(mod);

	(void)err;
	if (sched) {
		order_changed(mod, sched, sched_preempt_order);
		prio_changed(mod, sched, sched_preempt_prio);
	}
	return 0;
}
