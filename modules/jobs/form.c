/* SPDX-License-Identifier: Apache-2.0
 *
 * form.c - jobs that are one object and many starts: wholes (`7[].svr`) and their parts (`7[3].svr`).
 *
 * What waits in a whole is known to the module that offers the form (kind JOB_FORM: arrays). A part is a
 * job object from its start on; when it does not start or is requeued it goes back into its whole and
 * its object is gone, when it is over it is expired (X) or gone. Without such a module wholes and parts
 * that are stored wait: nothing of them starts.
 */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

KEEL_ATTRS_OF(job, stime, comment, run_count, Hold_Types, Exit_status);

/* ---- the kind ------------------------------------------------------------------------------------- */

static int32_t form_add(struct keel_mod *self, struct keel_mod *owner, const void *def,
			struct keel_err *err)
{
	const struct keel_job_form_def *form = def;
	struct state *st = self->state;

	if (!form->attr || !form->waiting || !form->next || !form->back || !form->over || !form->ask ||
	    !form->has)
		return keel_error(err, -1, "the JOB_FORM row of %s is not complete", owner->name);
	if (st->form)
		return keel_error(err, -1, "%s already offers a form of jobs, %s cannot offer "
					   "another", st->form_owner->name, owner->name);
	st->form = def;
	st->form_owner = owner;
	return 0;
}

static void form_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	struct state *st = self->state;

	(void)owner;
	if (st->form == def)
		st->form = NULL;
}

const struct keel_kind_def form_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_job_form_def),
	.name = "JOB_FORM",
	.doc = "jobs that are one object and many starts",
	.add = form_add,
	.remove = form_remove,
};

/* ---- wholes and parts ----------------------------------------------------------------------------- */

enum role job_role(struct keel_mod *mod, struct keel_obj *job)
{
	const char *id = job_id(mod, job);

	return keel_id_is_part(id) ? ROLE_PART : keel_id_is_whole(id) ? ROLE_WHOLE : ROLE_PLAIN;
}

struct keel_obj *whole_of(struct keel_mod *mod, const char *part_id)
{
	char id[512];

	return keel_id_whole(part_id, id, sizeof(id)) ? keel_find(mod, "job", id) : NULL;
}

bool form_has(struct keel_mod *mod, const char *operand)
{
	struct state *st = mod->state;

	return st->form && st->form->has(st->form_owner, operand);
}

char form_letter(struct keel_mod *mod, const char *operand)
{
	struct state *st = mod->state;

	return st->form && st->form->letter ? st->form->letter(st->form_owner, operand) : '\0';
}

bool form_ask(struct keel_mod *mod, const char *operand, const struct keel_job_ask *ask,
	      const struct callback *callback)
{
	struct state *st = mod->state;

	return st->form &&
	       st->form->ask(st->form_owner, operand, ask, callback->me, callback->done, callback->arg);
}

/* ---- what waits ----------------------------------------------------------------------------------- */

uint32_t job_waiting(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	enum step step = job_slot(mod, job)->step;

	if (step != STEP_QUEUED && step != STEP_BEGUN)
		return 0;
	if (job_role(mod, job) != ROLE_WHOLE)
		return 1;
	return st->form ? st->form->waiting(st->form_owner, job, false) : 0;
}

uint32_t job_members(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	if (job_role(mod, job) != ROLE_WHOLE)
		return 1;
	return st->form ? st->form->waiting(st->form_owner, job, true) : 0;
}

static void waits_notify(struct keel_mod *mod, struct keel_obj *whole, uint32_t before)
{
	if (before == 0 && job_waiting(mod, whole) > 0)
		keel_note(mod, KEEL_POINT_job_waits,
			  KEEL_EVENT(job_waits, .id = job_id(mod, whole), .job = whole));
	scheduler_wake(mod);
}

void whole_waits(struct keel_mod *mod, struct keel_obj *whole)
{
	waits_notify(mod, whole, 0);
}

/* ---- the life of a part --------------------------------------------------------------------------- */

struct keel_obj *part_next(struct keel_mod *mod, struct keel_obj *whole, struct keel_err *err)
{
	struct state *st = mod->state;

	if (job_waiting(mod, whole) == 0) {
		keel_error(err, PBSE_BADSTATE, "%s", keel_pbse_text(PBSE_BADSTATE));
		return NULL;
	}
	return st->form->next(st->form_owner, whole, err);
}

void part_adopt(struct keel_mod *mod, struct keel_obj *part)
{
	step_to(mod, part, STEP_QUEUED);
}

void part_started(struct keel_mod *mod, struct keel_obj *part)
{
	struct keel_obj *whole = whole_of(mod, job_id(mod, part));
	time_t now;
	char text[96] = "";
	struct tm tm;

	if (whole && !keel_is_set(whole, job_stime)) {
		now = (time_t)keel_time(mod);
		keel_set_int(whole, job_stime, now);
		if (localtime_r(&now, &tm))
			strftime(text, sizeof(text), "Job Array Began at %a %b %d at %H:%M", &tm);
		keel_set_str(whole, job_comment, text);
		keel_acct_job('S', whole);
		step_evaluate(mod, whole);
	}
}

void part_back(struct keel_mod *mod, struct keel_obj *part)
{
	struct state *st = mod->state;
	bool hold = keel_get_int(part, job_run_count) > RUNS_MAX;
	struct keel_obj *whole;
	uint32_t before;
	char id[512];
	char text[600];

	snprintf(id, sizeof(id), "%s", job_id(mod, part));
	whole = whole_of(mod, id);
	before = whole ? job_waiting(mod, whole) : 0;
	if (st->form)
		st->form->back(st->form_owner, part);
	counts_add(mod, part, job_slot(mod, part)->step, -1);
	keel_destroy(part);
	whole = whole_of(mod, id); /* back() may have ended and destroyed it */
	if (whole && hold && step_is_open(job_slot(mod, whole)->step)) {
		snprintf(text, sizeof(text), "Job Array Held, too many failed attempts to run subjob %s", id);
		keel_set_int(whole, job_Hold_Types,
			     keel_get_int(whole, job_Hold_Types) | HOLD_SYSTEM);
		keel_set_str(whole, job_comment, text);
		step_evaluate(mod, whole);
	}
	if (whole)
		waits_notify(mod, whole, before);
}

/* The form's over() is called while the part still has its values; the caller may destroy it afterwards. */
void part_over(struct keel_mod *mod, struct keel_obj *part, enum step step, bool kept)
{
	struct state *st = mod->state;
	char id[512];
	struct keel_obj *whole;
	uint32_t before;

	snprintf(id, sizeof(id), "%s", job_id(mod, part));
	whole = whole_of(mod, id);
	before = whole ? job_waiting(mod, whole) : 0;
	if (st->form)
		st->form->over(st->form_owner, part, step_substate(step), kept);
	whole = whole_of(mod, id); /* over() of its last part destroys it */
	if (whole)
		waits_notify(mod, whole, before);
}

/* ---- the end of a whole --------------------------------------------------------------------------- */

void whole_finish(struct keel_mod *mod, struct keel_obj *whole, int32_t substate, int32_t exit_status)
{
	if (step_is_over(job_slot(mod, whole)->step))
		return;
	if (keel_is_set(whole, job_stime))
		keel_set_int(whole, job_Exit_status, exit_status);
	job_over(mod, whole, step_of('F', false, substate));
}

/* X -> F, when the whole is history. */
void part_settle(struct keel_mod *mod, struct keel_obj *part)
{
	struct job *j = job_slot(mod, part);

	if (step_is_expired(j->step))
		step_to(mod, part, step_of('F', false, step_substate(j->step)));
}

void job_erase(struct keel_mod *mod, struct keel_obj *job)
{
	struct job *j = job_slot(mod, job);

	if (!step_is_over(j->step) && !step_is_expired(j->step))
		return;
	job_leave(mod, job);
}
