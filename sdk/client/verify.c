/* SPDX-License-Identifier: Apache-2.0
 *
 * verify.c - checks attribute values before they are sent.
 */
#include "verify.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "any_case.h"
#include "check.h"
#include "connection.h"
#include "error_text.h"
#include "pbs_error.h"
#include "refused.h"

#define TEXT_SIZE 512

/* The rule of one attribute: a function, words of which the value must be one, whatever the case of the last list, or letters
 * of which it may consist. */
struct rule {
	const char *name;
	check_fn *check;
	int code; /* for a value that is refused; 0: the function's own, else PBSE_BADATVAL */
	const char *letters;
	const char *const *words, *const *any_case;
};
#define LIST(...) (const char *const[]){ __VA_ARGS__, NULL }

static const struct rule job_rules[] = {
	{ ATTR_N, .check = check_job_name },
	{ ATTR_o, .check = check_path },
	{ ATTR_e, .check = check_path },
	{ ATTR_depend, .check = check_depend },
	{ ATTR_h, .check = check_holds },
	{ ATTR_j, .words = LIST("oe", "eo", "n") },
	{ ATTR_k, .check = check_keep },
	{ ATTR_R, .letters = "oe" },
	{ ATTR_m, .check = check_mail_points },
	{ ATTR_M, .check = check_mail_users },
	{ ATTR_u, .check = check_users },
	{ ATTR_g, .check = check_users },
	{ ATTR_S, .check = check_shells },
	{ ATTR_c, .check = check_checkpoint },
	{ ATTR_p, .check = check_priority },
	{ ATTR_runcount, .check = check_count },
	{ ATTR_max_run_subjobs, .check = check_count },
	{ ATTR_J, .check = check_array_range },
	{ ATTR_sandbox, .any_case = LIST("HOME", "PRIVATE", "O_WORKDIR") },
	{ ATTR_stagein, .check = check_stage },
	{ ATTR_stageout, .check = check_stage },
	{ ATTR_project, .check = check_project },
	{ ATTR_tolerate_node_failures, .words = LIST("all", "job_start", "none") },
	{ ATTR_state, .check = check_job_state },
	{ ATTR_r, .check = check_bool },
	{ ATTR_relnodes_on_stageout, .check = check_bool },
	{ ATTR_create_resv_from_job, .check = check_bool },
	{ ATTR_a, .check = check_count },
	{ ATTR_umask, .check = check_count },
	{ .name = NULL },
};

static const struct rule resv_rules[] = {
	{ ATTR_resv_start, .check = check_count },
	{ ATTR_resv_end, .check = check_count },
	{ ATTR_resv_duration, .check = check_time },
	{ ATTR_resv_name, .check = check_resv_name },
	{ ATTR_inter, .check = check_long },
	{ ATTR_del_idle_time, .check = check_time },
	{ ATTR_auth_u, .check = check_names },
	{ ATTR_auth_g, .check = check_names },
	{ ATTR_auth_h, .check = check_names },
	{ ATTR_u, .check = check_users },
	{ ATTR_g, .check = check_users },
	{ ATTR_m, .check = check_mail_points },
	{ ATTR_M, .check = check_mail_users },
	{ .name = NULL },
};

static const struct rule server_rules[] = {
	{ ATTR_scheduling, .check = check_bool },
	{ ATTR_managers, .check = check_managers },
	{ ATTR_operators, .check = check_managers },
	{ ATTR_aclhten, .check = check_bool },
	{ ATTR_acluren, .check = check_bool },
	{ ATTR_aclResvhten, .check = check_bool },
	{ ATTR_aclResvgren, .check = check_bool },
	{ ATTR_aclResvuren, .check = check_bool },
	{ ATTR_queryother, .check = check_bool },
	{ ATTR_ResvEnable, .check = check_bool },
	{ ATTR_FlatUID, .check = check_bool },
	{ ATTR_EligibleTimeEnable, .check = check_bool },
	{ ATTR_JobHistoryEnable, .check = check_bool },
	{ ATTR_JobHistoryDuration, .check = check_time },
	{ ATTR_job_requeue_timeout, .check = check_time },
	{ ATTR_schediteration, .check = check_long },
	{ ATTR_NodeFailReq, .check = check_long },
	{ ATTR_logevents, .check = check_long },
	{ ATTR_maxrun, .check = check_long },
	{ ATTR_maxuserrun, .check = check_long },
	{ ATTR_maxgrprun, .check = check_long },
	{ ATTR_maxarraysize, .check = check_long },
	{ ATTR_jobscript_max_size, .check = check_size },
	{ ATTR_max_job_sequence_id, .check = check_sequence_id },
	{ ATTR_rpp_retry, .check = check_count },
	{ ATTR_rpp_highwater, .check = check_positive },
	{ ATTR_rpp_max_pkt_check, .check = check_positive },
	{ ATTR_license_min, .check = check_count, .code = PBSE_LICENSE_MIN_BADVAL },
	{ ATTR_license_max, .check = check_count, .code = PBSE_LICENSE_MAX_BADVAL },
	{ ATTR_license_linger, .check = check_positive, .code = PBSE_LICENSE_LINGER_BADVAL },
	{ .name = NULL },
};

static const struct rule queue_rules[] = {
	{ ATTR_qtype, .check = check_queue_type },
	{ ATTR_enable, .check = check_bool },
	{ ATTR_start, .check = check_bool },
	{ ATTR_aclhten, .check = check_bool },
	{ ATTR_acluren, .check = check_bool },
	{ ATTR_aclgren, .check = check_bool },
	{ ATTR_fromroute, .check = check_bool },
	{ ATTR_routeheld, .check = check_bool },
	{ ATTR_routewait, .check = check_bool },
	{ ATTR_p, .check = check_priority },
	{ ATTR_maxque, .check = check_long },
	{ ATTR_maxrun, .check = check_long },
	{ ATTR_maxuserrun, .check = check_long },
	{ ATTR_maxgrprun, .check = check_long },
	{ ATTR_maxarraysize, .check = check_long },
	{ ATTR_killdelay, .check = check_long },
	{ ATTR_routeretry, .check = check_long },
	{ ATTR_routelife, .check = check_long },
	{ ATTR_backfill_depth, .check = check_long },
	{ .name = NULL },
};

static const struct rule node_rules[] = {
	{ ATTR_NODE_resv_enable, .check = check_bool },
	{ ATTR_NODE_NoMultiNode, .check = check_bool },
	{ ATTR_NODE_No_Tasks, .check = check_bool },
	{ ATTR_p, .check = check_priority },
	{ ATTR_NODE_Port, .check = check_count },
	{ .name = NULL },
};

static const struct rule sched_rules[] = {
	{ ATTR_preempt_prio, .check = check_preempt_prio },
	{ ATTR_preempt_order, .check = check_preempt_order },
	{ ATTR_preempt_sort, .any_case = LIST("min_time_since_start") },
	{ ATTR_scheduling, .check = check_bool },
	{ ATTR_schediteration, .check = check_long },
	{ ATTR_throughput_mode, .check = check_bool },
	{ ATTR_do_not_span_psets, .check = check_bool },
	{ ATTR_only_explicit_psets, .check = check_bool },
	{ ATTR_sched_preempt_enforce_resumption, .check = check_bool },
	{ ATTR_preempt_targets_enable, .check = check_bool },
	{ ATTR_sched_cycle_len, .check = check_time },
	{ ATTR_job_sort_formula_threshold, .check = check_float },
	{ ATTR_logevents, .check = check_long },
	{ .name = NULL },
};

static const struct rule no_rules[] = { { .name = NULL } };

/* Attributes whose parts are resources, with plain values of the resource's type. */
static const char *const resource_groups[] = {
	ATTR_l,	       ATTR_rescavail, ATTR_rescassn, ATTR_rescdflt, ATTR_rescmax,
	ATTR_rescmin, ATTR_DefaultChunk, ATTR_used, NULL,
};

static int rule_apply(const struct rule *r, const char *value, enum verify_for what)
{
	int code = 0;

	if (r->check != NULL)
		code = r->check(value, what);
	else if (r->letters != NULL)
		code = value[strspn(value, r->letters)] == '\0' ? 0 : PBSE_BADATVAL;
	else
		for (const char *const *w = r->words != NULL ? r->words : r->any_case;; w++) {
			if (*w == NULL)
				return PBSE_BADATVAL;
			if (r->words != NULL ? strcmp(*w, value) == 0 : same_word(*w, value))
				break;
		}
	return code != 0 && r->code != 0 ? r->code : code;
}

static int value_check(const struct rule *rules, enum verify_for what, const struct attropl *a)
{
	if (a->resource != NULL && *a->resource != '\0') {
		for (const char *const *g = resource_groups; *g != NULL && *a->value != '@'; g++)
			if (strcmp(*g, a->name) == 0)
				return check_resource(a->resource, a->value);
		return 0;
	}
	for (; rules->name != NULL; rules++)
		if (strcmp(rules->name, a->name) == 0)
			return rule_apply(rules, a->value, what);
	return 0;
}

/* Returns 0 or the error of one attribute. The operator counts for managers and in select; else it always sets. */
static int attribute_check(const struct rule *rules, enum verify_for what, const struct attropl *a)
{
	if (what == VERIFY_SELECT ? a->op < EQ || a->op > LT :
				    (what == VERIFY_MANAGE || what == VERIFY_NAMES) && a->op > DECR)
		return PBSE_BADATVAL;
	if (what == VERIFY_NAMES)
		return 0;
	if (a->name == NULL || *a->name == '\0')
		return PBSE_NOATTR;
	if (what == VERIFY_MANAGE && a->op == UNSET)
		return 0;
	if (a->value != NULL && *a->value != '\0')
		return value_check(rules, what, a);
	if (what == VERIFY_ALTER || what == VERIFY_MANAGE || (what == VERIFY_RESV_ALTER && strcmp(a->name, ATTR_auth_g) == 0) ||
	    (what == VERIFY_SUBMIT && strcmp(a->name, ATTR_A) == 0)) /* any text, also an empty one */
		return 0;
	return PBSE_BADATVAL;
}

/* "<text> <attribute>[.<resource>]", and "<text>: <resource>" of a chunk */
static void error_note(struct connection *conn, int code, const struct attropl *a)
{
	const char *words = error_text(code);
	bool parted = a->resource != NULL && *a->resource != '\0';
	char text[TEXT_SIZE], name[RESOURCE_NAME_MAX];

	if (parted && strcmp(a->resource, "select") == 0 && a->value != NULL && select_check(a->value, name) != 0 &&
	    *name != '\0')
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
	return verify_by(c, what == VERIFY_RESV || what == VERIFY_RESV_ALTER ? resv_rules : job_rules, what, list);
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
