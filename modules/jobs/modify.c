/* SPDX-License-Identifier: Apache-2.0
 *
 * modify.c - qalter, qhold, qrls. A running job that is held is saved and queued, if its host can.
 */
#include "jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

KEEL_ATTRS_OF(job, Resource_List, Submit_Host, mtime, egroup, euser, comment, Hold_Types, Execution_Time);
KEEL_ATTR_AS(attr_job_queue, job, queue, 0);

/* ---- alter -------------------------------------------------------------------------------------- */

struct alteration {
	struct keel_req *req;
	char *id;
	char *group;  /* that a new group_list means; NULL: it stays */
	char key[AGAIN_KEY];
};

static void alteration_free(struct alteration *a)
{
	free(a->id);
	free(a->group);
	free(a);
}

static int32_t error_running(const struct keel_attrop *op,
				 struct keel_err *err)
{
	return keel_error(err, PBSE_MODATRRUN, "%s %s%s%s", keel_pbse_text(PBSE_MODATRRUN),
			  op->name, op->key ? "." : "", op->key ? op->key : "");
}

/* What was charged for a running job must come back at its end: of its resources only limits change. Fails with
 * 15015. */
static int32_t check_running(struct keel_mod *mod, const struct keel_attrop *op, struct keel_err *err)
{
	const struct keel_attr *attr = keel_attr_find(mod, "job", op->name);
	const struct keel_resource *res;

	if (!attr)
		return 0;
	if (!(keel_attr_flags(attr) & KEEL_ATTR_FLAG1))
		return error_running(op, err);
	if (attr != job_Resource_List)
		return 0;
	res = op->key ? keel_resource_find(op->key) : NULL;
	if (op->key && !res)
		return 0; /* the type resource_list has the error for a name it does not know */
	return res && (res->flags & KEEL_RES_RUNNING) ? 0 : error_running(op, err);
}

/* A running job's limits may be lowered by its owner, raised and taken away by operators; else it fails with 15007. */
static int32_t check_lowered(struct keel_changes *ch,
			     const struct keel_session *who, struct keel_obj *job, const char *key,
			     struct keel_err *err)
{
	const union keel_slot *list = keel_change_slot(ch, job, job_Resource_List);
	const struct keel_res_value *want = list ? keel_resource_list_get(list->p, key) : NULL;
	const struct keel_res_value *have =
		keel_resource_list_get(keel_get_ptr(job, job_Resource_List), key);

	if ((who->roles & KEEL_OPERATORS) || !have)
		return 0;
	if (want && (!keel_res_is_number(want->res) || want->n <= have->n))
		return 0;
	return keel_error(err, PBSE_PERM, "%s", keel_pbse_text(PBSE_PERM));
}

static bool empties(const struct keel_attrop *op)
{
	return op->op == KEEL_UNSET || !op->value || !*op->value;
}

/* An attribute as its row spells it: requests may spell it in any case. */
struct spelling {
	const char *asked, *row;
};

static void spell(void *arg, const struct keel_attr_def *def)
{
	struct spelling *s = arg;

	if (strcasecmp(def->name, s->asked) == 0)
		s->row = def->name;
}

static const char *name_of_row(struct keel_mod *mod, const char *asked)
{
	struct spelling s = { asked, NULL };

	if (!keel_attr_find(mod, "job", asked))
		keel_rows(mod, "job", spell, &s);
	return s.row ? s.row : asked;
}

/* Is "" judged like any other value? */
static bool takes_empty(struct keel_mod *mod, const char *name)
{
	const struct keel_attr *attr = keel_attr_find(mod, "job", name);

	return attr && keel_attr_flags(attr) & KEEL_ATTR_EMPTY;
}

/* The change as it will be made: an attribute that is emptied gets its default, which its check() sees then. */
static struct keel_attrop completed(struct keel_mod *mod, const struct keel_attrop *given)
{
	struct keel_attrop op = *given;

	op.name = name_of_row(mod, given->name);
	if (empties(&op) && !(op.op == KEEL_SET && takes_empty(mod, op.name))) {
		op.value = op.key ? NULL : attribute_emptied(op.name);
		op.op = op.value ? KEEL_SET : KEEL_UNSET;
	}
	return op;
}

static int32_t alter_all(struct keel_mod *mod, struct keel_changes *ch, struct keel_req *req,
			 struct keel_obj *job, struct keel_err *err)
{
	const struct keel_session *who = keel_req_session(req);
	const struct keel_attrop *attrs;
	uint32_t n = 0, i;
	bool running = !step_is_pending(job_slot(mod, job)->step), resources = false, changed = false;
	int32_t code = keel_msg_attrs(keel_req_body(req), "attrs", &attrs, &n);

	code = code && code != -ENODATA ? keel_error(err, PBSE_PROTOCOL, "Batch protocol error") : 0;
	for (i = 0; i < n && !code; i++) {
		struct keel_attrop op = completed(mod, &attrs[i]);

		code = running ? check_running(mod, &op, err) : 0;
		if (!code)
			code = keel_change(ch, who, job, &op, err);
		if (!code && running && op.key)
			code = check_lowered(ch, who, job, op.key, err);
		resources |= strcmp(op.name, "Resource_List") == 0;
	}
	if (!code)
		code = job_default_paths(mod, ch, job, job_text(job, job_Submit_Host),
					 strtoll(job_id(mod, job), NULL, 10), err);
	if (!code && !running)
		code = prepare_job(mod, ch, job, &changed, err);
	if (!code && (resources || changed) && !running)
		code = keel_resource_prepare(ch, job, job_queue(mod, job), err);
	return code;
}

/* ---- its record ------------------------------------------------------------------------------------ */

/* The value as the job has it now, formatted, after defaults and other attributes. The caller frees it; NULL: unset. */
static char *altered_text(struct keel_mod *mod, struct keel_obj *job, const struct keel_attrop *op)
{
	const struct keel_attr *attr = keel_attr_find(mod, "job", op->name);
	int32_t len = attr ? keel_get_text(job, attr, op->key, NULL, 0) : -1;
	char *text = len < 0 ? NULL : malloc((size_t)len + 1);

	if (text && keel_get_text(job, attr, op->key, text, (uint32_t)len + 1) < 0) {
		free(text);
		text = NULL;
	}
	return text;
}

/* How many a request names. */
static uint32_t attrs_given(struct keel_req *req, const struct keel_attrop **ret)
{
	uint32_t n = 0;

	return keel_msg_attrs(keel_req_body(req), "attrs", ret, &n) ? 0 : n;
}

/* Attr[.resc]=value for each that was altered; UNSET for one that was emptied. */
static void record_altered(struct keel_mod *mod, struct keel_req *req, struct keel_obj *job)
{
	const struct keel_attrop *attrs;
	char *record = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&record, &len);
	uint32_t n = out ? attrs_given(req, &attrs) : 0;

	for (uint32_t i = 0; i < n; i++) {
		struct keel_attrop op = completed(mod, &attrs[i]);
		char *text = empties(&attrs[i]) ? NULL : altered_text(mod, job, &op);
		char *value = keel_acct_value(text ? text : "UNSET");

		fprintf(out, "%s%s%s%s=%s", i ? " " : "", op.name, op.key ? "." : "", op.key ? op.key : "",
			value ? value : "");
		free(value);
		free(text);
	}
	if (out)
		fclose(out);
	if (n)
		keel_acct_record('a', job_id(mod, job), record);
	free(record);
}

/* ---- subjobs of an array ---------------------------------------------------------------------------- */

/* attr[.resource],...; the caller frees it. NULL without memory. */
static char *altered_names(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_attrop *attrs;
	char *names = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&names, &len);
	uint32_t n = out ? attrs_given(req, &attrs) : 0;

	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s%s%s%s", i ? "," : "", name_of_row(mod, attrs[i].name), attrs[i].key ? "." : "",
			attrs[i].key ? attrs[i].key : "");
	if (out)
		fclose(out);
	return names;
}

static void passed_on(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	(void)mod, (void)arg, (void)code, (void)text;
}

static void reach_host(struct keel_mod *mod, struct keel_obj *job)
{
	if (step_is_running(job_slot(mod, job)->step) && KEEL_USE_task->modify)
		keel_task_modify(job);
	step_notify(mod, job);
}

/* The module that offers the form has set the part's values already. */
void alter_one(struct keel_mod *mod, struct keel_obj *part, const struct keel_job_ask *ask,
	       const struct callback *callback)
{
	(void)ask;
	reach_host(mod, part);
	callback_call(callback, 0, NULL);
}

/* ---- done ------------------------------------------------------------------------------------------- */

static void alter_raise(struct keel_mod *mod, struct keel_req *req, const char *group);

static void alter_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct alteration *a = arg;
	struct keel_obj *job = keel_find(mod, "job", a->id);
	char *names;

	again_over(mod, a->key);
	if (edits_stale(outcome)) {
		alter_raise(mod, a->req, a->group);
	} else if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE) {
		keel_reply(a->req, outcome->code ? outcome->code : PBSE_HOOKERROR,
			   outcome->text ? "%s" : NULL, outcome->text);
	} else if (!job) {
		keel_reply(a->req, PBSE_UNKJOBID, NULL);
	} else {
		edits_count(mod, job);
		keel_set_int(job, job_mtime, keel_time(mod));
		if (step_is_open(job_slot(mod, job)->step))
			step_evaluate(mod, job);
		reach_host(mod, job);
		if (job_slot(mod, job)->step == STEP_BEGUN) {
			/* An alteration of an array reaches its running subjobs as well: they cannot be altered by themselves. */
			names = altered_names(mod, a->req);
			if (names)
				form_ask(mod, job_id(mod, job),
					 &(struct keel_job_ask){ .size = sizeof(struct keel_job_ask),
								 .verb = "alter",
								 .detail = names,
								 .who = keel_req_session(a->req)->who },
					 &(struct callback){ mod, passed_on, NULL });
			free(names);
		}
		keel_log(mod, KEEL_LOG_JOB, "Job", a->id, "Job Modified at request of %s",
			 keel_req_session(a->req)->who);
		record_altered(mod, a->req, job);
		keel_reply(a->req, 0, NULL);
		scheduler_wake(mod);
	}
	alteration_free(a);
}

/* `group`: the group that its group_list means here, or NULL when it sets none. */
static void alter_raise(struct keel_mod *mod, struct keel_req *req, const char *group)
{
	struct keel_obj *job = job_for(mod, req, KEEL_EVERYBODY);
	struct keel_changes *ch;
	struct alteration *a;
	struct keel_err err = { 0 };
	int32_t code = 0;

	if (!job)
		return;
	if (step_letter(job_slot(mod, job)->step) == 'E') {
		keel_reply(req, PBSE_BADSTATE, NULL);
		return;
	}
	a = calloc(1, sizeof(*a));
	ch = keel_changes(mod);
	if (!a || !ch || !(a->id = strdup(job_id(mod, job))) ||
	    (group && !(a->group = strdup(group))))
		code = keel_error(&err, PBSE_SYSTEM, "System error: out of memory");
	if (!code)
		code = alter_all(mod, ch, req, job, &err);
	if (!code && group)
		code = keel_change_text(ch, job, job_egroup, KEEL_SET, NULL, group, &err);
	if (!code)
		code = edits_expect(mod, ch, job, job_text(job, attr_job_queue), a->key, &err);
	if (code) {
		keel_discard(ch);
		keel_reply(req, code, "%s", err.text);
		if (a)
			alteration_free(a);
		return;
	}
	a->req = req;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_job_modify,
		.event = KEEL_EVENT(job_modify, .id = a->id, .job = job,
			       .who = keel_req_session(req)->who),
		.changes = ch,
		.req = req,
		.done = alter_decided,
		.arg = a,
	});
}

static void alter_group_known(struct keel_mod *mod, void *arg, int32_t code, const char *group)
{
	if (code)
		keel_reply(arg, code, NULL);
	else
		alter_raise(mod, arg, group);
}

void on_alter(struct keel_mod *mod, struct keel_req *req)
{
	struct keel_obj *job;
	char group[256];

	if (!group_wanted(mod, req, group, sizeof(group)))
		alter_raise(mod, req, NULL);
	else if ((job = job_for(mod, req, KEEL_EVERYBODY)))
		group_ask(mod, job_text(job, job_euser), group, alter_group_known, req);
}

/* ---- a module ------------------------------------------------------------------------------------------ */

static bool other_resources(struct keel_changes *ch, struct keel_obj *job)
{
	const union keel_slot *slot = keel_change_slot(ch, job, job_Resource_List);

	return !keel_resource_list_equal(slot ? slot->p : NULL, keel_get_ptr(job, job_Resource_List));
}

static bool other_number(struct keel_changes *ch, struct keel_obj *job, const struct keel_attr *attr)
{
	const union keel_slot *slot = keel_change_slot(ch, job, attr);

	return (slot ? slot->i : 0) != keel_get_int(job, attr);
}

/* The scheduler hears of it only where the job may start, or where, is another matter now: who changes something of a job whose start was
 * refused would else be asked again at once. */
int32_t job_change(struct keel_mod *mod, struct keel_obj *job, struct keel_changes *ch, struct keel_err *err)
{
	const bool pending = step_is_pending(job_slot(mod, job)->step), list = pending && other_resources(ch, job);
	const bool state = other_number(ch, job, job_Hold_Types) || other_number(ch, job, job_Execution_Time);
	int32_t code = step_is_over(job_slot(mod, job)->step)
			       ? keel_error(err, PBSE_HISTJOBID, "%s", keel_pbse_text(PBSE_HISTJOBID))
			       : 0;

	if (!code && list)
		code = keel_resource_prepare(ch, job, job_queue(mod, job), err);
	if (code) {
		keel_discard(ch);
		return code;
	}
	keel_commit(ch);
	edits_count(mod, job);
	keel_set_int(job, job_mtime, keel_time(mod));
	if (state && step_is_open(job_slot(mod, job)->step))
		step_evaluate(mod, job);
	reach_host(mod, job);
	if (list) /* its place among those that wait is another one */
		keel_note(mod, KEEL_POINT_job_moved, KEEL_EVENT(job_moved, .id = job_id(mod, job), .job = job,
								.from = job_text(job, attr_job_queue)));
	return 0;
}

/* ---- hold and release ----------------------------------------------------------------------------- */

struct holding {
	struct keel_req *req;
	char *id;
	int32_t bits;
	bool set;
};

/* Which letters a requester may set or clear. */
bool may_hold(const struct keel_session *who, int32_t bits)
{
	if ((bits & (HOLD_SYSTEM | HOLD_PASSWORD)) && !(who->roles & KEEL_MANAGER))
		return false;
	return !(bits & HOLD_OTHER) || (who->roles & KEEL_OPERATORS);
}

/* Whether it was saved or that failed, the hold is set: a job that runs on is held when it is queued again. */
static void hold_saved(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct holding *h = arg;

	(void)code, (void)text, (void)mod;
	keel_reply(h->req, 0, NULL);
	free(h->id);
	free(h);
}

/* Can holds of the job still be set? 0, or a PBSE code. */
static int32_t hold_objection(struct keel_mod *mod, struct keel_obj *job)
{
	enum step step = job_slot(mod, job)->step;

	return step_is_over(step) ? PBSE_HISTJOBID : step_letter(step) == 'E' ? PBSE_BADSTATE : 0;
}

static void hold_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct holding *h = arg;
	struct keel_obj *job = keel_find(mod, "job", h->id);
	const struct keel_session *who = keel_req_session(h->req);
	int32_t code = job ? hold_objection(mod, job) : PBSE_UNKJOBID;
	time_t now = (time_t)keel_time(mod);
	char letters[8], when[32] = "", text[512];
	int64_t have;

	if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE) {
		keel_reply(h->req, outcome->code ? outcome->code : PBSE_HOOKERROR,
			   outcome->text ? "%s" : NULL, outcome->text);
	} else if (code) {
		keel_reply(h->req, code, NULL);
	} else {
		have = keel_get_int(job, job_Hold_Types);
		keel_set_int(job, job_Hold_Types, h->set ? have | (h->bits & ~HOLDS_UNSEEN)
						       : have & ~h->bits);
		held_note(mod, job, (int32_t)(h->bits & ~HOLDS_UNSEEN), h->set, who->who);
		holds_text(h->bits, letters);
		keel_log(mod, KEEL_LOG_JOB, "Job", h->id, "Holds %s %s at request of %s", letters,
			 h->set ? "set" : "released", who->who);
		if (step_is_pending(job_slot(mod, job)->step) && h->set && h->bits) {
			ctime_r(&now, when);
			when[strcspn(when, "\n")] = '\0';
			snprintf(text, sizeof(text), "Job held by %s on %s", who->user, when);
			keel_set_str(job, job_comment, text);
		}
		if (step_is_open(job_slot(mod, job)->step))
			step_evaluate(mod, job);
		if (h->set && h->bits && job_slot(mod, job)->step == STEP_RUNNING) {
			job_save(mod, job, mod, hold_saved, h);
			return;
		}
		keel_reply(h->req, 0, NULL);
	}
	free(h->id);
	free(h);
}

static void hold_or_release(struct keel_mod *mod, struct keel_req *req, bool set)
{
	const struct keel_session *who = keel_req_session(req);
	struct keel_obj *job = job_for(mod, req, KEEL_EVERYBODY);
	const char *letters;
	struct holding *h;
	int32_t bits, code;

	if (!job)
		return; /* job_for() has sent the error */
	letters = keel_msg_str(keel_req_body(req), "holds");
	if (!letters || !*letters)
		letters = "u";
	bits = holds_parse_shown(letters);
	if (bits < 0 || !may_hold(who, bits)) {
		keel_reply(req, bits < 0 ? PBSE_BADATVAL : PBSE_PERM, NULL);
		return;
	}
	code = hold_objection(mod, job);
	if (code) {
		keel_reply(req, code, NULL);
		return;
	}
	h = calloc(1, sizeof(*h));
	if (!h || !(h->id = strdup(job_id(mod, job)))) {
		free(h);
		keel_reply(req, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	h->req = req;
	h->bits = bits;
	h->set = set;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = set ? KEEL_POINT_job_hold : KEEL_POINT_job_release,
		.event = set ? (const void *)KEEL_EVENT(job_hold, .id = h->id, .job = job,
						   .holds = letters, .who = who->who)
			: (const void *)KEEL_EVENT(job_release, .id = h->id, .job = job,
						   .holds = letters, .who = who->who),
		.req = req,
		.done = hold_decided,
		.arg = h,
	});
}

void job_depend(struct keel_mod *mod, struct keel_obj *job, bool waits)
{
	int64_t have = keel_get_int(job, job_Hold_Types);

	if (waits == ((have & HOLD_DEPENDS) != 0))
		return;
	keel_set_int(job, job_Hold_Types, waits ? have | HOLD_DEPENDS : have & ~HOLD_DEPENDS);
	if (step_is_pending(job_slot(mod, job)->step))
		step_evaluate(mod, job);
}

void on_hold(struct keel_mod *mod, struct keel_req *req)
{
	hold_or_release(mod, req, true);
}

void on_release(struct keel_mod *mod, struct keel_req *req)
{
	hold_or_release(mod, req, false);
}
