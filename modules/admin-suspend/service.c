/* SPDX-License-Identifier: Apache-2.0
 *
 * service.c - the service admin_suspend: jobs that another module suspends for a reason of its own.
 *
 * Reasons are beside the nodes whose verb stopped a job, in admin_suspended_nodes: the job goes on when the last one is gone.
 */
#include "admin-suspend.h"

#include <stdlib.h>
#include <string.h>

#include "keel/service/admin_suspend.h"
#include "keel/words.h"

KEEL_ATTR_OF(job, admin_suspended_nodes);

struct order {
	struct keel_mod *me;
	keel_job_done *done;
	void *arg;
	bool suspend;
	char why[];
};

/* With one reason more, or less. False without memory: they are as before. */
static bool reasons_write(struct keel_obj *job, const char *why, bool more)
{
	const char *have = keel_get_str(job, job_admin_suspended_nodes);
	struct keel_text text;
	bool done;

	keel_text_init(&text);
	keel_words_add(&text, have ? have : "", why);
	if (more)
		keel_words_add(&text, why, NULL);
	done = !text.failed;
	if (done && !text.len)
		keel_unset(job, job_admin_suspended_nodes, NULL);
	else if (done)
		done = keel_set_str(job, job_admin_suspended_nodes, text.data) == 0;
	keel_text_fini(&text);
	return done;
}

static bool has_reason(struct keel_obj *job, const char *why)
{
	const char *have = keel_get_str(job, job_admin_suspended_nodes);

	return have && keel_words_have(have, why);
}

/* By qsig alone: it waits for the one of qsig. */
static bool is_by_hand(struct keel_obj *job)
{
	return !keel_is_set(job, job_admin_suspended_nodes);
}

/* Is there another one? */
static bool is_last(struct keel_obj *job, const char *why)
{
	const char *have = keel_get_str(job, job_admin_suspended_nodes);

	return have && strcmp(have, why) == 0;
}

static void ordered(struct keel_mod *mod, void *arg, struct keel_obj *job, const char *id, int32_t code, const char *text)
{
	struct order *o = arg;

	(void)mod, (void)id;
	if (!code && o->suspend && job && !reasons_write(job, o->why, true)) {
		code = PBSE_SYSTEM;
		text = "suspended, but out of memory to note why; qsig -s admin-resume continues it";
	}
	o->done(o->me, o->arg, code, text);
	free(o);
}

static void order(struct keel_mod *mod, struct keel_obj *job, bool suspend, const char *why, const char *who,
		  const struct order *values)
{
	struct order *o = malloc(sizeof(*o) + strlen(why) + 1);

	if (!o) {
		values->done(values->me, values->arg, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	*o = *values;
	o->suspend = suspend;
	strcpy(o->why, why);
	step(mod, job, suspend, who, ordered, o);
}

static void suspend(struct keel_mod *mod, struct keel_obj *job, const char *why, const char *who, struct keel_mod *me,
		    keel_job_done *done, void *arg)
{
	const struct order values = { .me = me, .done = done, .arg = arg };

	if (keel_job_state(job) != 'R' || (keel_job_is_suspended(job) && !mark_is_set(job)))
		done(me, arg, PBSE_BADSTATE, NULL);
	else if (keel_job_is_suspended(job))
		done(me, arg, is_by_hand(job) || reasons_write(job, why, true) ? 0 : PBSE_SYSTEM, NULL);
	else
		order(mod, job, true, why, who, &values);
}

/* The reason goes with the mark, once it has been resumed. */
static void resume(struct keel_mod *mod, struct keel_obj *job, const char *why, const char *who, struct keel_mod *me,
		   keel_job_done *done, void *arg)
{
	const struct order values = { .me = me, .done = done, .arg = arg };

	if (!mark_is_set(job) || !has_reason(job, why))
		done(me, arg, 0, NULL);
	else if (!is_last(job, why))
		done(me, arg, reasons_write(job, why, false) ? 0 : PBSE_SYSTEM, NULL);
	else
		order(mod, job, false, why, who, &values);
}

static void each(struct keel_mod *mod, struct keel_obj *node, void (*fn)(void *arg, const char *job_id), void *arg)
{
	for (const struct listed *l = listing_of(mod, node); l; l = l->next)
		fn(arg, l->id);
}

static const struct keel_admin_suspend_api table = {
	.size = sizeof(table), .version = 1, .suspend = suspend, .resume = resume, .each = each,
};

const struct keel_service_def service_row = {
	.size = sizeof(struct keel_service_def),
	.version = 1,
	.name = "admin_suspend",
	.doc = "jobs that stand still for maintenance",
	.table = &table,
};
