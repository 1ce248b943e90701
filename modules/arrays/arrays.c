/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.c - job arrays: one object for all its subjobs that wait.
 *
 * `qsub -J 1-1000000` is one job object, `7[].svr`, with a few runs of ordinals (array.c). When the
 * scheduler starts it, its next subjob becomes an object, `7[3].svr`, and lives like any job (part.c,
 * kind JOB_FORM of jobs). A request about the array or a range goes to each subjob that is meant (ask.c);
 * listings show those that are no objects, too (listing.c, kind PARTS of status).
 */
#include "arrays.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, queue, array_index);
KEEL_ATTR_OPT(server, max_array_size);
KEEL_ATTR_OPT(queue, max_array_size);

KEEL_USE(job);
KEEL_USE(acct);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(BOOL, struct conf, requeue_subjobs_at_restart, .fallback = "false",
		       .doc = "when the server starts, subjobs that run or are suspended are killed and "
			      "wait again"),
};

/* ---- attributes ------------------------------------------------------------------------------------- */

static int64_t smaller_limit(struct keel_mod *mod, struct keel_obj *job)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const char *name = keel_get_str(job, job_queue);
	struct keel_obj *queue = name ? keel_find(mod, "queue", name) : NULL;
	int64_t limit = INDEX_MAX, of_queue;

	if (server && server_max_array_size && keel_is_set(server, server_max_array_size))
		limit = keel_get_int(server, server_max_array_size);
	if (queue && queue_max_array_size && keel_is_set(queue, queue_max_array_size)) {
		of_queue = keel_get_int(queue, queue_max_array_size);
		limit = of_queue < limit ? of_queue : limit;
	}
	return limit;
}

static int32_t check_submitted(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job,
			       int32_t op, const char *key, const char *text, struct keel_err *err)
{
	struct indices x;

	(void)who, (void)op, (void)key;
	if (!indices_parse(text, &x))
		return keel_error(err, PBSE_BADATVAL, "%s array_indices_submitted",
				  keel_pbse_text(PBSE_BADATVAL));
	if (x.count > smaller_limit(mod, job))
		return keel_error(err, PBSE_MaxArraySize, "%s",
				  keel_pbse_text(PBSE_MaxArraySize));
	return 0;
}

static int32_t check_limit(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job,
			   int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)who, (void)op, (void)key, (void)mod;
	if (!strstr(keel_id(job), "[]"))
		return keel_error(err, PBSE_NOTARRAY_ATTR, "%s",
				  keel_pbse_text(PBSE_NOTARRAY_ATTR));
	if (strtoll(text, NULL, 10) < 0)
		return keel_error(err, PBSE_BADATVAL, "%s max_run_subjobs",
				  keel_pbse_text(PBSE_BADATVAL));
	return 0;
}

static void derive_counts(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *to)
{
	const struct array *a = array_of(mod, job);
	char text[120];

	if (!a)
		return;
	snprintf(text, sizeof(text), "Queued:%u Running:%u Exiting:0 Expired:%u", a->n[KIND_WAITS],
		 a->n[KIND_LIVES], a->n[KIND_KEPT] + a->n[KIND_OVER]);
	keel_emit_text(to, text);
}

static void derive_remaining(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *to)
{
	const struct array *a = array_of(mod, job);
	char *text = a ? indices_text(&a->x, &a->runs, WAITS) : NULL;

	if (text)
		keel_emit_text(to, *text ? text : "-");
	free(text);
}

/* Of a subjob, and of the draft that stands for those that are no objects. */
static void derive_array_id(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *to)
{
	const char *id = keel_id(job);
	const char *server = strchr(id, '.');
	char text[512];

	(void)mod;
	if (!keel_is_set(job, job_array_index))
		return;
	snprintf(text, sizeof(text), "%.*s[]%s", (int)strcspn(id, "["), id, server ? server : "");
	keel_emit_text(to, text);
}

#define ALL KEEL_EVERYBODY
static const struct keel_attr_def attrs[] = {
	KEEL_ATTR_DEF("job", "array", "bool", .order = 561, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_OWN, .read_roles = ALL,
		      .doc = "whether it is a job array"),
	KEEL_ATTR_DEF("job", "array_state_count", "string", .order = 562, .read_roles = ALL,
		      .derive = derive_counts, .doc = "how many of its subjobs are in each state"),
	KEEL_ATTR_DEF("job", "array_indices_submitted", "string", .order = 563,
		      .flags = KEEL_ATTR_SAVE | KEEL_ATTR_CREATE | KEEL_ATTR_OWN, .read_roles = ALL, .write_roles = ALL,
		      .check = check_submitted, .changed = on_submitted, .doc = "indices of its subjobs: X-Y[:Z] (qsub -J)"),
	KEEL_ATTR_DEF("job", "array_indices_remaining", "string", .order = 564, .read_roles = ALL,
		      .derive = derive_remaining, .doc = "indices of subjobs that have not started, or -"),
	KEEL_ATTR_DEF("job", "array_id", "string", .order = 565, .read_roles = ALL,
		      .derive = derive_array_id, .doc = "the array a subjob belongs to"),
	KEEL_ATTR_DEF("job", "array_index", "long", .order = 566, .flags = KEEL_ATTR_SAVE,
		      .read_roles = ALL, .doc = "the index of a subjob in its array"),
	KEEL_ATTR_DEF("job", "max_run_subjobs", "long", .order = 691,
		      .flags = KEEL_ATTR_SAVE | KEEL_ATTR_FLAG1 | KEEL_ATTR_OWN, .read_roles = ALL, .write_roles = ALL,
		      .check = check_limit, .changed = on_limit,
		      .doc = "how many of its subjobs may run at a time (qsub -J X-Y%N); unset: all"),
	/* hidden */
	KEEL_ATTR_DEF("job", "array_failures", "long", .order = 939, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_OWN,
		      .doc = "subjobs that did not end with 0"),
	KEEL_ATTR_DEF("job", "array_ended", "string", .order = 940, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_OWN,
		      .doc = "subjobs that are over and have no object: how, and which"),
	KEEL_ATTR_DEF("job", "array_started_before", "string", .order = 941, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_OWN,
		      .doc = "subjobs that wait again: index, starts, runs as hosts count them"),
	KEEL_ATTR_DEF("job", "array_erased", "bool", .order = 942, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_OWN,
		      .doc = "it was deleted with -x: nothing is remembered of it"),
};

/* ---- module ----------------------------------------------------------------------------------------- */

static const struct keel_acct_item_def item = { .size = sizeof(struct keel_acct_item_def), .place = 20,
						.name = "array_indices", .doc = "indices of the subjobs of an array, X-Y[:Z]",
						.attr = "array_indices_submitted" };

static const struct keel_contrib contribs[] = {
	KEEL_ROW(ATTR, attrs[0]), KEEL_ROW(ATTR, attrs[1]), KEEL_ROW(ATTR, attrs[2]), KEEL_ROW(ATTR, attrs[3]),
	KEEL_ROW(ATTR, attrs[4]), KEEL_ROW(ATTR, attrs[5]), KEEL_ROW(ATTR, attrs[6]), KEEL_ROW(ATTR, attrs[7]),
	KEEL_ROW(ATTR, attrs[8]), KEEL_ROW(ATTR, attrs[9]), KEEL_ROW(ATTR, attrs[10]), KEEL_ROW(JOB_FORM, form),
	KEEL_ROW(PARTS, parts), KEEL_ROW(ACCT_ITEM, item),
};
_Static_assert(KEEL_COUNT(contribs) == KEEL_COUNT(attrs) + 3, "each attribute has an ATTR above");

static keel_verdict on_suspended(struct keel_call *c, const struct keel_ev_job_suspended *ev)
{
	uint32_t ordinal;
	struct array *a = strchr(ev->id, '[') ? array_of_part(c->mod, ev->job, &ordinal) : NULL;

	if (!a)
		return KEEL_NEXT;
	part_suspended(c->mod, ev->job, true);
	keel_job_waits(a->whole);
	return KEEL_NEXT;
}

/* It starts, or goes on. */
static keel_verdict on_placed(struct keel_call *c, const struct keel_ev_job_placed *ev)
{
	if (ev->job && strchr(ev->id, '['))
		part_suspended(c->mod, ev->job, false);
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_known, on_job_known, .order = -900),
	KEEL_TAP(job_suspended, on_suspended),
	KEEL_TAP(job_placed, on_placed),
	KEEL_TAP(server_start, on_server_start),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_slot_bind(mod, "job", sizeof(struct slot), array_fini))
		return keel_error(err, -1, "cannot attach to class job");
	return 0;
}

static int32_t busy(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	return st->open_fans ? keel_error(err, -EBUSY, "%u requests about arrays are under way",
					  st->open_fans)
			     : 0;
}

static const char *const requires_modules[] = { "jobs", "status", NULL };

KEEL_MODULE(.name = "arrays", .version = "1.0", .vendor = "Keelson", .summary = "job arrays",
	    .roles = KEEL_SERVER, .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .requires_modules = requires_modules,
	    .init = init, .start = after_replay, .busy = busy, .fini = todo_drop);
