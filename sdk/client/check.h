/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h - rules for single values. Each returns 0 or a PBSE number; `value` is never NULL or "".
 */
#ifndef CLIENT_CHECK_H
#define CLIENT_CHECK_H

#include <stdbool.h>

#include "pbs_error.h"
#include "verify.h"

typedef int check_fn(const char *value, enum verify_for what);

static inline int judge(bool fine)
{
	return fine ? 0 : PBSE_BADATVAL;
}

/* Plain types (check_value.c). */
check_fn check_bool, check_long, check_count, check_positive, check_size, check_time, check_float;
/* The value of resource `name`; 0 if its type is not built in. */
int check_resource(const char *name, const char *value);

/* Attributes of jobs (check_job.c). */
check_fn check_job_name, check_path, check_depend, check_holds, check_keep;
check_fn check_mail_points, check_mail_users, check_users, check_shells, check_checkpoint;
check_fn check_priority, check_array_range, check_stage, check_project;
check_fn check_job_state, check_resv_name, check_names;

/* Select and place (check_select.c). */
check_fn check_select, check_place;
#define RESOURCE_NAME_MAX 64
/* As check_select(); `name`: the resource whose value is wrong, "" for any other error. */
int select_check(const char *value, char name[RESOURCE_NAME_MAX]);

/* Attributes that managers set (check_manage.c). */
check_fn check_queue_type, check_managers, check_preempt_prio, check_preempt_order;
check_fn check_sequence_id;

#endif
