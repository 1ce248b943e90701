/* SPDX-License-Identifier: Apache-2.0
 *
 * check_service.c - the services of keel/service/ in a world where little happens.
 *
 * Whatever is asked of them is granted at once: an act is done before the function returns, a question is
 * answered by what an idle server would say. Texts are not understood: parsers refuse them.
 */
#include "check_service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/keel.h"
#include "keel/mock.h"
#include "keel/service/acct.h"
#include "keel/service/fairshare.h"
#include "keel/service/job.h"
#include "keel/service/limits.h"
#include "keel/service/node.h"
#include "keel/service/prime.h"
#include "keel/service/queue.h"
#include "keel/service/resource.h"
#include "keel/service/sched.h"
#include "keel/service/task.h"

#define BAD_VALUE 15014
#define NOTHING __attribute__((unused))

static int32_t not_understood(struct keel_err *err, const char *text)
{
	if (err != NULL) {
		err->code = BAD_VALUE;
		snprintf(err->text, sizeof(err->text), "'%s' is not understood here", text);
	}
	return BAD_VALUE;
}

/* ---- job ------------------------------------------------------------------------------------------- */
static char letter_of(struct keel_obj *job)
{
	const char *text = keel_mock_text(job, "job_state", NULL);

	return text == NULL || text[0] < 'A' || text[0] > 'Z' ? 'Q' : text[0];
}

static bool job_is_suspended(NOTHING struct keel_mod *m, struct keel_obj *job)
{
	return letter_of(job) == 'S';
}

static char job_state(struct keel_mod *m, struct keel_obj *job)
{
	return job_is_suspended(m, job) ? 'R' : letter_of(job);
}

static int32_t job_substate(NOTHING struct keel_mod *m, struct keel_obj *job)
{
	static const struct {
		char letter;
		int32_t substate;
	} known[] = { { 'Q', KEEL_SUB_QUEUED }, { 'S', KEEL_SUB_SUSPENDED }, { 'E', KEEL_SUB_EXITING },
		      { 'F', KEEL_SUB_FINISHED } };

	for (size_t i = 0; i < KEEL_COUNT(known); i++)
		if (known[i].letter == letter_of(job))
			return known[i].substate;
	return KEEL_SUB_RUNNING;
}

static uint32_t job_waiting(struct keel_mod *m, struct keel_obj *job)
{
	return job_state(m, job) == 'Q';
}

static bool job_no(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job)
{
	return false;
}

static uint32_t job_one(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job)
{
	return 1;
}

static void job_act(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job, NOTHING const char *detail,
		    NOTHING const char *who, struct keel_mod *me, keel_job_done *done, void *arg)
{
	done(me, arg, 0, NULL);
}

static void job_request(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job, NOTHING const char *who,
			struct keel_mod *me, keel_job_done *done, void *arg)
{
	done(me, arg, 0, NULL);
}

static void job_resume_waiting(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job, struct keel_mod *me,
			       keel_job_done *done, void *arg)
{
	done(me, arg, 0, NULL);
}

static void job_ask(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job,
		    NOTHING const struct keel_job_ask *ask, struct keel_mod *me, keel_job_done *done, void *arg)
{
	done(me, arg, 0, NULL);
}

static void job_move(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job, NOTHING struct keel_obj *queue,
		     NOTHING const char *who, struct keel_mod *me, keel_job_done *done, void *arg)
{
	done(me, arg, 0, NULL);
}

static void job_signal_done(NOTHING struct keel_mod *m, NOTHING void *op, NOTHING int32_t code,
			    NOTHING const char *text)
{
}

static void job_text(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job, NOTHING const char *text)
{
}

static void job_on_change(NOTHING struct keel_mod *m, NOTHING struct keel_mod *me,
			  NOTHING void (*fn)(struct keel_mod *me))
{
}

static void job_on_run_request(NOTHING struct keel_mod *m, NOTHING struct keel_mod *me,
			       NOTHING void (*fn)(struct keel_mod *me, struct keel_obj *job, const char *who,
						  struct keel_mod *asker, keel_job_done *done, void *arg))
{
}

static int32_t job_release_names(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job, NOTHING char *buf,
				 NOTHING uint32_t len)
{
	return -ENODATA;
}

static const char *job_released(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job)
{
	return NULL;
}

static int32_t job_destination(NOTHING struct keel_mod *m, NOTHING const char *dest, NOTHING struct keel_obj **ret)
{
	return 15018; /* no such queue */
}

static void job_depend(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job, NOTHING bool waits)
{
}

static int64_t job_next_number(NOTHING struct keel_mod *m)
{
	return 100;
}

static int32_t job_permit(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job,
			  NOTHING const struct keel_job_ask *ask, NOTHING uint32_t roles)
{
	return 0;
}

static const struct keel_signal_def *job_signal(NOTHING struct keel_mod *m, NOTHING const char *name)
{
	return NULL;
}

static char job_letter(NOTHING struct keel_mod *m, NOTHING const char *operand)
{
	return '\0';
}

static void job_told(NOTHING struct keel_mod *m, NOTHING struct keel_obj *job)
{
}

static void job_finish(NOTHING struct keel_mod *m, NOTHING struct keel_obj *whole, NOTHING int32_t substate,
		       NOTHING int32_t exit_status)
{
}

static const struct keel_job_api job = {
	.size = sizeof(job), .state = job_state, .substate = job_substate, .is_suspended = job_is_suspended,
	.suspend = job_act, .resume = job_act, .signal_done = job_signal_done, .run = job_act,
	.resume_waiting = job_resume_waiting, .set_comment = job_text, .on_change = job_on_change,
	.on_run_request = job_on_run_request, .waiting = job_waiting, .request_delete = job_request,
	.request_rerun = job_request, .request_suspend = job_request, .request_checkpoint = job_request,
	.release_names = job_release_names, .released = job_released, .ask = job_ask, .move = job_move,
	.destination = job_destination, .abort = job_text, .depend = job_depend,
	.next_number = job_next_number, .may_run = job_request, .members = job_one, .permit = job_permit,
	.signal = job_signal, .adopt = job_told, .back = job_told, .waits = job_told, .finish = job_finish,
	.settle = job_told, .erase = job_told, .letter = job_letter,
};

/* ---- node ------------------------------------------------------------------------------------------ */
static uint32_t node_none(NOTHING struct keel_mod *m, NOTHING struct keel_obj *node)
{
	return 0;
}

static bool node_no(NOTHING struct keel_mod *m, NOTHING struct keel_obj *node)
{
	return false;
}

static void node_set_state(NOTHING struct keel_mod *m, NOTHING struct keel_obj *node, NOTHING uint32_t bits,
			   NOTHING bool on)
{
}

static const char *node_host_of(NOTHING struct keel_mod *m, NOTHING const char *vnode)
{
	return "mockhost";
}

static const struct keel_reslist *node_list(NOTHING struct keel_mod *m, NOTHING struct keel_obj *node)
{
	return NULL;
}

static int32_t node_assign(NOTHING struct keel_mod *m, NOTHING const char *id, NOTHING const char *exec_vnode,
			   NOTHING int32_t share, char **ret_exec_host, NOTHING struct keel_err *err)
{
	*ret_exec_host = strdup("mockhost/0");
	return 0;
}

static int32_t node_assign_again(NOTHING struct keel_mod *m, NOTHING const char *id, NOTHING const char *exec_vnode,
				 NOTHING int32_t share, NOTHING const char *exec_host, NOTHING struct keel_err *err)
{
	return 0;
}

static void node_release(NOTHING struct keel_mod *m, NOTHING const char *id, NOTHING const char *exec_vnode,
			 NOTHING const char *only, NOTHING bool ended)
{
}

static uint64_t node_number(NOTHING struct keel_mod *m)
{
	return 1;
}

static int32_t node_sharing(NOTHING struct keel_mod *m, NOTHING struct keel_obj *node, NOTHING int32_t share)
{
	return KEEL_SHARE_SHARED;
}

static void node_changed_since(NOTHING struct keel_mod *m, NOTHING uint64_t generation,
			       NOTHING void (*fn)(void *arg, struct keel_obj *node), NOTHING void *arg)
{
}

static void node_tenants(NOTHING struct keel_mod *m, NOTHING struct keel_obj *node,
			 NOTHING void (*fn)(void *arg, const char *job_id, bool suspended), NOTHING void *arg)
{
}

static const struct keel_node_api node = {
	.size = sizeof(node), .state = node_none, .set_state = node_set_state, .unavailable = node_no,
	.host_of = node_host_of, .available = node_list, .assigned = node_list, .assign = node_assign,
	.release = node_release, .in_use = node_no, .generation = node_number, .sharing = node_sharing,
	.jobs_on = node_none, .shape = node_number, .changed_since = node_changed_since,
	.tenants = node_tenants, .assign_again = node_assign_again,
};

/* ---- resource -------------------------------------------------------------------------------------- */
static const struct keel_resource resources[] = {
	{ "ncpus", KEEL_RES_LONG, KEEL_RES_HOST | KEEL_RES_EACH | KEEL_RES_BUILTIN },
	{ "mem", KEEL_RES_SIZE, KEEL_RES_HOST | KEEL_RES_EACH | KEEL_RES_BUILTIN },
	{ "walltime", KEEL_RES_TIME, KEEL_RES_BUILTIN },
};

static const struct keel_resource *resource_at(NOTHING struct keel_mod *m, uint32_t i)
{
	return i < KEEL_COUNT(resources) ? &resources[i] : NULL;
}

static const struct keel_resource *resource_find(struct keel_mod *m, const char *name)
{
	const struct keel_resource *r;

	for (uint32_t i = 0; (r = resource_at(m, i)) != NULL; i++)
		if (strcmp(r->name, name) == 0)
			return r;
	return NULL;
}

static int32_t value_parse(NOTHING const struct keel_resource *r, const char *text,
			   NOTHING struct keel_res_value *ret, struct keel_err *err)
{
	return not_understood(err, text);
}

static void value_fini(NOTHING struct keel_res_value *v)
{
}

static int32_t value_text(NOTHING const struct keel_res_value *v, NOTHING bool in_kb, char *buf, uint32_t len)
{
	return snprintf(buf, len, "0");
}

static uint32_t list_count(NOTHING const struct keel_reslist *list)
{
	return 0;
}

static const struct keel_res_value *list_at(NOTHING const struct keel_reslist *list, NOTHING uint32_t i)
{
	return NULL;
}

static const struct keel_res_value *list_get(NOTHING const struct keel_reslist *list, NOTHING const char *name)
{
	return NULL;
}

static double list_number(NOTHING const struct keel_reslist *list, NOTHING const char *name, double otherwise)
{
	return otherwise;
}

static int32_t select_parse(NOTHING struct keel_mod *m, const char *text, NOTHING struct keel_select **ret,
			    struct keel_err *err)
{
	return not_understood(err, text);
}

static void select_free(NOTHING struct keel_select *select)
{
}

static int32_t place_parse(const char *text, NOTHING struct keel_place *ret, struct keel_err *err)
{
	return not_understood(err, text);
}

static int32_t exec_parse(NOTHING struct keel_mod *m, const char *text, NOTHING struct keel_exec **ret,
			  struct keel_err *err)
{
	return not_understood(err, text);
}

static void exec_free(NOTHING struct keel_exec *exec)
{
}

static int32_t resource_prepare(NOTHING struct keel_mod *m, NOTHING struct keel_changes *changes,
				NOTHING struct keel_obj *of, NOTHING struct keel_obj *in,
				NOTHING struct keel_err *err)
{
	return 0;
}

static void charge_list(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj,
			NOTHING const struct keel_attr *attr, NOTHING const struct keel_reslist *list,
			NOTHING int32_t sign, NOTHING const char *only)
{
}

static void charge_exec(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj,
			NOTHING const struct keel_attr *attr, NOTHING const struct keel_exec *exec,
			NOTHING const char *vnode, NOTHING int32_t sign, NOTHING const char *only)
{
}

static const struct keel_resource_api resource = {
	.size = sizeof(resource), .find = resource_find, .at = resource_at, .value_parse = value_parse,
	.value_fini = value_fini, .value_text = value_text, .list_count = list_count, .list_at = list_at,
	.list_get = list_get, .list_number = list_number, .select_parse = select_parse,
	.select_free = select_free, .place_parse = place_parse, .exec_parse = exec_parse,
	.exec_free = exec_free, .prepare = resource_prepare, .charge_list = charge_list,
	.charge_exec = charge_exec,
};

/* ---- queue, acct, fairshare, limits, prime --------------------------------------------------------- */
static bool queue_runs(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj)
{
	return true;
}

static void acct_record(NOTHING struct keel_mod *m, NOTHING char letter, NOTHING const char *id,
			NOTHING const char *text)
{
}

static void acct_job(NOTHING struct keel_mod *m, NOTHING char letter, NOTHING struct keel_obj *obj)
{
}

static bool over_soft(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj, NOTHING uint32_t of)
{
	return false;
}

static bool is_prime(NOTHING struct keel_mod *m, NOTHING int64_t when)
{
	return true;
}

static int64_t prime_never(NOTHING struct keel_mod *m, NOTHING int64_t when)
{
	return 0;
}

static int32_t prime_conflict(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj, NOTHING int64_t start)
{
	return 0;
}

static const struct keel_queue_api queue = { .size = sizeof(queue), .runs = queue_runs };
static char *acct_value(NOTHING struct keel_mod *m, const char *text)
{
	return strdup(text);
}

static const struct keel_acct_api acct = { .size = sizeof(acct), .record = acct_record, .job = acct_job,
					   .value = acct_value };
static const struct keel_fairshare_api fairshare = { .size = sizeof(fairshare), .over_share = job_no };
static const struct keel_limits_api limits = { .size = sizeof(limits), .over_soft = over_soft };
static const struct keel_prime_api prime = { .size = sizeof(prime), .is_prime = is_prime,
					     .next_change = prime_never, .next_event = prime_never,
					     .conflict = prime_conflict };

/* ---- sched ----------------------------------------------------------------------------------------- */
static struct keel_trial *sched_trial(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj)
{
	return NULL;
}

static int32_t trial_vacate(NOTHING struct keel_trial *t, NOTHING struct keel_obj *obj, NOTHING const char *only)
{
	return -EINVAL;
}

static void trial_restore(NOTHING struct keel_trial *t, NOTHING struct keel_obj *obj)
{
}

static bool trial_fits(NOTHING struct keel_trial *t, NOTHING struct keel_sched_reason *why)
{
	return false;
}

static void trial_free(NOTHING struct keel_trial *t)
{
}

static void sched_reconsider(NOTHING struct keel_mod *m)
{
}

static int32_t sched_setting(NOTHING struct keel_mod *m, NOTHING const char *name, NOTHING char *buf,
			     NOTHING uint32_t len)
{
	return -ENOENT;
}

static void sched_set_prime(NOTHING struct keel_mod *m, NOTHING bool on)
{
}

static const struct keel_sched_api sched = {
	.size = sizeof(sched), .trial = sched_trial, .trial_vacate = trial_vacate,
	.trial_restore = trial_restore, .trial_fits = trial_fits, .trial_free = trial_free,
	.reconsider = sched_reconsider, .asked_for = job_no, .setting = sched_setting,
	.set_prime = sched_set_prime,
};

/* ---- task ------------------------------------------------------------------------------------------ */
static int32_t task_listen(NOTHING struct keel_mod *m, NOTHING struct keel_mod *me,
			   NOTHING const struct keel_task_events *events)
{
	return 0;
}

static int32_t task_start(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj)
{
	return 0;
}

static void task_signal(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj, NOTHING const char *name,
			NOTHING const char *as, struct keel_mod *me, keel_task_done *done, void *arg)
{
	done(me, arg, 0, NULL);
}

static int32_t task_kill(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj, NOTHING int64_t delay_ms)
{
	return 0;
}

static void task_set_host_of(NOTHING struct keel_mod *m, NOTHING struct keel_mod *me,
			     NOTHING const char *(*host_of)(struct keel_mod *me, const char *vnode))
{
}

static void task_terminate(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj, NOTHING int64_t delay_ms,
			   struct keel_mod *me, keel_task_done *done, void *arg)
{
	done(me, arg, 0, NULL);
}

static void task_checkpoint(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj, struct keel_mod *me,
			    keel_task_done *done, void *arg)
{
	done(me, arg, 0, NULL);
}

static void task_message(NOTHING struct keel_mod *m, NOTHING struct keel_obj *obj, NOTHING int32_t files,
			 NOTHING const char *text, struct keel_mod *me, keel_task_done *done, void *arg)
{
	done(me, arg, 0, NULL);
}

static int32_t task_describe(NOTHING struct keel_mod *m, NOTHING const char *host)
{
	return 0;
}

static const struct keel_task_api task = {
	.size = sizeof(task), .listen = task_listen, .start = task_start, .signal = task_signal,
	.kill = task_kill, .discard = job_told, .ended_done = job_told, .set_host_of = task_set_host_of,
	.terminate = task_terminate, .checkpoint = task_checkpoint, .message = task_message,
	.stop_hosts = sched_reconsider, .describe = task_describe,
};

/* ---- all of them ----------------------------------------------------------------------------------- */
bool is_group(const char *name)
{
	static const char *const groups[] = { "core", "object", "call", "hook", "msg", "request", "link", "blob" };

	for (size_t i = 0; i < KEEL_COUNT(groups); i++)
		if (strcmp(groups[i], name) == 0)
			return true;
	return false;
}

const void *stand_in(const char *service)
{
	static const struct {
		const char *name;
		const void *table;
	} all[] = {
		{ "job", &job }, { "node", &node }, { "resource", &resource }, { "queue", &queue },
		{ "acct", &acct }, { "fairshare", &fairshare }, { "limits", &limits }, { "prime", &prime },
		{ "sched", &sched }, { "task", &task },
	};

	for (size_t i = 0; i < KEEL_COUNT(all); i++)
		if (strcmp(all[i].name, service) == 0)
			return all[i].table;
	return NULL;
}
