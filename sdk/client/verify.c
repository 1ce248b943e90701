/* SPDX-License-Identifier: Apache-2.0
 *
 * verify.c - checks attribute values before they are sent.
 */
#include "verify.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "connection.h"
#include "error_text.h"
#include "pbs_error.h"
#include "refused.h"

#define TEXT_SIZE 512

struct rule {
	const char *name;
	check_fn *check;
};

static const struct rule job_rules[] = {
	{ ATTR_N, check_job_name },
	{ ATTR_o, check_path },
	{ ATTR_e, check_path },
	{ ATTR_depend, check_depend },
	{ ATTR_h, check_holds },
	{ ATTR_j, check_join },
	{ ATTR_k, check_keep },
	{ ATTR_R, check_remove },
	{ ATTR_m, check_mail_points },
	{ ATTR_M, check_mail_users },
	{ ATTR_u, check_users },
	{ ATTR_g, check_users },
	{ ATTR_S, check_shells },
	{ ATTR_c, check_checkpoint },
	{ ATTR_p, check_priority },
	{ ATTR_runcount, check_count },
	{ ATTR_max_run_subjobs, check_count },
	{ ATTR_J, check_array_range },
	{ ATTR_sandbox, check_sandbox },
	{ ATTR_stagein, check_stage },
	{ ATTR_stageout, check_stage },
	{ ATTR_project, check_project },
	{ ATTR_tolerate_node_failures, check_tolerate },
	{ ATTR_state, check_job_state },
	{ ATTR_r, check_bool },
	{ ATTR_relnodes_on_stageout, check_bool },
	{ ATTR_create_resv_from_job, check_bool },
	{ ATTR_a, check_count },
	{ ATTR_umask, check_count },
	{ NULL, NULL },
};

static const struct rule resv_rules[] = {
	{ ATTR_resv_start, check_count },
	{ ATTR_resv_end, check_count },
	{ ATTR_resv_duration, check_time },
	{ ATTR_m, check_mail_points },
	{ ATTR_M, check_mail_users },
	{ NULL, NULL },
};

static const struct rule server_rules[] = {
	{ ATTR_scheduling, check_bool },
	{ ATTR_managers, check_managers },
	{ ATTR_operators, check_managers },
	{ ATTR_aclhten, check_bool },
	{ ATTR_acluren, check_bool },
	{ ATTR_aclResvhten, check_bool },
	{ ATTR_aclResvgren, check_bool },
	{ ATTR_aclResvuren, check_bool },
	{ ATTR_queryother, check_bool },
	{ ATTR_ResvEnable, check_bool },
	{ ATTR_FlatUID, check_bool },
	{ ATTR_EligibleTimeEnable, check_bool },
	{ ATTR_JobHistoryEnable, check_bool },
	{ ATTR_JobHistoryDuration, check_time },
	{ ATTR_job_requeue_timeout, check_time },
	{ ATTR_schediteration, check_long },
	{ ATTR_NodeFailReq, check_long },
	{ ATTR_logevents, check_long },
	{ ATTR_maxrun, check_long },
	{ ATTR_maxuserrun, check_long },
	{ ATTR_maxgrprun, check_long },
	{ ATTR_maxarraysize, check_long },
	{ ATTR_jobscript_max_size, check_size },
	{ ATTR_max_job_sequence_id, check_sequence_id },
	{ ATTR_rpp_retry, check_count },
	{ ATTR_rpp_highwater, check_positive },
	{ ATTR_rpp_max_pkt_check, check_positive },
	{ ATTR_license_min, check_license_min },
	{ ATTR_license_max, check_license_max },
	{ ATTR_license_linger, check_license_linger },
	{ NULL, NULL },
};

static const struct rule queue_rules[] = {
	{ ATTR_qtype, check_queue_type },
	{ ATTR_enable, check_bool },
	{ ATTR_start, check_bool },
	{ ATTR_aclhten, check_bool },
	{ ATTR_acluren, check_bool },
	{ ATTR_aclgren, check_bool },
	{ ATTR_fromroute, check_bool },
	{ ATTR_routeheld, check_bool },
	{ ATTR_routewait, check_bool },
	{ ATTR_p, check_priority },
	{ ATTR_maxque, check_long },
	{ ATTR_maxrun, check_long },
	{ ATTR_maxuserrun, check_long },
	{ ATTR_maxgrprun, check_long },
	{ ATTR_maxarraysize, check_long },
	{ ATTR_killdelay, check_long },
	{ ATTR_routeretry, check_long },
	{ ATTR_routelife, check_long },
	{ ATTR_backfill_depth, check_long },
	{ NULL, NULL },
};

static const struct rule node_rules[] = {
	{ ATTR_NODE_resv_enable, check_bool },
	{ ATTR_NODE_NoMultiNode, check_bool },
	{ ATTR_NODE_No_Tasks, check_bool },
	{ ATTR_p, check_priority },
	{ ATTR_NODE_Port, check_count },
	{ NULL, NULL },
};

static const struct rule sched_rules[] = {
	{ ATTR_preempt_prio, check_preempt_prio },
	{ ATTR_preempt_order, check_preempt_order },
	{ ATTR_preempt_sort, check_preempt_sort },
	{ ATTR_scheduling, check_bool },
	{ ATTR_schediteration, check_long },
	{ ATTR_throughput_mode, check_bool },
	{ ATTR_do_not_span_psets, check_bool },
	{ ATTR_only_explicit_psets, check_bool },
	{ ATTR_sched_preempt_enforce_resumption, check_bool },
	{ ATTR_preempt_targets_enable, check_bool },
	{ ATTR_sched_cycle_len, check_time },
	{ ATTR_job_sort_formula_threshold, check_float },
	{ ATTR_logevents, check_long },
	{ NULL, NULL },
};

static const struct rule no_rules[] = { { NULL, NULL } };

/* Attributes whose parts are resources, with plain values of the resource's type. */
static const char *const resource_groups[] = {
	ATTR_l,	       ATTR_rescavail, ATTR_rescassn, ATTR_rescdflt, ATTR_rescmax,
	ATTR_rescmin, ATTR_DefaultChunk, ATTR_used, NULL,
};

static bool is_resource_group(const char *name)
{
	for (const char *const *g = resource_groups; *g != NULL; g++)
		if (strcmp(*g, name) == 0)
			return true;
	return false;
}

static bool may_be_empty(enum verify_for what, const char *name)
{
	return what == VERIFY_ALTER || what == VERIFY_MANAGE ||
	       (what == VERIFY_SUBMIT && strcmp(name, ATTR_A) == 0); /* any string */
}

static int rule_apply(const struct rule *rules, const char *name, const char *value,
		      enum verify_for what)
{
	for (; rules->name != NULL; rules++)
		if (strcmp(rules->name, name) == 0)
			return rules->check(value, what);
	return 0;
}

/* Requests in which `op` counts; submitting and altering jobs always sets. */
static bool is_operator(enum verify_for what, enum batch_op op)
{
	if (what == VERIFY_SELECT)
		return op >= EQ && op <= LT;
	return (what != VERIFY_MANAGE && what != VERIFY_NAMES) || op <= DECR;
}

static int attribute_check(const struct rule *rules, enum verify_for what, const struct attropl *a)
{
	if (!is_operator(what, a->op))
		return PBSE_BADATVAL;
	if (what == VERIFY_NAMES)
		return 0;
	if (a->name == NULL || *a->name == '\0')
		return PBSE_NOATTR;
	if (what == VERIFY_MANAGE && a->op == UNSET)
		return 0;
	if (a->value == NULL || *a->value == '\0')
		return may_be_empty(what, a->name) ? 0 : PBSE_BADATVAL;
	if (a->resource != NULL && *a->resource != '\0')
		return is_resource_group(a->name) && *a->value != '@'
			       ? check_resource(a->resource, a->value)
			       : 0;
	return rule_apply(rules, a->name, a->value, what);
}

/* Is it a select with a wrong value in a chunk? `name`: of which resource. */
static bool is_bad_chunk(const struct attropl *a, char name[RESOURCE_NAME_MAX])
{
	return a->resource != NULL && strcmp(a->resource, "select") == 0 && a->value != NULL &&
	       select_check(a->value, name) != 0 && *name != '\0';
}

/* "<text> <attribute>[.<resource>]", and "<text>: <resource>" of a chunk */
static void error_note(struct connection *conn, int code, const struct attropl *a)
{
	const char *words = error_text(code);
	bool parted = a->resource != NULL && *a->resource != '\0';
	char text[TEXT_SIZE], name[RESOURCE_NAME_MAX];

	if (is_bad_chunk(a, name))
		snprintf(text, sizeof(text), "%s: %s", words == NULL ? "" : words, name);
	else
		snprintf(text, sizeof(text), "%s %s%s%s", words == NULL ? "" : words,
		 a->name == NULL ? "" : a->name, parted ? "." : "", parted ? a->resource : "");
	connection_fail(conn, code, text);
}

static int verify_by(int c, const struct rule *rules, enum verify_for what,
		     const struct attropl *list)
{
	struct connection *conn = connection_find(c);
	int first = 0, code;

	if (conn == NULL)
		return connection_fail_code(NULL, PBSE_IVALREQ);
	connection_clear(conn);
	for (const struct attropl *a = list; a != NULL; a = a->next) {
		code = attribute_check(rules, what, a);
		if (code == 0)
			continue;
		refused_add(&conn->refused, a, code, error_text(code));
		if (first == 0)
			error_note(conn, first = code, a);
	}
	return first;
}

int verify(int c, enum verify_for what, const struct attropl *list)
{
	return verify_by(c, what == VERIFY_RESV ? resv_rules : job_rules, what, list);
}

static const struct rule *object_rules(int obj)
{
	switch (obj) {
	case MGR_OBJ_SERVER:
		return server_rules;
	case MGR_OBJ_QUEUE:
		return queue_rules;
	case MGR_OBJ_NODE:
	case MGR_OBJ_HOST:
		return node_rules;
	case MGR_OBJ_SCHED:
		return sched_rules;
	default:
		return no_rules;
	}
}

int verify_manager(int c, int cmd, int obj, const struct attropl *list)
{
	bool sets = cmd == MGR_CMD_SET || cmd == MGR_CMD_CREATE;

	return sets ? verify_by(c, object_rules(obj), VERIFY_MANAGE, list) :
		      verify_by(c, no_rules, VERIFY_NAMES, list);
}
