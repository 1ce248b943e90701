/* SPDX-License-Identifier: Apache-2.0
 *
 * delete-preemption.c - preemption by deletion: the letter D of preempt_order.
 *
 * Other methods can all be unusable for a job; a running job can always be deleted. It is preempted when it is purged,
 * not when its deletion was requested: a job started sooner would share its vnodes.
 *
 *   job_preempt -> [grace_signal, grace] -> request_delete -> hold until job_purged -> DONE
 *                                                 '-> refused: the next letter, and no trace of it
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/alarm.h"
#include "keel/keel.h"
#include "keel/service/job.h"
#include "pbs_error.h"
#include "scope.h"

KEEL_USE(job);
KEEL_ATTRS_OF(job, queue, euser, exec_host);
KEEL_ATTR_OF(queue, kill_delay);

struct conf {
	int64_t timeout, grace; /* ms */
	int64_t max_per_cycle;
	const char *grace_signal, *queue, *user, *host;
};
static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(DURATION, struct conf, timeout, .fallback = "5m", .min = 1000, .max = 86400000,
		       .doc = "a victim that is not gone by then (grace and kill_delay of its queue "
			      "added) counts as not preempted"),
	KEEL_CONF_RULE(STRING, struct conf, grace_signal, .fallback = "",
		       .doc = "signal that tells a victim what is coming, \"USR1\" say; empty: none"),
	KEEL_CONF_RULE(DURATION, struct conf, grace, .fallback = "10s", .min = 0, .max = 3600000,
		       .doc = "from that signal to the deletion"),
	KEEL_CONF_RULE(INT, struct conf, max_per_cycle, .fallback = "0", .min = 0, .max = 1000000,
		       .doc = "victims deleted in a scheduling cycle; 0: as many as it takes"),
	KEEL_CONF_RULE(STRING, struct conf, queue, .fallback = "",
		       .doc = "pattern: jobs of these queues only"),
	KEEL_CONF_RULE(STRING, struct conf, user, .fallback = "",
		       .doc = "pattern: jobs of these users only"),
	KEEL_CONF_RULE(STRING, struct conf, host, .fallback = "",
		       .doc = "pattern: jobs on these hosts only"),
};

struct state {
	struct scope *scope;
	uint32_t leaving;      /* victims being deleted */
	uint64_t cycle;	       /* number of the running cycle; 0: none */
	int64_t in_this_cycle; /* deletions begun and not refused */
};

/* A victim; freed when neither the hold, nor the grace, nor an open request needs it. */
struct leaving {
	struct keel_mod *mod;	/* this module: callbacks of a hold get the tap's */
	struct keel_hold *hold; /* NULL: it has ended */
	struct keel_alarm grace;
	bool open;	/* a request was sent, and its reply is missing */
	uint64_t cycle; /* in which it was chosen; 0: outside of cycles */
	int32_t code;
	char text[256];
	char *who;
	char id[];
};

static void drop(struct leaving *l)
{
	if (l->hold || l->open || keel_alarm_is_set(&l->grace))
		return;
	((struct state *)l->mod->state)->leaving--;
	free(l->who);
	free(l);
}

/* ---- deleting one ---------------------------------------------------------------------------------------- */

/* The hold has ended: a deletion that was not requested yet is not requested any more. */
static void hold_over(struct leaving *l)
{
	l->hold = NULL;
	keel_alarm_end(&l->grace);
	drop(l);
}

/* The job was purged, or the deletion was refused. */
static keel_verdict resumed(struct keel_call *c, void *arg)
{
	struct leaving *l = arg;
	keel_verdict v = l->code ? keel_reject(c, l->code, l->text[0] ? "%s" : NULL, l->text) : KEEL_DONE;

	hold_over(l);
	return v;
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c, (void)reason;
	hold_over(arg);
}

static void delete_replied(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct state *st = mod->state;
	struct leaving *l = arg;

	l->open = false;
	l->code = code;
	snprintf(l->text, sizeof(l->text), "%s", text ? text : "");
	if (code && l->cycle && l->cycle == st->cycle)
		st->in_this_cycle--; /* the job is not deleted */
	if (code && l->hold)
		keel_release(l->hold);
	else
		drop(l);
}

static void delete_request(struct leaving *l)
{
	struct keel_obj *job = keel_find(l->mod, "job", l->id);

	l->open = job != NULL;
	if (job)
		keel_job_request_delete(job, l->who, l->mod, delete_replied, l);
}

static void grace_over(struct keel_mod *mod, void *arg)
{
	(void)mod;
	delete_request(arg);
}

/* Without a grace where the signal failed, or there is no timer. */
static void signalled(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	const struct conf *conf = mod->conf;
	struct leaving *l = arg;

	(void)text;
	l->open = false;
	if (!l->hold)
		drop(l);
	else if (code || keel_alarm_set(mod, &l->grace, conf->grace, grace_over, l) < 0)
		delete_request(l);
}

/* ---- the method ------------------------------------------------------------------------------------------ */

static const char *text_of(struct keel_obj *job, const struct keel_attr *attr)
{
	const char *text = keel_get_str(job, attr);

	return text ? text : "";
}

static uint32_t delete_room(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	int64_t left = conf->max_per_cycle - st->in_this_cycle;

	if (!conf->max_per_cycle || !st->cycle)
		return UINT32_MAX;
	return left > 0 ? (uint32_t)left : 0;
}

static bool delete_applies(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	return delete_room(mod) &&
	       scope_has(st->scope, text_of(job, job_queue), text_of(job, job_euser), text_of(job, job_exec_host));
}

static int64_t timeout_ms(struct keel_mod *mod, struct keel_obj *job)
{
	const struct conf *conf = mod->conf;
	struct keel_obj *queue = keel_find(mod, "queue", text_of(job, job_queue));

	return conf->timeout + (*conf->grace_signal ? conf->grace : 0) +
	       (queue ? 1000 * keel_get_int(queue, queue_kill_delay) : 0);
}

static struct leaving *leaving_new(struct keel_mod *mod, const char *id, const char *who)
{
	struct state *st = mod->state;
	struct leaving *l = calloc(1, sizeof(*l) + strlen(id) + 1);

	if (!l || !(l->who = strdup(who))) {
		free(l);
		return NULL;
	}
	strcpy(l->id, id);
	l->mod = mod;
	l->cycle = st->cycle;
	st->leaving++;
	return l;
}

static keel_verdict delete_start(struct keel_mod *mod, struct keel_call *c, struct keel_obj *job, const char *who)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct leaving *l;
	keel_verdict v;

	if (!delete_applies(mod, job))
		return keel_reject(c, PBSE_NOSUP, "%s", !delete_room(mod) ? "enough jobs were deleted in this cycle"
									  : "such jobs are not deleted");
	l = leaving_new(mod, keel_id(job), who);
	if (!l)
		return keel_fail(c, "out of memory");
	v = keel_hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .arg = l, .resume = resumed,
						   .cancel = cancelled, .timeout_ms = timeout_ms(mod, job),
						   .until_point = KEEL_POINT_job_purged, .until_id = l->id,
						   .why = "a victim of preemption is being deleted" }, &l->hold);
	st->in_this_cycle += v == KEEL_WAIT;
	l->open = v == KEEL_WAIT; /* replies may come at once */
	if (v != KEEL_WAIT)
		hold_over(l);
	else if (!*conf->grace_signal)
		delete_request(l);
	else
		keel_job_ask(job, &(struct keel_job_ask){ .size = sizeof(struct keel_job_ask), .verb = "signal",
							  .detail = conf->grace_signal, .who = who }, mod, signalled, l);
	return v;
}

static const struct keel_preempt_def delete_method = {
	.size = sizeof(struct keel_preempt_def),
	.letter = "D", .outcome = "D", .name = "delete", .words = "deletion",
	.doc = "deleted: it does not come back",
	.applies = delete_applies, .start = delete_start, .room = delete_room,
};
static const struct keel_contrib contribs[] = { KEEL_ROW(PREEMPT, delete_method) };

static keel_verdict on_cycle_begin(struct keel_call *c, const struct keel_ev_cycle_begin *ev)
{
	struct state *st = keel_state(c);

	st->cycle = ev->cycle;
	st->in_this_cycle = 0;
	return KEEL_NEXT;
}

/* Outside of cycles a scheduler of the site's own preempts, without a cap. */
static keel_verdict on_cycle_end(struct keel_call *c, const struct keel_ev_cycle_end *ev)
{
	struct state *st = keel_state(c);

	(void)ev;
	st->cycle = 0;
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = { KEEL_TAP(cycle_begin, on_cycle_begin), KEEL_TAP(cycle_end, on_cycle_end) };

/* ---- module ---------------------------------------------------------------------------------------------- */

/* Returns NULL with *err. */
static struct scope *scope_of(const struct conf *conf, struct keel_err *err)
{
	const char *bad;
	size_t at = 0;
	struct scope *s = scope_create(conf->queue, conf->user, conf->host, &bad, &at);

	if (!s)
		keel_error(err, -EINVAL, "delete-preemption: pattern \"%s\" cannot be understood at character %u",
			   bad ? bad : "", (unsigned)at + 1);
	return s;
}

static int32_t check(const void *conf, struct keel_err *err)
{
	struct scope *s = scope_of(conf, err);

	scope_destroy(s);
	return s ? 0 : -EINVAL;
}

static int32_t reconf(struct keel_mod *mod, const void *now, struct keel_err *err)
{
	struct state *st = mod->state;
	struct scope *s = scope_of(now, err);

	if (!s)
		return -ENOMEM;
	scope_destroy(st->scope);
	st->scope = s;
	return 0;
}

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	return reconf(mod, mod->conf, err);
}

/* Victims being deleted have callbacks into this module. */
static int32_t busy(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	return st->leaving ? keel_error(err, -EBUSY, "%u jobs are being deleted; try again", st->leaving) : 0;
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	scope_destroy(st->scope);
	st->scope = NULL;
}

/* Without the module preemption the PREEMPT row has no kind and stays pending. */
KEEL_MODULE(.name = "delete-preemption", .version = "1.0", .vendor = "Keelson", .summary = "preempt jobs by deletion",
	    .roles = KEEL_SERVER, .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .check = check, .init = init, .reconf = reconf, .busy = busy,
	    .fini = fini);
