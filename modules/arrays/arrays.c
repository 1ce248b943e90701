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

static const struct keel_need needs[] = {
	KEEL_NEED(core, 0, struct state, core),	      KEEL_NEED(object, 0, struct state, object),
	KEEL_NEED(hook, 0, struct state, hook),	      KEEL_NEED(request, 0, struct state, request),
	KEEL_NEED(job, 0, struct state, job),	      KEEL_NEED(acct, 0, struct state, acct),
};

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(BOOL, struct conf, requeue_subjobs_at_restart, .fallback = "false",
		       .doc = "when the server starts, subjobs that run or are suspended are killed and "
			      "wait again"),
};

/* ---- attributes ------------------------------------------------------------------------------------- */

static int64_t smaller_limit(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));
	const char *name = st->object->get_str(job, st->a.queue);
	struct keel_obj *queue = name ? st->object->find(mod, "queue", name) : NULL;
	int64_t limit = INDEX_MAX, of_queue;

	if (server && st->size.server && st->object->is_set(server, st->size.server))
		limit = st->object->get_int(server, st->size.server);
	if (queue && st->size.queue && st->object->is_set(queue, st->size.queue)) {
		of_queue = st->object->get_int(queue, st->size.queue);
		limit = of_queue < limit ? of_queue : limit;
	}
	return limit;
}

static int32_t check_submitted(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job,
			       int32_t op, const char *key, const char *text, struct keel_err *err)
{
	struct state *st = mod->state;
	struct indices x;

	(void)who, (void)op, (void)key;
	if (!indices_parse(text, &x))
		return st->core->error(err, PBSE_BADATVAL, "%s array_indices_submitted",
				       st->core->pbse_text(PBSE_BADATVAL));
	if (x.count > smaller_limit(mod, job))
		return st->core->error(err, PBSE_MaxArraySize, "%s",
				       st->core->pbse_text(PBSE_MaxArraySize));
	return 0;
}

static int32_t check_limit(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job,
			   int32_t op, const char *key, const char *text, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)who, (void)op, (void)key;
	if (!strstr(st->object->id(job), "[]"))
		return st->core->error(err, PBSE_NOTARRAY_ATTR, "%s",
				       st->core->pbse_text(PBSE_NOTARRAY_ATTR));
	if (strtoll(text, NULL, 10) < 0)
		return st->core->error(err, PBSE_BADATVAL, "%s max_run_subjobs",
				       st->core->pbse_text(PBSE_BADATVAL));
	return 0;
}

static void emit(const struct keel_emit *to, const char *text)
{
	to->fn(to->arg, NULL, text, (uint32_t)strlen(text));
}

static void derive_counts(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *to)
{
	const struct array *a = array_of(mod, job);
	char text[120];

	if (!a)
		return;
	snprintf(text, sizeof(text), "Queued:%u Running:%u Exiting:0 Expired:%u", a->n[KIND_WAITS],
		 a->n[KIND_LIVES], a->n[KIND_KEPT] + a->n[KIND_OVER]);
	emit(to, text);
}

static void derive_remaining(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *to)
{
	const struct array *a = array_of(mod, job);
	char *text = a ? indices_text(&a->x, &a->runs, WAITS) : NULL;

	if (text)
		emit(to, *text ? text : "-");
	free(text);
}

/* Of a subjob, and of the draft that stands for those that are no objects. */
static void derive_array_id(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *to)
{
	struct state *st = mod->state;
	const char *id = st->object->id(job);
	char text[512];

	if (!st->object->is_set(job, st->a.index))
		return;
	snprintf(text, sizeof(text), "%.*s[].%s", (int)strcspn(id, "["), id, st->core->server_name(mod));
	emit(to, text);
}

#define ALL KEEL_EVERYBODY
static const struct keel_attr_def attrs[] = {
	KEEL_ATTR_DEF("job", "array", "bool", .order = 561, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_OWN, .read_roles = ALL,
		      .doc = "it is an array"),
	KEEL_ATTR_DEF("job", "array_state_count", "string", .order = 562, .read_roles = ALL,
		      .derive = derive_counts, .doc = "its subjobs by state"),
	KEEL_ATTR_DEF("job", "array_indices_submitted", "string", .order = 563,
		      .flags = KEEL_ATTR_SAVE | KEEL_ATTR_CREATE | KEEL_ATTR_OWN, .read_roles = ALL, .write_roles = ALL,
		      .check = check_submitted, .changed = on_submitted, .doc = "X-Y[:Z]"),
	KEEL_ATTR_DEF("job", "array_indices_remaining", "string", .order = 564, .read_roles = ALL,
		      .derive = derive_remaining, .doc = "those that wait, or -"),
	KEEL_ATTR_DEF("job", "array_id", "string", .order = 565, .read_roles = ALL,
		      .derive = derive_array_id, .doc = "the array of a subjob"),
	KEEL_ATTR_DEF("job", "array_index", "long", .order = 566, .flags = KEEL_ATTR_SAVE,
		      .read_roles = ALL, .doc = "which subjob it is"),
	KEEL_ATTR_DEF("job", "max_run_subjobs", "long", .order = 691,
		      .flags = KEEL_ATTR_SAVE | KEEL_ATTR_FLAG1 | KEEL_ATTR_OWN, .read_roles = ALL, .write_roles = ALL,
		      .check = check_limit, .changed = on_limit,
		      .doc = "subjobs that may run at the same time"),
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
						.name = "array_indices", .doc = "X-Y[:Z]",
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
	struct state *st = keel_state(c);
	uint32_t ordinal;
	struct array *a = strchr(ev->id, '[') ? array_of_part(c->mod, ev->job, &ordinal) : NULL;

	if (!a)
		return KEEL_NEXT;
	part_suspended(c->mod, ev->job, true);
	st->job->waits(st->job->self, a->whole);
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

#define FIND(member, klass, name) KEEL_FIND(struct state, member, klass, name)
static const struct keel_find wanted[] = {
	FIND(a.array, "job", "array"),
	FIND(a.submitted, "job", "array_indices_submitted"),
	FIND(a.ended, "job", "array_ended"),
	FIND(a.failed, "job", "array_failures"),
	FIND(a.again, "job", "array_started_before"),
	FIND(a.erased, "job", "array_erased"),
	FIND(a.index, "job", "array_index"),
	FIND(a.limit, "job", "max_run_subjobs"),
	FIND(a.state, "job", "job_state"),
	FIND(a.substate, "job", "substate"),
	FIND(a.comment, "job", "comment"),
	FIND(a.stime, "job", "stime"),
	FIND(a.exit_status, "job", "Exit_status"),
	FIND(a.run_count, "job", "run_count"),
	FIND(a.run_version, "job", "run_version"),
	FIND(a.output_path, "job", "Output_Path"),
	FIND(a.error_path, "job", "Error_Path"),
	FIND(a.queue, "job", "queue"),
	FIND(a.ending, "job", "ending"),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	if (keel_find_all(mod, st->core, st->object, wanted, KEEL_COUNT(wanted), err))
		return -1;
	st->size.server = st->object->attr(mod, "server", "max_array_size");
	st->size.queue = st->object->attr(mod, "queue", "max_array_size");
	if (st->object->slot_bind(mod, "job", sizeof(struct slot), array_fini))
		return st->core->error(err, -1, "cannot attach to class job");
	return 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	(void)err;
	after_replay(mod);
	return 0;
}

static int32_t busy(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	return st->open_fans ? st->core->error(err, -EBUSY, "%u requests about arrays are under way",
					       st->open_fans)
			     : 0;
}

static void fini(struct keel_mod *mod)
{
	todo_drop(mod);
}

static const char *const requires_modules[] = { "jobs", "status", NULL };

KEEL_MODULE(.name = "arrays", .version = "1.0", .vendor = "Keelson", .summary = "job arrays",
	    .roles = KEEL_SERVER, .state_size = sizeof(struct state), .conf_size = sizeof(struct conf),
	    .conf = rules, .n_conf = KEEL_COUNT(rules), .needs = needs, .n_needs = KEEL_COUNT(needs),
	    .contribs = contribs, .n_contribs = KEEL_COUNT(contribs), .taps = taps,
	    .n_taps = KEEL_COUNT(taps), .requires_modules = requires_modules, .init = init,
	    .start = start, .busy = busy, .fini = fini);
