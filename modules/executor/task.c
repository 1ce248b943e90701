/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c - the table of tasks on this host, their states, and the reports to the server about
 * them. Every message names the run; a repeated message changes nothing.
 */
#include "executor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chore.h"
#include "duration.h"
#include "group.h"

struct task *task_find(struct state *st, const char *id)
{
	struct task *t;

	HASH_FIND_STR(st->mom.tasks, id, t);
	return t;
}

struct task *task_create(struct keel_mod *mod, const char *id, int64_t run)
{
	struct state *st = mod->state;
	struct task *t = calloc(1, sizeof(*t));

	if (!t || !(t->id = strdup(id))) {
		free(t);
		keel_log(mod, KEEL_LOG_ERROR, "Job", id, "no memory for the task");
		return NULL;
	}
	t->run = run;
	t->pidfd = t->talk = -1;
	t->kill_delay = -1;
	t->ncpus = 1;
	HASH_ADD_KEYPTR(hh, st->mom.tasks, t->id, strlen(t->id), t);
	if (t->hh.tbl)
		return t;
	free(t->id);
	free(t);
	keel_log(mod, KEEL_LOG_ERROR, "Job", id, "no memory for the task");
	return NULL;
}

/* Let go of what this process holds; the shepherd goes on. */
static void task_release(struct task *t)
{
	talk_end(t);
	keel_watch_cancel(t->watch);
	keel_timer_cancel(t->kill_timer);
	keel_timer_cancel(t->stop_timer);
	t->watch = NULL;
	t->kill_timer = t->stop_timer = NULL;
	if (t->pidfd >= 0)
		close(t->pidfd);
	t->pidfd = -1;
}

static void task_forget(struct task *t)
{
	members_free(t);
	part_free(t->part);
	spec_out_fini(&t->program);
	free(t->freezer);
	free(t->bound);
	free(t->id);
	free(t->dir);
	free(t->output);
	free(t->error);
	free(t->kept_why);
	free(t->kept_text);
	free(t->remark);
	free(t->user);
	free(t);
}

/* What its tasks wrote: it has been read, or is not wanted. */
static void spool_remove(struct keel_mod *mod, const struct task *t)
{
	static const char *const suffixes[] = { ".OU", ".ER" };
	char path[4096];

	for (size_t i = 0; i < KEEL_COUNT(suffixes); i++) {
		snprintf(path, sizeof(path), "%s/spool/%s%s", keel_home(mod), t->id, suffixes[i]);
		unlink(path);
	}
}

void task_free(struct keel_mod *mod, struct task *t)
{
	struct state *st = mod->state;
	struct launch *next = t->next;

	task_release(t);
	if (t->bound)
		group_remove(t->bound);
	if (t->freezer)
		group_remove(t->freezer);
	record_remove(mod, t->id);
	HASH_DEL(st->mom.tasks, t);
	if (is_sister(t))
		spool_remove(mod, t);
	PART_TELL(mod, gone, t->id, t->run, t->discarded);
	if (t->discarded)
		gone_tell(mod, t->id, t->run);
	task_forget(t);
	if (next)
		launch_next(mod, next);
}

void mom_fini(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct task *t, *next;

	keel_timer_cancel(st->mom.tick);
	HASH_ITER(hh, st->mom.tasks, t, next) {
		task_release(t);
		HASH_DEL(st->mom.tasks, t);
		launch_free(t->next);
		task_forget(t);
	}
	usage_fini(st);
	shown_fini(st);
	part_fini(mod);
	chores_fini(mod);
	names_fini(st);
	nursery_fini(&st->mom.nursery);
	users_fini(st);
	free(st->mom.jobs_dir);
	free(st->mom.freezer_dir);
	free(st->mom.memory_dir);
}

int64_t task_walltime_ms(struct keel_mod *mod, const struct task *t)
{
	int64_t until = t->stopped_at_ms ? t->stopped_at_ms : keel_now_ms(mod);

	return t->began_ms ? until - t->began_ms - t->stopped_ms : 0;
}

static void usage_put(struct keel_mod *mod, const struct task *t, struct keel_out *out)
{
	char text[USAGE_ITEMS][48];
	const char *items[USAGE_ITEMS + 1];
	uint32_t n = usage_items(mod, t, text, items);

	if (t->missed)
		items[n++] = "Stageout_status=0";
	keel_put_strings(out, "items", items, n);
}

/* What the server should know of it now. Repeated when the link is back. */
void task_report(struct keel_mod *mod, struct task *t)
{
	static const char *const names[TASK_STATES] = {
		[TASK_RUN] = "task.started", [TASK_STOPPED] = "task.started",
		[TASK_ENDED] = "task.ended", [TASK_REFUSED] = "task.refused",
	};
	struct keel_out *out;

	if (t->discarded || is_sister(t) || !names[t->state])
		return;
	out = run_message(mod, t->id, t->run);
	keel_put_int(out, "session", t->session);
	if (t->dir)
		keel_put_str(out, "dir", t->dir);
	if (t->state == TASK_ENDED || t->state == TASK_REFUSED)
		keel_put_int(out, "status", t->status);
	if (t->state == TASK_REFUSED)
		keel_put_str(out, "why", t->why);
	if (t->state == TASK_ENDED && t->limit_status && t->notice[0])
		keel_put_str(out, "why", t->notice);
	if (t->state == TASK_REFUSED && t->lacks)
		keel_put_int(out, "lacks", 1);
	if (t->state == TASK_ENDED)
		usage_put(mod, t, out);
	if (t->state == TASK_ENDED)
		kept_put(t, out);
	keel_link_send(mod, "server", names[t->state], out);
}

void task_used(struct keel_mod *mod, const struct task *t)
{
	struct keel_out *out;
	char text[USAGE_ITEMS][48];
	const char *items[USAGE_ITEMS];

	if (!t->discarded && t->part) {
		uint32_t n = usage_own(mod, t, text, items);

		PART_TELL(mod, used, part_of(t), items, n);
	}
	if (t->discarded || is_sister(t))
		return;
	out = run_message(mod, t->id, t->run);
	usage_put(mod, t, out);
	keel_link_send(mod, "server", "task.used", out);
}

void task_refused(struct keel_mod *mod, struct task *t, int32_t status, const char *why)
{
	if (why != t->why)
		snprintf(t->why, sizeof(t->why), "%s", why);
	t->status = status;
	t->state = TASK_REFUSED;
	members_over(mod, t);
	keel_log(mod, KEEL_LOG_JOB | KEEL_LOG_SECURITY, "Job", t->id, "%s", t->why);
	keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "job not started, Failure %d", (int)status);
	if (t->lacks)
		health_look(mod);
	task_release(t);
	if (t->prepared)
		keel_note(mod, KEEL_POINT_task_end,
			  KEEL_EVENT(task_end, .id = t->id, .exit_status = status < 0 ? status : -1));
	if (t->begin_raised)
		keel_note(mod, KEEL_POINT_task_abort, KEEL_EVENT(task_abort, .id = t->id, .index = part_index(t)));
	if (t->discarded) {
		task_free(mod, t);
		return;
	}
	task_report(mod, t);
	if (t->leaving)
		leave_report(mod, t);
	if (is_sister(t))
		PART_TELL(mod, refused, part_of(t), t->status, t->refused_code ? t->refused_code : PBSE_MOMREJECT, t->why);
}

/* No process is left, and its directories are gone. */
static void sister_ended(struct keel_mod *mod, struct task *t)
{
	char text[USAGE_ITEMS][48];
	const char *items[USAGE_ITEMS];
	uint32_t n = usage_own(mod, t, text, items);

	if (t->aborted)
		keel_note(mod, KEEL_POINT_task_abort, KEEL_EVENT(task_abort, .id = t->id, .index = part_index(t)));
	else
		keel_note(mod, KEEL_POINT_task_end, KEEL_EVENT(task_end, .id = t->id, .exit_status = t->status));
	if (t->discarded) {
		task_free(mod, t);
		return;
	}
	if (t->leaving)
		leave_report(mod, t);
	PART_TELL(mod, ended, part_of(t), items, n);
}

static void elsewhere_log(struct keel_mod *mod, const struct task *t)
{
	char cput[32];

	for (const struct elsewhere *e = t->part ? t->part->elsewhere : NULL; e; e = e->next) {
		duration_text((int64_t)(e->cput_ms / 1000), cput, sizeof(cput));
		keel_log(mod, KEEL_LOG_DEBUG2, "Job", t->id, "%s cput=%s mem=%llukb", e->host, cput, (unsigned long long)e->mem_kb);
	}
}

void task_ended(struct keel_mod *mod, struct task *t, int32_t status)
{
	int64_t walltime = task_walltime_ms(mod, t);
	char cput[32];

	if (t->stop_timer) /* it ends while it is being suspended */
		answer(mod, &t->stop_to, PBSE_BADSTATE, NULL);
	t->stop_to = (struct answer_to){ 0 };
	members_over(mod, t);
	task_release(t);
	/* The clock of an ended task stands still. */
	t->began_ms = 1;
	t->stopped_ms = 0;
	t->stopped_at_ms = 1 + walltime;
	t->status = t->limit_status ? t->limit_status : status;
	t->state = TASK_ENDED;
	duration_text((int64_t)(t->usage.cput_ms / 1000), cput, sizeof(cput));
	if (is_sister(t)) {
		sister_ended(mod, t);
		return;
	}
	keel_log(mod, KEEL_LOG_DEBUG, "Job", t->id, "task 00000001 terminated");
	keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "Terminated");
	keel_log(mod, KEEL_LOG_DEBUG2, "Job", t->id, "task 00000001 cput=%s", cput);
	keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "kill_job");
	keel_log(mod, KEEL_LOG_DEBUG2, "Job", t->id, "%s cput=%s mem=%llukb", keel_host_name(mod),
		 cput, (unsigned long long)t->usage.mem_kb);
	elsewhere_log(mod, t);
	keel_note(mod, KEEL_POINT_task_end,
		  KEEL_EVENT(task_end, .id = t->id, .exit_status = t->status));
	if (t->discarded) {
		task_free(mod, t);
		return;
	}
	keel_log(mod, KEEL_LOG_DEBUG2, "Job", t->id, "Obit sent");
	task_report(mod, t);
}

void on_start(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	uint32_t len = 0;

	(void)peer;
	st->mom.last_start = keel_msg_int(m, "sent", INT64_MAX);
	if (keel_msg_bytes(m, "script", &len) && len > SCRIPT_LONG)
		keel_link_send(mod, "server", "task.got", keel_out(mod));
	store_take(mod, m);
	launch_begin(mod, m);
}

void on_forget(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(m, "id");
	struct task *t = id ? task_find(st, id) : NULL;

	(void)peer;
	if (t && t->run == keel_msg_int(m, "run", -1) && is_sister(t)) {
		keel_log(mod, KEEL_LOG_DEBUG, "Job", id, "delete job request received");
		stop_discard(mod, t); /* the job is over, whatever is left of it here */
		return;
	}
	if (!t || t->run != keel_msg_int(m, "run", -1) ||
	    (t->state != TASK_ENDED && t->state != TASK_REFUSED))
		return;
	/* The output is in its place when the end is reported; the records are where readers look for them. */
	if (t->state == TASK_ENDED && t->streams) {
		keel_log(mod, KEEL_LOG_DEBUG, "Job", id, "copy file request received");
		keel_log(mod, KEEL_LOG_DEBUG2, "Job", id, "Staged %d/%d items out over 0:00:00",
			 t->streams - t->missed, t->streams);
	}
	keel_log(mod, KEEL_LOG_DEBUG, "Job", id, "delete job request received");
	keel_log(mod, KEEL_LOG_JOB, "Job", id, "kill_job");
	task_free(mod, t);
}

void on_who(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	(void)peer, (void)m;
	host_hello(mod);
}

