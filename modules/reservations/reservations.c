/* SPDX-License-Identifier: Apache-2.0
 *
 * reservations.c - times on vnodes that are promised to people: what this module brings.
 */
#include "reservations.h"

KEEL_USE(acct);
KEEL_USE(job);
KEEL_USE(node);
KEEL_USE(queue);
KEEL_USE(resource);
KEEL_USE(sched);

KEEL_ATTRS_OF(job, reserve_ID, queue);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(INT, struct conf, standing_max, .fallback = "2000", .min = 1, .max = 100000,
		       .doc = "how many occurrences a standing reservation may have"),
};

#define REQUEST(text, fn, n, flag_bits, words)                                                                         \
	{ .size = sizeof(struct keel_request_def), .roles = KEEL_EVERYBODY, .name = (text), .doc = (words),           \
	  .handler = (fn), .number = (n), .flags = (flag_bits) }
static const struct keel_request_def submit_row = REQUEST("resv_submit", on_resv_submit, 70, KEEL_REQUEST_WAITS,
							  "make a reservation");
static const struct keel_request_def delete_row = REQUEST("resv_delete", on_resv_delete, 72, 0, "delete a reservation");
static const struct keel_request_def confirm_row = REQUEST("resv_confirm", on_resv_confirm, 75, 0,
							   "give a reservation its vnodes");
static const struct keel_request_def alter_row = REQUEST("resv_alter", on_resv_alter, 91, KEEL_REQUEST_WAITS,
							 "alter a reservation");
static const struct keel_request_def wait_row = REQUEST("resv_wait", on_resv_wait, 70, KEEL_REQUEST_WAITS,
							"wait for the decision about a reservation");

static const struct keel_contrib contribs[] = {
	KEEL_ROW(CLASS, resv_class),
	KEEL_ROW(TYPE, resv_state_type),
	KEEL_ROW(TYPE, resv_seconds_type),
	KEEL_ROW(KIND, resv_kind_kind),
	KEEL_ROW(KIND, resv_substate_kind),
	KEEL_ROW(SERVICE, resv_service),
	KEEL_ROW(REQUEST, submit_row),
	KEEL_ROW(REQUEST, delete_row),
	KEEL_ROW(REQUEST, confirm_row),
	KEEL_ROW(REQUEST, alter_row),
	KEEL_ROW(REQUEST, wait_row),
	KEEL_ROW(REQUEST, explain_row),
	KEEL_ROW(NODE_STATE, resv_exclusive_row),
#define TERM(i) KEEL_ROW(TERM, record_terms[i])
	TERM(0), TERM(1), TERM(2), TERM(3), TERM(4), TERM(5), TERM(6), TERM(7),
	TERM(8), TERM(9), TERM(10), TERM(11), TERM(12), TERM(13), TERM(14), TERM(15),
	KEEL_ROW(ACCT_ITEM, item_name),
	KEEL_ROW(ACCT_ITEM, item_id),
	KEEL_ROW(ATTR, node_attr_resv),
	KEEL_ROW(ATTR, job_attr_reserve_ID),
	KEEL_ROW(ATTR, job_attr_reserve_name),
	KEEL_ROW(ATTR, job_attr_create_resv_from_job),
#define RESV(attr, ...) KEEL_ROW(ATTR, resv_attr_##attr),
#include "resv.def"
#undef RESV
#define SERVER(attr, ...) KEEL_ROW(ATTR, server_attr_##attr),
#include "server.def"
#undef SERVER
};

/* ---- jobs that leave a reservation -------------------------------------------------------------------------------- */

static void left(struct keel_mod *mod, const char *queue)
{
	struct keel_obj *resv = queue ? resv_of_queue(mod, queue) : NULL;

	if (resv)
		job_left(mod, resv);
}

static keel_verdict on_job_purged(struct keel_call *c, const struct keel_ev_job_purged *ev)
{
	if (ev->job)
		left(c->mod, keel_get_str(ev->job, job_queue));
	return KEEL_NEXT;
}

static keel_verdict on_job_moved(struct keel_call *c, const struct keel_ev_job_moved *ev)
{
	if (ev->job)
		job_follows(c->mod, ev->job);
	left(c->mod, ev->from);
	return KEEL_NEXT;
}

static keel_verdict on_job_started(struct keel_call *c, const struct keel_ev_job_started *ev)
{
	if (ev->job)
		specific_started(c->mod, ev->job);
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(management, queue_management),
	KEEL_TAP(job_submit, on_job_submit),
	KEEL_TAP(job_modify, on_job_modify),
	KEEL_TAP(job_move, on_job_move),
	KEEL_TAP(job_moved, on_job_moved),
	KEEL_TAP(start_now, on_start_now),
	KEEL_TAP(job_started, on_job_started),
	KEEL_TAP(job_purged, on_job_purged),
	KEEL_TAP(node_state, on_node_state),
	KEEL_TAP(resv_submit, again_submit, .order = 800),
	KEEL_TAP(resv_modify, on_resv_modify, .order = 1000),
	KEEL_TAP(node_delete, on_node_delete),
};

/* ---- module --------------------------------------------------------------------------------------------------------- */

/* Jobs find their holder when jobs counts them in, which is before our start(). */
static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_slot_bind(mod, "resv", sizeof(struct resv), resv_slot_fini))
		return keel_error(err, -1, "no memory for reservations");
	if (keel_can(node, on_holder))
		keel_node_on_holder(mod, holder_of);
	return 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	int32_t code = resv_replay(mod, err);

	if (!code && keel_can(sched, on_cycle))
		keel_sched_on_cycle(mod, search_begin);
	return code;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->stopping = true;
	search_drop(mod);
	sweeps_drop(mod);
	keel_alarm_end(&st->patience);
	denied_forget(mod);
	if (keel_can(sched, on_cycle))
		keel_sched_on_cycle(mod, NULL);
	if (keel_can(node, on_holder))
		keel_node_on_holder(mod, NULL);
}

static const char *const requires_modules[] = { "accounting", "jobs", "manager", "nodes", "queues", "resources", "scheduler",
						NULL };

KEEL_MODULE(.name = "reservations", .version = "1.0", .vendor = "Keelson",
	    .summary = "times on vnodes that are promised to people", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps),
	    .requires_modules = requires_modules, .init = init, .start = start, .stop = stop);
