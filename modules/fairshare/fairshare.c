/* SPDX-License-Identifier: Apache-2.0
 *
 * fairshare.c - jobs of entities that have used less of their share go first.
 *
 *   job_placed, job_purged, job_known   which jobs run, and what they have used in the end
 *   start_group                      an entity without any share may be refused
 *   cycle_begin                         settings and the file of shares are read again when they changed;
 *                                       what runs is charged
 *   job_explain                         share and usage of a job's entity
 */
#include "fairshare.h"

KEEL_USE(resource);
KEEL_USE(job);
KEEL_USE_OPT(sched);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(BOOL, struct conf, fair_share, .fallback = "false",
		       .doc = "usage is counted and orders jobs"),
	KEEL_CONF_RULE(STRING, struct conf, resource_group, .fallback = "sched_priv/resource_group",
		       .doc = "file of groups and shares, from PBS_HOME"),
	KEEL_CONF_RULE(STRING, struct conf, fairshare_usage_res, .fallback = "cput",
		       .doc = "what is counted: a resource, or a product of some (ncpus*walltime)"),
	KEEL_CONF_RULE(STRING, struct conf, fairshare_entity, .fallback = "euser",
		       .doc = "who is charged: euser, egroup, egroup:euser, Account_Name, queue"),
	KEEL_CONF_RULE(STRING, struct conf, fairshare_decay_time, .fallback = "24:00:00",
		       .doc = "how often usage decays"),
	KEEL_CONF_RULE(STRING, struct conf, fairshare_decay_factor, .fallback = "0.5",
		       .doc = "to what part, between 0 and 1"),
	KEEL_CONF_RULE(STRING, struct conf, unknown_shares, .fallback = "0",
		       .doc = "shares of everybody together whom the file does not name"),
	KEEL_CONF_RULE(BOOL, struct conf, fairshare_enforce_no_shares, .fallback = "false",
		       .doc = "jobs of entities without a share do not start"),
	KEEL_CONF_RULE(DURATION, struct conf, usage_interval, .fallback = "30s", .min = 100,
		       .max = 86400000, .doc = "between charges of running jobs"),
};

static const struct keel_class_def share_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE,
	.name = "share",
	.doc = "an entity and what it has used",
};
static const struct keel_class_def state_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE,
	.name = "fairshare",
	.doc = "when usage decayed last",
};
static const struct keel_attr_def attrs[] = {
	KEEL_ATTR_DEF("share", "usage", "string", .flags = KEEL_ATTR_SAVE, .doc = "in units of fairshare"),
	KEEL_ATTR_DEF("fairshare", "unit", "string", .flags = KEEL_ATTR_SAVE,
		      .doc = "what a unit of usage is worth today"),
	KEEL_ATTR_DEF("fairshare", "decayed", "long", .flags = KEEL_ATTR_SAVE,
		      .doc = "when it changed last"),
	KEEL_ATTR_DEF("job", "fairshare_charged", "string", .order = 940, .flags = KEEL_ATTR_SAVE,
		      .doc = "usage of this run that was charged"),
};

static const struct keel_fairshare_api service = {
	.size = sizeof(struct keel_fairshare_api),
	.over_share = over_share,
};
static const struct keel_service_def service_def = {
	.size = sizeof(struct keel_service_def),
	.name = "fairshare",
	.doc = "who has used more than his share",
	.table = &service,
};

static const struct keel_contrib contribs[] = {
	KEEL_ROW(CLASS, share_class),   KEEL_ROW(CLASS, state_class),	  KEEL_ROW(ATTR, attrs[0]),
	KEEL_ROW(ATTR, attrs[1]),	     KEEL_ROW(ATTR, attrs[2]),	  KEEL_ROW(ATTR, attrs[3]),
	KEEL_ROW(JOB_KEY, job_keys[0]), KEEL_ROW(JOB_KEY, job_keys[1]), KEEL_ROW(JOB_KEY, job_keys[2]),
	KEEL_ROW(JOB_KEY, job_keys[3]), KEEL_ROW(JOB_KEY, job_keys[4]), KEEL_ROW(SERVICE, service_def),
	KEEL_ROW(REQUEST, fairshare_request),
};

/* ---- which jobs run ----------------------------------------------------------------------------------- */

static keel_verdict on_placed(struct keel_call *c, const struct keel_ev_job_placed *ev)
{
	if (ev->job)
		job_enter(c->mod, ev->job, keel_job_state(ev->job) == 'Q');
	return KEEL_NEXT;
}

static keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	if (keel_job_state(ev->job) == 'R')
		job_enter(c->mod, ev->job, false);
	return KEEL_NEXT;
}

static keel_verdict on_cycle_begin(struct keel_call *c, const struct keel_ev_cycle_begin *ev)
{
	struct state *st = keel_state(c);

	(void)ev;
	rules_read(c->mod);
	usage_now(c->mod);
	tree_settle(&st->tree);
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_placed, on_placed),
	KEEL_TAP(job_purged, on_purged),
	KEEL_TAP(job_known, on_known),
	KEEL_TAP(cycle_begin, on_cycle_begin),
	KEEL_TAP(start_group, on_start_group, .order = 200),
	KEEL_TAP(job_explain, on_explain),
};

/* ---- module -------------------------------------------------------------------------------------------- */

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	st->unit = 1;
	if (keel_slot_bind(mod, "job", sizeof(struct running), running_fini))
		return keel_error(err, -1, "cannot attach to class job");
	return tree_init(&st->tree) ? keel_error(err, -1, "out of memory") : 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)err;
	stock_load(mod);
	rules_read(mod);
	tree_settle(&st->tree);
	decay_plan(mod);
	usage_start(mod);
	return 0;
}

/* The new configuration is in force. */
static void reconfigured(struct keel_mod *mod, void *arg)
{
	(void)arg;
	rules_read(mod);
	usage_start(mod);
}

static int32_t reconf(struct keel_mod *mod, const void *now, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)now, (void)err;
	st->file.size = -1; /* another file, perhaps */
	keel_defer(mod, reconfigured, NULL);
	return 0;
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	tree_fini(&st->tree);
	free(st->rules.usage_res);
}

static const char *const requires_modules[] = { "jobs", NULL };

KEEL_MODULE(.name = "fairshare", .version = "1.0", .vendor = "Keelson",
	    .summary = "who has used less of his share goes first", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .requires_modules = requires_modules,
	    .init = init, .start = start, .reconf = reconf, .stop = usage_stop, .fini = fini);
