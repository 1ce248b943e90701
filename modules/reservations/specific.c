/* SPDX-License-Identifier: Apache-2.0
 *
 * specific.c - reservations made from jobs.
 *
 *	reserve_job	a job that runs: confirmed in this turn with the vnodes that it has, and running; it is put into its queue
 *	qmove		a job that waits: as soon as there is a place for it; once confirmed, it is moved into its queue as qmove would
 *	create_resv_from_job	an attribute of a job: reserve_job when it has started
 *
 * RULE_MOVE is stored until the move was decided, so that a restart in between asks for it again.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/jobid.h"

KEEL_ATTRS_OF(resv, Reserve_Owner, queue, reserve_start, reserve_end, reserve_duration, reserve_rrule, Resource_List,
	      reserve_rules, partition, delete_idle_time, interactive, qmove, reserve_job);
KEEL_ATTRS_OF(job, queue, exec_vnode, stime, Job_Owner, euser, Resource_List, reserve_ID, create_resv_from_job);
KEEL_ATTR_OPT(job, egroup);
KEEL_ATTR_OPT(job, owner_groups);
KEEL_ATTR_OPT(queue, partition);

#define SOON INT64_C(1893488460)     /* reserve_start of one that begins as soon as possible */
#define NO_WALLTIME INT64_C(157680000) /* five years */
#define IDLE_TIME "600"

const struct keel_attr_def job_attr_create_resv_from_job =
	KEEL_ATTR_DEF("job", "create_resv_from_job", "bool", .order = 416, .flags = KEEL_ATTR_SAVE,
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_EVERYBODY,
		      .doc = "whether a reservation is made of its vnodes and time when it starts (qsub -W)");

/* ---- its job ------------------------------------------------------------------------------------------- */

/* `12`, `12.svr`, `12.svr@svr` */
static struct keel_obj *job_find(struct keel_mod *mod, const char *operand)
{
	struct keel_obj *job = keel_find(mod, "job", operand);
	const size_t len = keel_id_number(operand);
	const char *name = operand[len] == '.' ? operand + len + 1 : keel_server_name(mod);
	const size_t end = strcspn(name, "@");
	char id[512];

	if (job || !len || len + end + 2 > sizeof(id) || (operand[len] && !strchr(".@", operand[len])))
		return job;
	snprintf(id, sizeof(id), "%.*s.%.*s", (int)len, operand, (int)end, name);
	return keel_find(mod, "job", id);
}

static bool runs(struct keel_obj *job)
{
	return keel_job_state(job) == 'R' && keel_job_substate(job) == KEEL_SUB_RUNNING && keel_is_set(job, job_exec_vnode);
}

static bool waits(struct keel_obj *job)
{
	const char state = keel_job_state(job);

	return state && strchr("QHWT", state);
}

static int32_t permit(struct keel_obj *job, const struct wish *wish, uint32_t roles)
{
	const char *owner = keel_get_str(job, job_Job_Owner);
	const struct keel_job_ask ask = { .size = sizeof(ask), .verb = "reserve", .who = wish->who->who, .req = wish->req };

	if (wish->req)
		return keel_job_permit(job, &ask, roles);
	return owner && strcmp(owner, wish->who->who) == 0 ? 0 : PBSE_PERM;
}

/* The job that it is made from, in *ret. 0, or a PBSE code. */
static int32_t job_named(struct keel_mod *mod, const struct wish *wish, const char *operand, bool moves, struct keel_obj **ret)
{
	struct keel_obj *job = *ret = job_find(mod, operand);
	int32_t code;

	if (!job)
		return keel_job_letter(operand) ? PBSE_RESV_FROM_ARRJOB : PBSE_UNKJOBID;
	code = permit(job, wish, moves ? KEEL_EVERYBODY : KEEL_USER);
	if (code)
		return code;
	if (keel_id_is_part(keel_id(job)) || (!moves && keel_id_is_whole(keel_id(job))))
		return PBSE_RESV_FROM_ARRJOB;
	if (keel_is_set(job, job_reserve_ID))
		return PBSE_RESV_FROM_RESVJOB;
	return (moves ? waits(job) : runs(job)) ? 0 : PBSE_BADSTATE;
}

/* ---- its draft ------------------------------------------------------------------------------------------- */

/* Amounts of vnodes follow from the select. */
static bool is_copied(const struct keel_resource *res)
{
	static const char *const others[] = { "nodect", "nodes", "min_walltime", "max_walltime", "walltime" };

	for (size_t i = 0; i < KEEL_COUNT(others); i++)
		if (strcmp(res->name, others[i]) == 0)
			return false;
	return strcmp(res->name, "select") == 0 || strcmp(res->name, "place") == 0 ||
	       !(res->flags & (KEEL_RES_HOST | KEEL_RES_SYSTEM));
}

static int32_t put_resources(struct keel_changes *ch, struct keel_obj *draft, struct keel_obj *job, struct keel_err *err)
{
	const struct keel_reslist *list = keel_get_ptr(job, job_Resource_List);
	const struct keel_res_value *v;
	int32_t code = keel_change_text(ch, draft, resv_Resource_List, KEEL_UNSET, NULL, NULL, err);
	char number[64];

	for (uint32_t i = 0; !code && list && (v = keel_resource_list_at(list, i)); i++) {
		if (!is_copied(v->res))
			continue;
		if (!v->text)
			keel_resource_value_text(v, false, number, sizeof(number));
		code = keel_change_text(ch, draft, resv_Resource_List, KEEL_SET, v->res->name, v->text ? v->text : number, err);
	}
	return code;
}

static int32_t put_number(struct keel_changes *ch, struct keel_obj *draft, const struct keel_attr *attr, int64_t n,
			  struct keel_err *err)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	return keel_change_text(ch, draft, attr, KEEL_SET, NULL, text, err);
}

static int32_t put_times(struct keel_changes *ch, struct keel_obj *draft, int64_t start, int64_t duration, struct keel_err *err)
{
	int32_t code;

	if (start <= 0 || duration <= 0 || start > TIME_LIMIT - duration)
		return fails(err, PBSE_BADTSPEC);
	if ((code = put_number(ch, draft, resv_reserve_start, start, err)) ||
	    (code = put_number(ch, draft, resv_reserve_end, start + duration, err)))
		return code;
	return put_number(ch, draft, resv_reserve_duration, duration, err);
}

static int64_t walltime_of(const struct keel_reslist *list)
{
	const struct keel_res_value *v = list ? keel_resource_list_get(list, "walltime") : NULL;

	return v && v->n >= 1 && v->n <= (double)TIME_LIMIT ? (int64_t)v->n : 0;
}

/* For as long as the job, or, when that does not say, as the request. */
static int64_t duration_asked(struct keel_changes *ch, struct keel_obj *draft, struct keel_obj *job)
{
	const union keel_slot *given = keel_change_slot(ch, draft, resv_reserve_duration);
	const union keel_slot *list = keel_change_slot(ch, draft, resv_Resource_List);
	const int64_t walltime = walltime_of(keel_get_ptr(job, job_Resource_List));

	return walltime ? walltime : given ? given->i : list ? walltime_of(list->p) : 0;
}

/* The scheduler looks for a place. */
static int32_t prepare_move(struct keel_changes *ch, struct keel_obj *draft, struct keel_obj *job, struct keel_err *err)
{
	const int64_t duration = duration_asked(ch, draft, job);
	int32_t code;

	if (!duration)
		return fails(err, PBSE_RESV_NO_WALLTIME);
	keel_set_int(draft, resv_reserve_rules, keel_get_int(draft, resv_reserve_rules) | RULE_SOON | RULE_MOVE);
	if ((code = put_resources(ch, draft, job, err)) || (code = put_times(ch, draft, SOON, duration, err)))
		return code;
	if (keel_change_slot(ch, draft, resv_delete_idle_time))
		return 0;
	return keel_change_text(ch, draft, resv_delete_idle_time, KEEL_SET, NULL, IDLE_TIME, err);
}

static void partition_of_job(struct keel_mod *mod, struct keel_obj *draft, struct keel_obj *job)
{
	const char *name = keel_get_str(job, job_queue);
	struct keel_obj *queue = name ? keel_find(mod, "queue", name) : NULL;

	if (queue && queue_partition && keel_is_set(queue, queue_partition))
		keel_set_str(draft, resv_partition, keel_get_str(queue, queue_partition));
}

/* It has begun when the job has. */
static int32_t prepare_now(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *draft, struct keel_obj *job,
			   struct keel_err *err)
{
	const int64_t walltime = walltime_of(keel_get_ptr(job, job_Resource_List)), start = keel_get_int(job, job_stime);
	const int64_t duration = walltime ? walltime : NO_WALLTIME;
	int32_t code;

	if (start > 0 && duration <= keel_time(mod) - start)
		return fails(err, PBSE_BADTSPEC);
	partition_of_job(mod, draft, job);
	code = put_resources(ch, draft, job, err);
	return code ? code : put_times(ch, draft, start, duration, err);
}

int32_t specific_prepare(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *draft, const struct wish *wish,
			 struct keel_err *err)
{
	const union keel_slot *now = keel_change_slot(ch, draft, resv_reserve_job);
	const union keel_slot *move = keel_change_slot(ch, draft, resv_qmove), *from = now ? now : move;
	struct keel_obj *job;
	int32_t code;

	if (!from)
		return 0;
	if ((now && move) || keel_change_slot(ch, draft, resv_reserve_rrule))
		return fails(err, PBSE_NOSUP);
	code = job_named(mod, wish, from->p, !now, &job);
	if (code)
		return fails(err, code);
	code = keel_change_text(ch, draft, now ? resv_reserve_job : resv_qmove, KEEL_SET, NULL, keel_id(job), err);
	if (code)
		return code;
	return now ? prepare_now(mod, ch, draft, job, err) : prepare_move(ch, draft, job, err);
}

/* ---- of a job that runs ------------------------------------------------------------------------------------ */

/* Hooks may have taken their time: the job is still the one that the draft is about. */
int32_t specific_check(struct keel_mod *mod, struct keel_obj *draft)
{
	const char *id = keel_get_str(draft, resv_reserve_job);
	struct keel_obj *job = id ? keel_find(mod, "job", id) : NULL;

	if (!id)
		return 0;
	if (!job)
		return PBSE_UNKJOBID;
	if (keel_is_set(job, job_reserve_ID))
		return PBSE_RESV_FROM_RESVJOB;
	return runs(job) && keel_get_int(job, job_stime) == keel_get_int(draft, resv_reserve_start) ? 0 : PBSE_BADSTATE;
}

int32_t specific_made(struct keel_mod *mod, struct keel_obj *resv)
{
	struct keel_obj *job = keel_find(mod, "job", keel_get_str(resv, resv_reserve_job));
	struct keel_obj *queue = keel_find(mod, "queue", keel_get_str(resv, resv_queue));
	const char *owner = keel_get_str(resv, resv_Reserve_Owner);
	char *nodes = job ? strdup(keel_get_str(job, job_exec_vnode)) : NULL;

	if (!nodes || !queue) {
		free(nodes);
		return PBSE_SYSTEM;
	}
	keel_unset(resv, resv_interactive, NULL);
	resv_confirmed(mod, resv, owner, (const char *const[]){ nodes }, 1);
	free(nodes);
	if (resv_state(resv) != KEEL_RESV_CONFIRMED) /* no memory */
		return PBSE_SYSTEM;
	keel_set_str(job, job_reserve_ID, keel_id(resv)); /* nodes asks for it in put() */
	if (keel_job_put(job, queue, owner)) {
		keel_unset(job, job_reserve_ID, NULL);
		return PBSE_BADSTATE;
	}
	resv_begin(mod, resv);
	return 0;
}

/* ---- of a job that waits ------------------------------------------------------------------------------------- */

bool specific_moves(struct keel_obj *resv)
{
	return keel_get_int(resv, resv_reserve_rules) & RULE_MOVE;
}

struct mover {
	char id[300]; /* of the reservation */
};

static void moved(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct mover *m = arg;
	struct keel_obj *resv = keel_find(mod, "resv", m->id);

	free(m);
	if (!resv)
		return;
	keel_set_int(resv, resv_reserve_rules, keel_get_int(resv, resv_reserve_rules) & ~(int64_t)RULE_MOVE);
	if (code)
		keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "job %s was not moved into it: %s",
			 keel_get_str(resv, resv_qmove), text ? text : keel_pbse_text(code));
	askers_answer(mod, resv, code ? "FAILED" : "CONFIRMED");
}

static bool is_inside(struct keel_obj *resv, struct keel_obj *job)
{
	const char *in = keel_get_str(job, job_queue), *queue = keel_get_str(resv, resv_queue);

	return in && queue && strcmp(in, queue) == 0;
}

void specific_confirmed(struct keel_mod *mod, struct keel_obj *resv)
{
	const char *id = keel_get_str(resv, resv_qmove), *name = keel_get_str(resv, resv_queue);
	struct keel_obj *job = id ? keel_find(mod, "job", id) : NULL, *queue = name ? keel_find(mod, "queue", name) : NULL;
	struct mover *m;

	if (!specific_moves(resv))
		return;
	m = calloc(1, sizeof(*m));
	if (!m) {
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "no memory to move its job; it is moved when the server starts again");
		return;
	}
	snprintf(m->id, sizeof(m->id), "%s", keel_id(resv));
	if (!job || !queue || is_inside(resv, job))
		moved(mod, m, !job ? PBSE_UNKJOBID : !queue ? PBSE_UNKQUE : 0, NULL);
	else
		keel_job_move(job, queue, keel_get_str(resv, resv_Reserve_Owner), mod, moved, m);
}

static void move_again(struct keel_mod *mod, void *arg)
{
	specific_confirmed(mod, arg);
}

void specific_again(struct keel_mod *mod, struct keel_obj *resv)
{
	struct resv *r = resv_slot(mod, resv);

	if (r && specific_moves(resv) && resv_is_confirmed(resv))
		keel_alarm_set(mod, &r->mover, 0, move_again, resv);
}

/* ---- of a job that starts -------------------------------------------------------------------------------------- */

static void made(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	char *id = arg;

	if (code)
		keel_log(mod, KEEL_LOG_RESV, "Job", id, "no reservation was made from it: %s", text ? text : keel_pbse_text(code));
	free(id);
}

/* In the name of its owner. Of the uid only counts whether it is root's. */
static struct keel_session session_of(struct keel_obj *job)
{
	const char *who = keel_get_str(job, job_Job_Owner), *user = keel_get_str(job, job_euser);
	const char *at = who ? strchr(who, '@') : NULL;

	return (struct keel_session){
		.size = sizeof(struct keel_session), .roles = KEEL_USER,
		.who = who ? who : "", .user = user ? user : "", .host = at ? at + 1 : "",
		.uid = user && strcmp(user, "root") != 0 ? UINT32_MAX : 0, .gid = UINT32_MAX,
		.group = job_egroup ? keel_get_str(job, job_egroup) : NULL,
		.groups = job_owner_groups ? keel_get_str(job, job_owner_groups) : NULL,
	};
}

void specific_started(struct keel_mod *mod, struct keel_obj *job)
{
	const struct keel_attrop attr = { .name = "reserve_job", .value = keel_id(job), .op = KEEL_SET };
	struct keel_session session;
	char *id;

	if (!keel_get_int(job, job_create_resv_from_job) || keel_is_set(job, job_reserve_ID))
		return;
	id = strdup(keel_id(job));
	if (!id)
		return;
	session = session_of(job);
	resv_make(mod, &(struct keel_resv_new){ .size = sizeof(struct keel_resv_new), .n_attrs = 1, .attrs = &attr,
						.session = &session }, mod, made, id);
}
