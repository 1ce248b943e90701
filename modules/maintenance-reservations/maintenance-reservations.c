/* SPDX-License-Identifier: Apache-2.0
 *
 * maintenance-reservations.c - whole hosts for maintenance, whatever else is planned there: pbs_rsub --hosts.
 *
 * A kind of reservation (RESV_KIND M) and a substate of those that lose vnodes to it:
 *   resv_confirm  a window takes its vnodes from others; one that was altered into a window loses them
 *   resv_begin    its action, and the first look at hosts in turn
 *   resv_end      what it took is searched anew; suspended jobs go on
 *   resv_submit   other kinds have no such attributes
 *
 * Its begin, its end and that its hosts are closed meanwhile is done by reservations, also without this module.
 */
#include "maintenance.h"

KEEL_USE(job);
KEEL_USE(node);
KEEL_USE(resource);
KEEL_USE(resv);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(DURATION, struct conf, health_interval, .fallback = "60s", .min = 100, .max = 86400000,
		       .doc = "until hosts of a window are looked at, and again where one is not well"),
	KEEL_CONF_RULE(DURATION, struct conf, health_timeout, .fallback = "60s", .min = 100, .max = 3600000,
		       .doc = "what the program that looks may take for a host"),
	KEEL_CONF_RULE(STRING, struct conf, health_user, .fallback = "",
		       .doc = "user of that program where the daemon is root; \"\": nobody"),
};

static const struct keel_resv_substate_def in_conflict = {
	.size = sizeof(struct keel_resv_substate_def),
	.number = IN_CONFLICT,
	.code = "IC",
	.name = "RESV_IN_CONFLICT",
	.doc = "a maintenance window has taken vnodes of it",
};

static const struct keel_contrib contribs[] = {
	KEEL_ROW(RESV_KIND, kind_row),
	KEEL_ROW(RESV_SUBSTATE, in_conflict),
	KEEL_ROW(ATTR, attr_action),
	KEEL_ROW(ATTR, attr_rolling),
	KEEL_ROW(ATTR, attr_health),
	KEEL_ROW(ATTR, attr_at),
	KEEL_ROW(ATTR, attr_comment),
	KEEL_ROW(ATTR, attr_acted),
};

static const struct keel_tap taps[] = {
	KEEL_TAP(resv_submit, on_resv_submit),
	KEEL_TAP(resv_begin, on_resv_begin),
	KEEL_TAP(resv_confirm, on_resv_confirm),
	KEEL_TAP(resv_end, on_resv_end),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_slot_bind(mod, "resv", sizeof(struct window), window_fini))
		return keel_error(err, -1, "no memory for maintenance windows");
	return 0;
}

/* reservations has made its times and queues again before: it is started first. */
static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	int32_t failed = conflicts_again(mod, err);

	if (!failed)
		actions_left_later(mod, 5000); /* hosts are linked by then, or it is tried again */
	return failed;
}

static void stop(struct keel_mod *mod)
{
	const struct state *st = mod->state;

	for (struct window *w = st->windows; w; w = w->next)
		rolling_end(w);
	actions_drop(mod);
}

static const char *const requires_modules[] = { "jobs", "nodes", "reservations", "resources", NULL };

KEEL_MODULE(.name = "maintenance-reservations", .version = "1.0", .vendor = "Keelson",
	    .summary = "maintenance windows on whole hosts", .roles = KEEL_SERVER, .state_size = sizeof(struct state),
	    KEEL_CONF(struct conf, rules), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .requires_modules = requires_modules, .init = init, .start = start,
	    .stop = stop);
