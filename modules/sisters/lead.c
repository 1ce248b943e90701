/* SPDX-License-Identifier: Apache-2.0
 *
 * lead.c - what a primary does as its state says: requests and orders, what is lost, what the log says of it.
 */
#include "sisters.h"

#include <stdlib.h>
#include <string.h>

/* A host that failed, while task_lost decides whether the job goes on without it. */
struct failure {
	char *id;
	int64_t run;
	uint32_t host;
	char stage[16], text[256];
	int32_t status, code;
};

#define JOB_LOG(mod, j, event, ...) keel_log(mod, event, "Job", (j)->id, __VA_ARGS__)

static bool is_start(const struct failure *f)
{
	return strcmp(f->stage, KEEL_STAGE_JOIN) == 0 || strcmp(f->stage, KEEL_STAGE_PROLOGUE) == 0;
}

static void say_start(struct keel_mod *mod, const struct job *j, const struct failure *f, bool tolerated)
{
	const struct host *h = &j->hosts[f->host];

	if (f->code == CODE_SILENT && tolerated)
		return;
	JOB_LOG(mod, j, KEEL_LOG_JOB, "job_start_error %d from node %s could not %s successfully", f->code ? f->code : CODE_COMM,
		tolerated || !h->address ? h->name : h->address, f->stage[0] == 'j' ? "JOIN_JOB" : "IM_EXEC_PROLOGUE");
	if (tolerated)
		JOB_LOG(mod, j, KEEL_LOG_JOB, "ignoring error from %s as job is tolerant of node failures", h->name);
	JOB_LOG(mod, j, KEEL_LOG_JOB, "%s", f->text);
}

static void say_running(struct keel_mod *mod, const struct job *j, const struct failure *f, bool tolerated)
{
	const char *name = j->hosts[f->host].name;

	if (tolerated) {
		JOB_LOG(mod, j, KEEL_LOG_DEBUG3, "ignoring lost communication with %s as job is tolerant of node failures", name);
	} else if (strcmp(f->stage, KEEL_STAGE_RUN) == 0) {
		if (!j->primary.hosts[f->host].linked)
			JOB_LOG(mod, j, KEEL_LOG_ERROR, "im_eof, lost communication with %s for > %lld secs, killing job now", name,
				(long long)limit_ms(mod, LIMIT_DOWNTIME) / 1000);
		JOB_LOG(mod, j, KEEL_LOG_ERROR, "node EOF %u (%s)", f->host, name);
	}
}

/* For people: which host has not answered. What a host says itself is passed on as it is. */
static const char *why(const struct job *j, const struct failure *f, char *text, size_t size)
{
	if (f->code != CODE_SILENT || strcmp(f->stage, KEEL_STAGE_JOIN) != 0)
		return f->text;
	snprintf(text, size, "%s: %s", j->hosts[f->host].name, f->text);
	return text;
}

static void decided(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct failure *f = arg;
	struct job *j = job_find(mod, f->id, f->run);
	bool tolerated = o->verdict == KEEL_DONE;
	char text[256];

	if (j) {
		if (is_start(f))
			say_start(mod, j, f, tolerated);
		else
			say_running(mod, j, f, tolerated);
		primary_verdict(&j->primary, f->host, f->status, f->code, why(j, f, text, sizeof(text)), tolerated);
	}
	free(f->id);
	free(f);
}

static void host_lost(struct keel_mod *mod, struct job *j, const struct primary_act *a)
{
	struct failure *f = calloc(1, sizeof(*f));

	tasks_lost(mod, j, a->host);
	if (!f || !(f->id = strdup(j->id))) {
		free(f);
		primary_verdict(&j->primary, a->host, a->status, a->code, "no memory", false);
		return;
	}
	f->run = j->run;
	f->host = a->host;
	f->status = a->status;
	f->code = a->code;
	snprintf(f->stage, sizeof(f->stage), "%s", a->stage);
	snprintf(f->text, sizeof(f->text), "%s", a->text ? a->text : "");
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_task_lost,
		.event = KEEL_EVENT(task_lost, .id = j->id, .host = j->hosts[a->host].name, .stage = f->stage, .code = f->code,
				    .text = f->text),
		.done = decided, .arg = f });
}

static void order(struct keel_mod *mod, struct job *j, const struct primary_act *a)
{
	struct keel_out *out = message(mod, j);

	if (a->number > ((struct state *)mod->state)->number)
		((struct state *)mod->state)->number = a->number;
	keel_put_int(out, "number", (int64_t)a->number);
	keel_put_str(out, "name", a->name);
	message_send(mod, j, a->host, "sister.order", out);
}

static void passed(struct keel_mod *mod, struct job *j)
{
	if (j->gates && j->gates->step == STEP_PROLOGUE)
		JOB_LOG(mod, j, j->gates->late ? KEEL_LOG_DEBUG2 : KEEL_LOG_DEBUG3, "%s",
			j->gates->late ? "not all prologue hooks to sister moms completed, but job will proceed to execute" :
					 "all job prologue hook from sisters done");
	gate_decide(j, 0, NULL);
}

static void late(struct keel_mod *mod, struct job *j)
{
	if (!j->gates)
		return;
	j->gates->late = true;
	if (j->gates->step == STEP_JOIN)
		JOB_LOG(mod, j, KEEL_LOG_ADMIN, "sister_join_job_alarm wait time %lld secs exceeded",
			(long long)limit_ms(mod, LIMIT_JOIN) / 1000);
}

static void lead_act(void *arg, const struct primary_act *a)
{
	const struct acting *t = arg;
	struct job *j = t->job;
	const char *name = j->hosts[a->host].name;

	switch (a->kind) {
	case ACT_ASK:
		message_send(t->mod, j, a->host, "sister.join", message(t->mod, j));
		break;
	case ACT_ORDER:
		order(t->mod, j, a);
		break;
	case ACT_LOST:
		host_lost(t->mod, j, a);
		break;
	case ACT_PASS:
		passed(t->mod, j);
		break;
	case ACT_REFUSE:
		gate_decide(j, a->status ? a->status : a->code, a->text);
		break;
	case ACT_FAIL:
		keel_part_fail(j->id, a->status, j->primary.running ? NULL : a->text);
		break;
	case ACT_AWAY:
		JOB_LOG(t->mod, j, KEEL_LOG_ERROR, "im_eof, lost communication with %s, not killing job yet", name);
		break;
	case ACT_CUT_OFF:
		JOB_LOG(t->mod, j, KEEL_LOG_ERROR,
			"lost connection to %s due to pbs_comm down/recently established, not killing job", name);
		break;
	case ACT_LATE:
		late(t->mod, j);
		break;
	}
}

void lead_init(struct keel_mod *mod, struct job *j, const struct keel_part *part)
{
	struct primary *p = &j->primary;

	j->acting = (struct acting){ mod, j };
	p->act = lead_act;
	p->arg = &j->acting;
	p->number = ((struct state *)mod->state)->number;
	p->downtime_ms = limit_ms(mod, LIMIT_DOWNTIME);
	p->running = part->started;
	p->over = part->state == KEEL_PART_ENDED;
	p->stopped = part->state == KEEL_PART_STOPPED;
	primary_init(p, j->n, p->hosts, keel_now_ms(mod));
	output_recall(mod, j);
	for (uint32_t i = 1; i < j->n; i++) {
		pair_expect(mod, j, i);
		primary_link(p, i, keel_link_is_up(mod, pair_peer(&j->hosts[i])), keel_now_ms(mod));
	}
}
