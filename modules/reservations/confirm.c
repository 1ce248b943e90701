/* SPDX-License-Identifier: Apache-2.0
 *
 * confirm.c - a reservation has its vnodes, or gets none: by the scheduler's search, by the module of its kind, or by
 * pbs_confirmresv.
 */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(resv, partition, queue, reserve_rules, reserve_start, reserve_end, reserve_count, resv_nodes);
KEEL_ATTR_OPT(queue, partition);
KEEL_ATTR_OF(queue, enabled);

#define PARTITION "pbs-default"

/* ---- confirmed -------------------------------------------------------------------------------------- */

static void partition_set(struct keel_mod *mod, struct keel_obj *resv)
{
	const char *name = keel_get_str(resv, resv_queue);
	struct keel_obj *queue = name ? keel_find(mod, "queue", name) : NULL;

	if (!keel_is_set(resv, resv_partition))
		keel_set_str(resv, resv_partition, PARTITION);
	if (queue && queue_partition && !keel_is_set(queue, queue_partition))
		keel_set_str(queue, queue_partition, keel_get_str(resv, resv_partition));
}

static void found_again(struct keel_obj *resv)
{
	const int64_t rules = keel_get_int(resv, resv_reserve_rules);

	retry_clear(resv);
	keel_set_int(resv, resv_reserve_rules, rules & ~(int64_t)(RULE_LOST | RULE_SOON));
}

/* A queue that had been stopped, because nothing was left of its vnodes, is started again. */
static void settle(struct keel_mod *mod, struct keel_obj *resv, int32_t state)
{
	const char *name = keel_get_str(resv, resv_queue);
	struct keel_obj *queue = name ? keel_find(mod, "queue", name) : NULL;

	if (state != KEEL_RESV_RUNNING) {
		resv_to(mod, resv, KEEL_RESV_CONFIRMED, KEEL_RESV_CONFIRMED);
		if (queue && !keel_get_int(queue, queue_enabled))
			queue_enable(mod, resv, true);
		return;
	}
	resv_to(mod, resv, KEEL_RESV_RUNNING, KEEL_RESV_RUNNING);
	if (!queue_is_started(mod, resv))
		queue_start(mod, resv, true);
	keel_sched_reconsider();
}

static void note_confirmed(struct keel_mod *mod, struct keel_obj *resv, const char *who, bool first)
{
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "Reservation confirmed");
	record_confirm(mod, resv, who);
	if (first)
		letter_send(mod, resv, 'c', NULL);
	keel_note(mod, KEEL_POINT_resv_confirm, KEEL_EVENT(resv_confirm, .id = keel_id(resv), .resv = resv));
	if (!specific_moves(resv))
		askers_answer(mod, resv, "CONFIRMED");
}

void resv_confirmed(struct keel_mod *mod, struct keel_obj *resv, const char *who, const char *const *nodes, uint32_t n)
{
	const int32_t state = resv_state(resv);
	const bool first = state == KEEL_RESV_UNCONFIRMED;

	if (state == KEEL_RESV_BEING_ALTERED) {
		alter_done(mod, resv, nodes, n);
		return;
	}
	if (spans_place(mod, resv, nodes, n)) {
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "no memory for its vnodes; it is searched again");
		return;
	}
	found_again(resv);
	partition_set(mod, resv);
	settle(mod, resv, state);
	spans_block(mod, resv);
	note_confirmed(mod, resv, who, first);
	clock_set(mod, resv);
	if (first)
		specific_confirmed(mod, resv);
}

void resv_denied(struct keel_mod *mod, struct keel_obj *resv, const char *why)
{
	char who[300];

	snprintf(who, sizeof(who), "Scheduler@%s", keel_host_name(mod));
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "Reservation denied");
	record_remove(mod, resv, who);
	denied_remember(mod, keel_id(resv), why);
	letter_send(mod, resv, 'a', why);
	askers_answer(mod, resv, "DENIED");
	resv_close(mod, resv, who);
}

/* ---- pbs_confirmresv -------------------------------------------------------------------------------- */

/* What the request says about each time. */
struct location {
	char **nodes;
	uint32_t n;
};

static void location_fini(struct location *l)
{
	for (uint32_t i = 0; l->nodes && i < l->n; i++)
		free(l->nodes[i]);
	free(l->nodes);
}

static int32_t location_range(void *arg, const char *set, size_t len, uint32_t first, uint32_t last)
{
	struct location *l = arg;

	for (uint32_t i = first; i <= last; i++) {
		free(l->nodes[i]);
		l->nodes[i] = strndup(set, len);
		if (!l->nodes[i])
			return -ENOMEM;
	}
	return 0;
}

/* Vnodes that there are, with resources that there are. */
static bool nodes_exist(struct keel_mod *mod, const char *nodes)
{
	struct keel_exec *exec;
	bool ok = nodes && *nodes == '(' && nodes[strlen(nodes) - 1] == ')' && keel_resource_exec_parse(nodes, &exec, NULL) == 0;

	if (!ok)
		return false;
	for (uint32_t i = 0; i < exec->n && ok; i++)
		ok = keel_find(mod, "node", exec->part[i].vnode) != NULL;
	ok = ok && exec->n > 0;
	keel_resource_exec_free(exec);
	return ok;
}

/* 0, or a PBSE code. */
static int32_t location_read(struct keel_mod *mod, struct keel_obj *resv, const char *text, struct location *l)
{
	const struct resv *r = resv_slot(mod, resv);
	int32_t ret;

	l->n = r->n_spans;
	l->nodes = calloc(l->n, sizeof(*l->nodes));
	if (!l->nodes)
		return PBSE_SYSTEM;
	ret = strchr(text, '#') ? sequence_each(text, l->n, location_range, l)
				: l->n > 1 ? -EINVAL : location_range(l, text, strlen(text), 0, 0);
	for (uint32_t i = 0; i < l->n && !ret; i++)
		if (!nodes_exist(mod, l->nodes[i]))
			ret = -EINVAL;
	return ret == -ENOMEM ? PBSE_SYSTEM : ret ? PBSE_BADNODESPEC : 0;
}

static bool has_these(struct keel_mod *mod, struct keel_obj *resv, const struct location *l)
{
	const struct resv *r = resv_slot(mod, resv);

	for (uint32_t i = 0; i < l->n; i++)
		if (!r->span[i].nodes || strcmp(r->span[i].nodes, l->nodes[i]) != 0)
			return false;
	return true;
}

static bool may_be_confirmed(struct keel_obj *resv)
{
	const int32_t state = resv_state(resv);

	return state == KEEL_RESV_UNCONFIRMED || state == KEEL_RESV_DEGRADED || state == KEEL_RESV_BEING_ALTERED ||
	       (state == KEEL_RESV_RUNNING && resv_substate(resv) != KEEL_RESV_RUNNING);
}

/* `PBS_RESV_CONFIRM_SUCCESS[:partition=name]` */
static void partition_asked(struct keel_obj *resv, const char *extend)
{
	static const char key[] = ":partition=";
	const char *at = strstr(extend, key);

	if (at && at[sizeof(key) - 1] && is_line(at))
		keel_set_str(resv, resv_partition, at + sizeof(key) - 1);
}

static int32_t start_asked(struct keel_mod *mod, struct keel_obj *resv, int64_t start)
{
	const int64_t from = keel_get_int(resv, resv_reserve_start), length = keel_get_int(resv, resv_reserve_end) - from;

	if (start <= 0 || start == from)
		return 0;
	if (start > INT64_MAX - length || start + length <= keel_time(mod) || resv_is_running(resv))
		return PBSE_BADTSPEC;
	span_move(mod, resv, start, start + length);
	return 0;
}

static int32_t confirm_asked(struct keel_mod *mod, struct keel_obj *resv, struct keel_req *req, const char *extend)
{
	const struct keel_msg *body = keel_req_body(req);
	const char *text = keel_msg_str(body, "location");
	struct location l = { 0 };
	int32_t code = location_read(mod, resv, text ? text : "", &l);

	if (!code && has_these(mod, resv, &l) && resv_is_confirmed(resv)) {
		location_fini(&l);
		return 0;
	}
	if (!code && !may_be_confirmed(resv))
		code = PBSE_BADSTATE;
	if (!code)
		code = start_asked(mod, resv, keel_msg_int(body, "start", 0));
	if (!code) {
		search_forget(mod, resv);
		partition_asked(resv, extend);
		resv_confirmed(mod, resv, keel_req_session(req)->who, (const char *const *)l.nodes, l.n);
	}
	location_fini(&l);
	return code;
}

/* It was decided elsewhere that there is no place. */
static int32_t refused(struct keel_mod *mod, struct keel_obj *resv)
{
	static const char why[] = "no place was found";

	if (!may_be_confirmed(resv))
		return PBSE_BADSTATE;
	search_forget(mod, resv);
	if (resv_state(resv) == KEEL_RESV_UNCONFIRMED)
		resv_denied(mod, resv, why);
	else if (resv_state(resv) == KEEL_RESV_BEING_ALTERED)
		alter_denied(mod, resv, why);
	else
		reconfirm_failed(mod, resv, why);
	return 0;
}

void on_resv_confirm(struct keel_mod *mod, struct keel_req *req)
{
	static const char success[] = "PBS_RESV_CONFIRM_SUCCESS", failed[] = "PBS_RESV_CONFIRM_FAIL";
	const struct keel_msg *body = keel_req_body(req);
	const char *id = keel_msg_str(body, "id"), *extend = keel_msg_str(body, "extend");
	struct keel_obj *resv = id ? resv_find(mod, id) : NULL;
	int32_t code = PBSE_resvFail;

	if (!(keel_req_session(req)->roles & KEEL_OPERATORS))
		code = PBSE_PERM;
	else if (!resv)
		code = PBSE_UNKRESVID;
	else if (extend && strncmp(extend, success, sizeof(success) - 1) == 0)
		code = confirm_asked(mod, resv, req, extend);
	else if (extend && strncmp(extend, failed, sizeof(failed) - 1) == 0)
		code = refused(mod, resv);
	keel_reply(req, code, NULL);
}
