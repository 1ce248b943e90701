/* SPDX-License-Identifier: Apache-2.0
 *
 * action.c - what is done with the jobs on the hosts of a window: suspended at its beginning and resumed at its end, or queued again.
 *
 * Jobs are found by their vnodes and dealt with in slices. That a window has acted is stored when all were asked; a server that was
 * killed before begins anew. Jobs of the window's own queue are let alone. A job that could not be resumed, or whose window went
 * while this module was off, is found by the reason that it was stopped for, of which there is no window any more.
 */
#include "maintenance.h"

#include <stdlib.h>
#include <string.h>

#include "keel/service/admin_suspend.h"
#include "keel/words.h"

KEEL_USE_OPT(admin_suspend);
KEEL_ATTRS_OF(resv, maintenance_action, maintenance_acted);
KEEL_ATTR_OF(job, queue);
KEEL_ATTR_OPT(job, admin_suspended_nodes);

#define SLICE 50      /* jobs of one turn */
#define AGAIN 30000   /* ms until one that could not be resumed is tried again */
#define ONCE_MORE 2000 /* ms until one that just changed its state, as for another window, is to be suspended once more */

struct act {
	struct act *next;
	struct keel_mod *mod;
	enum { SUSPEND, RESUME, DRAIN } what;
	char **jobs; /* owned */
	uint32_t n, at;
	bool failed; /* out of memory: some are missing */
	bool second; /* ONCE_MORE has passed */
	struct keel_alarm alarm; /* likewise: until then */
	char id[];   /* of the window; "": of each that is gone */
};

/* Of one job: the window may be gone when it is answered. */
struct one {
	char *job;
	int what;
	bool second;
	char id[];
};

bool action_can_suspend(void)
{
	return keel_can(admin_suspend, suspend);
}

static void act_free(struct act *a)
{
	struct state *st = a->mod->state;
	struct act **at = &st->acts;

	while (*at && *at != a)
		at = &(*at)->next;
	if (*at)
		*at = a->next;
	for (uint32_t i = 0; i < a->n; i++)
		free(a->jobs[i]);
	free(a->jobs);
	keel_alarm_end(&a->alarm);
	free(a);
}

static struct act *act_new(struct keel_mod *mod, const char *id, int what)
{
	struct state *st = mod->state;
	struct act *a = calloc(1, sizeof(*a) + strlen(id) + 1);

	if (!a)
		return NULL;
	strcpy(a->id, id);
	a->mod = mod;
	a->what = what;
	a->next = st->acts;
	st->acts = a;
	return a;
}

void actions_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_alarm_end(&st->left);
	while (st->acts)
		act_free(st->acts);
}

static void job_take(void *arg, const char *job_id);
static void act_go(struct keel_mod *mod, void *arg);

static bool still_runs(struct keel_mod *mod, const char *id)
{
	struct keel_obj *resv = keel_find(mod, "resv", id);

	return resv && keel_resv_state(resv) == KEEL_RESV_RUNNING;
}

/* ---- one job ----------------------------------------------------------------------------------------------------- */

/* False: there is no memory, or it is not worth it. */
static bool once_more(struct keel_mod *mod, const struct one *o)
{
	struct act *a = o->second || o->what != SUSPEND || !still_runs(mod, o->id) ? NULL : act_new(mod, o->id, SUSPEND);

	if (!a)
		return false;
	a->second = true;
	job_take(a, o->job);
	if (!a->failed && keel_alarm_set(mod, &a->alarm, ONCE_MORE, act_go, a) == 0)
		return true;
	act_free(a);
	return false;
}

static void one_done(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	static const char *const words[] = { "suspended", "resumed", "queued again" };
	struct one *o = arg;

	if (code && !(code == PBSE_BADSTATE && once_more(mod, o)))
		keel_log(mod, KEEL_LOG_RESV, "Resv", o->id, "job %s was not %s: %s", o->job, words[o->what],
			 text && *text ? text : keel_pbse_text(code));
	if (code && o->what == RESUME)
		actions_left_later(mod, AGAIN);
	free(o->job);
	free(o);
}

static struct one *one_new(const struct act *a, const char *why, const char *job)
{
	struct one *o = calloc(1, sizeof(*o) + strlen(why) + 1);

	if (!o)
		return NULL;
	o->what = (int)a->what;
	o->second = a->second;
	strcpy(o->id, why);
	o->job = strdup(job);
	if (o->job)
		return o;
	free(o);
	return NULL;
}

/* Its queue is named as the window is. */
static bool is_inside(const struct act *a, struct keel_obj *job)
{
	const char *queue = keel_get_str(job, job_queue);
	const size_t n = strcspn(a->id, ".");

	return queue && strlen(queue) == n && strncmp(queue, a->id, n) == 0;
}

static void act_for(const struct act *a, const char *why, const char *job_id)
{
	struct keel_obj *job = keel_find(a->mod, "job", job_id);
	struct one *o = job && keel_job_state(job) == 'R' && !is_inside(a, job) ? one_new(a, why, job_id) : NULL;
	char who[300];

	if (!o)
		return;
	if (a->second && !still_runs(a->mod, why)) {
		free(o->job);
		free(o);
		return;
	}
	snprintf(who, sizeof(who), "root@%s", keel_host_name(a->mod));
	if (a->what == DRAIN)
		keel_job_request_rerun(job, who, a->mod, one_done, o);
	else if (!action_can_suspend())
		one_done(a->mod, o, PBSE_NOSUP, NULL);
	else if (a->what == SUSPEND)
		keel_admin_suspend_suspend(job, why, who, a->mod, one_done, o);
	else
		keel_admin_suspend_resume(job, why, who, a->mod, one_done, o);
}

/* Is this reason the id of a window that is gone? */
static bool is_gone(struct keel_mod *mod, const char *why)
{
	const size_t digits = *why == KIND ? strspn(why + 1, "0123456789") : 0;

	return digits && why[1 + digits] == '.' && keel_find(mod, "server", why + 2 + digits) &&
	       !keel_find(mod, "resv", why) && !keel_find(mod, "node", why);
}

static void act_for_gone(const struct act *a, const char *job_id)
{
	struct keel_obj *job = keel_find(a->mod, "job", job_id);
	const char *why = job && job_admin_suspended_nodes ? keel_get_str(job, job_admin_suspended_nodes) : NULL;
	char *words = why ? strdup(why) : NULL, *save = NULL; /* the list changes meanwhile */

	for (char *w = words ? strtok_r(words, ",", &save) : NULL; w; w = strtok_r(NULL, ",", &save))
		if (is_gone(a->mod, w))
			act_for(a, w, job_id);
	free(words);
}

static void act_on(const struct act *a, const char *job_id)
{
	if (*a->id)
		act_for(a, a->id, job_id);
	else
		act_for_gone(a, job_id);
}

/* ---- all of them --------------------------------------------------------------------------------------------------- */

static void act_over(struct act *a)
{
	struct keel_obj *resv = keel_find(a->mod, "resv", a->id);

	if (a->failed)
		keel_log(a->mod, KEEL_LOG_ERROR, "Resv", a->id, "no memory for all jobs on its hosts; some were let alone");
	if (resv && a->what != RESUME)
		keel_set_int(resv, resv_maintenance_acted, 1);
	act_free(a);
}

static void act_go(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct act *a = st->acts;

	while (a && a != arg)
		a = a->next;
	if (!a) /* the module ended meanwhile */
		return;
	for (uint32_t i = 0; i < SLICE && a->at < a->n; a->at++)
		if (a->at == 0 || strcmp(a->jobs[a->at - 1], a->jobs[a->at]) != 0) {
			act_on(a, a->jobs[a->at]);
			i++;
		}
	if (a->at < a->n && keel_defer(mod, act_go, a) == 0)
		return;
	a->failed |= a->at < a->n;
	act_over(a);
}

static void job_take(void *arg, const char *job_id)
{
	struct act *a = arg;
	char **more;

	if (a->failed)
		return;
	if ((a->n & (a->n + 1)) == 0) { /* 0, 1, 3, 7 ...: full */
		more = realloc(a->jobs, (2 * (size_t)a->n + 1) * sizeof(*more));
		a->failed = !more;
		if (!more)
			return;
		a->jobs = more;
	}
	a->jobs[a->n] = strdup(job_id);
	a->failed = !a->jobs[a->n];
	a->n += !a->failed;
}

static void tenant_take(void *arg, const char *job_id, bool suspended)
{
	(void)suspended;
	job_take(arg, job_id);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void jobs_sort(struct act *a)
{
	if (a->n)
		qsort(a->jobs, a->n, sizeof(*a->jobs), by_text);
}

static void jobs_find(struct act *a, const struct window *w)
{
	for (uint32_t i = 0; i < w->n_vnodes; i++) {
		struct keel_obj *node = keel_find(a->mod, "node", w->vnodes[i]);

		if (!node)
			continue;
		if (a->what != RESUME)
			keel_node_tenants(node, tenant_take, a);
		if (a->what != DRAIN && keel_can(admin_suspend, each))
			keel_admin_suspend_each(node, job_take, a);
	}
	jobs_sort(a);
}

static void act_begin(struct keel_mod *mod, struct keel_obj *resv, const struct window *w, int what)
{
	struct act *a = act_new(mod, keel_id(resv), what);

	if (!a) {
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "no memory for the jobs on its hosts; they were let alone");
		return;
	}
	jobs_find(a, w);
	if (keel_defer(mod, act_go, a))
		act_go(mod, a);
}

/* ---- jobs whose window is gone ------------------------------------------------------------------------------------ */

static void left_go(struct keel_mod *mod, void *arg)
{
	struct keel_cursor *walk = keel_can(admin_suspend, each) ? keel_cursor(mod, "node") : NULL;
	struct act *a = walk ? act_new(mod, "", RESUME) : NULL;
	struct keel_obj *node;

	(void)arg;
	while (a && (node = keel_next(walk)))
		keel_admin_suspend_each(node, job_take, a);
	if (walk)
		keel_cursor_close(walk);
	if (!a)
		return;
	jobs_sort(a);
	if (keel_defer(mod, act_go, a))
		act_go(mod, a);
}

void actions_left_later(struct keel_mod *mod, int64_t ms)
{
	struct state *st = mod->state;

	if (keel_alarm_set(mod, &st->left, ms, left_go, NULL))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", NULL,
			 "no memory to look for jobs that windows have suspended; qsig -s admin-resume continues them");
}

void action_begin(struct keel_mod *mod, struct keel_obj *resv, bool again)
{
	const struct window *w = keel_slot(mod, resv);
	const char *action = keel_get_str(resv, resv_maintenance_action);

	if (!w || !action || (!again && keel_get_int(resv, resv_maintenance_acted)))
		return;
	act_begin(mod, resv, w, strcmp(action, "suspend") == 0 ? SUSPEND : DRAIN);
}

void action_end(struct keel_mod *mod, struct keel_obj *resv)
{
	const struct window *w = keel_slot(mod, resv);
	const char *action = keel_get_str(resv, resv_maintenance_action);

	if (w && action && strcmp(action, "suspend") == 0)
		act_begin(mod, resv, w, RESUME);
}
