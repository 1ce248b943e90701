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
#include "delete-preemption.h"

#include <errno.h>
#include <stdio.h>

KEEL_ATTR_OPT(job, queue);
KEEL_ATTR_OPT(job, euser);
KEEL_ATTR_OPT(job, exec_host);
KEEL_ATTR_OPT(queue, kill_delay);

KEEL_USE(job);

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

const struct keel_preempt_def delete_method = {
	.size = sizeof(struct keel_preempt_def),
	.letter = "D",
	.outcome = "D",
	.name = "delete",
	.words = "deletion",
	.doc = "deleted: it does not come back",
	.applies = delete_applies,
	.start = delete_start,
	.room = delete_room,
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

static const struct keel_tap taps[] = {
	KEEL_TAP(cycle_begin, on_cycle_begin),
	KEEL_TAP(cycle_end, on_cycle_end),
};

/* ---- patterns ----------------------------------------------------------------------------------------- */

static struct scope *scope_of(const struct conf *conf, const char **ret_bad, size_t *ret_at)
{
	return scope_create(conf->queue, conf->user, conf->host, ret_bad, ret_at);
}

static int32_t check(const void *conf, struct keel_err *err)
{
	const char *bad;
	size_t at = 0;
	struct scope *s = scope_of(conf, &bad, &at);

	scope_destroy(s);
	if (s)
		return 0;
	err->code = 0;
	snprintf(err->text, sizeof(err->text),
		    "delete-preemption: pattern \"%s\" cannot be understood at character %u",
		    bad ? bad : "", (unsigned)at + 1);
	return -EINVAL;
}

static int32_t patterns_take(struct keel_mod *mod, const struct conf *conf, struct keel_err *err)
{
	struct state *st = mod->state;
	const char *bad;
	size_t at;
	struct scope *s = scope_of(conf, &bad, &at);

	if (!s)
		return keel_error(err, -ENOMEM, "out of memory");
	scope_destroy(st->scope);
	st->scope = s;
	return 0;
}

/* ---- module ------------------------------------------------------------------------------------------- */

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	if (!job_queue || !job_euser || !job_exec_host || !queue_kill_delay)
		return keel_error(err, -1, "there are no jobs and queues; are their modules enabled?");
	return patterns_take(mod, mod->conf, err);
}

static int32_t reconf(struct keel_mod *mod, const void *now, struct keel_err *err)
{
	return patterns_take(mod, now, err);
}

/* Victims being deleted have callbacks into this module. */
static int32_t busy(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	return st->leaving ? keel_error(err, -EBUSY, "%u jobs are being deleted; try again",
					st->leaving)
			   : 0;
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	scope_destroy(st->scope);
	st->scope = NULL;
}

/* Without the module preemption the PREEMPT row has no kind and stays pending. */
KEEL_MODULE(.name = "delete-preemption", .version = "1.0", .vendor = "Keelson",
	    .summary = "preempt jobs by deletion", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .check = check, .init = init,
	    .reconf = reconf, .busy = busy, .fini = fini);
