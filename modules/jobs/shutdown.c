/* SPDX-License-Identifier: Apache-2.0
 *
 * shutdown.c - qterm: the server ends; the request says what becomes of running jobs.
 *
 *   quick      they go on without the server
 *   delay      nothing starts any more, the server ends when nothing runs
 *   immediate  the same, and running jobs are queued again, or deleted when they cannot be; those whose host
 *              does not answer are left to the next server
 *
 * There is no secondary server: a request for both means this one, a request for the secondary one alone fails.
 */
#include "jobs.h"

#include <stdio.h>

KEEL_ATTR_OF(job, Rerunable);
KEEL_ATTR_OF(server, shutdown);

#define CHECK_MS 200
#define AGAIN_MS 1000 /* to the next walk, for jobs that were being started or suspended in this one */
#define SLICE 256

/* The numbers of a request: manner, and what else ends. */
enum { IMMEDIATE = 0, DELAY = 1, QUICK = 2, MANNER = 0xf, HOSTS = 0x20, ONLY_SECONDARY = 0x100 };

static const char *const words[] = { "immediate", "delay", "quick" };

static void end_answered(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	(void)mod, (void)arg, (void)code, (void)text;
}

static void ending_walk_begin(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->ending_left = 0;
	st->ending_walk = keel_cursor(mod, "job");
}

static void end_jobs(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *job;
	struct job *j;

	if (!st->ending_walk && st->ending_next && keel_now_ms(mod) >= st->ending_next)
		ending_walk_begin(mod);
	for (int n = 0; st->ending_walk && n < SLICE; n++) {
		job = keel_next(st->ending_walk);
		if (job) {
			j = job_slot(mod, job);
			/* A job that a suspension holds in place is left as it is: it goes on with the next server. */
			if ((j->step == STEP_RUNNING || j->step == STEP_SENT) && !j->ending) {
				if (keel_get_int(job, job_Rerunable))
					job_request_rerun(mod, job, st->terminating_by, mod, end_answered, NULL);
				else
					job_request_delete(mod, job, st->terminating_by, mod, end_answered, NULL);
			}
			/* What runs on a host that does not answer goes on there: the next server learns what became of it. */
			j = job_slot(mod, job);
			st->ending_left += j->step == STEP_EXITING || j->step == STEP_EXITED ||
					   (step_is_running(j->step) && !step_is_suspended(j->step) &&
					    host_is_linked(mod, job));
			continue;
		}
		keel_cursor_close(st->ending_walk);
		st->ending_walk = NULL;
		st->ending_next = keel_now_ms(mod) + AGAIN_MS;
	}
}

static void shutdown_check(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	bool runs, walked;

	(void)arg;
	end_jobs(mod);
	st->terminator = NULL;
	/* Suspended jobs are not waited for; nor, once a walk has ended the running ones, those that cannot end (their host is
	 * away). */
	runs = st->counts.n[TALLY_RUNNING] > st->suspended || st->counts.n[TALLY_EXITING] > 0;
	walked = st->ending_next && !st->ending_walk;
	if (runs && !(walked && st->ending_left == 0))
		st->terminator = keel_timer(mod, st->ending_walk ? 0 : CHECK_MS, shutdown_check, NULL);
	else
		keel_stop(mod);
}

bool shutting_down(const struct state *st)
{
	return st->terminating;
}

void shutdown_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_timer_cancel(st->terminator);
	st->terminator = NULL;
	keel_cursor_close(st->ending_walk);
	st->ending_walk = NULL;
	st->ending_next = 0;
}

void on_shutdown(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	const struct keel_session *who = keel_req_session(req);
	int64_t asked = keel_msg_int(keel_req_body(req), "manner", QUICK);
	int64_t manner = asked & MANNER;

	if (manner > QUICK) {
		keel_reply(req, PBSE_IVALREQ, NULL);
		return;
	}
	if (asked & ONLY_SECONDARY) {
		keel_reply(req, PBSE_IVALREQ, "There is no secondary server; this one goes on");
		return;
	}
	keel_log(mod, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN | KEEL_LOG_DEBUG, "Svr",
		 keel_server_name(mod), "Shutdown request from %s ", who->who);
	keel_log(mod, KEEL_LOG_SYSTEM, "Svr", keel_server_name(mod), "Shutdown: %s",
		 words[manner]);
	if (asked & HOSTS)
		keel_task_stop_hosts();
	shutdown_drop(mod); /* this request replaces an earlier one */
	st->terminating = manner != QUICK;
	snprintf(st->terminating_by, sizeof(st->terminating_by), "%s", who->who);
	if (st->terminating && server_shutdown)
		keel_set_str(keel_find(mod, "server", keel_server_name(mod)),
			     server_shutdown,
			     manner == DELAY ? "Terminating_Delay" : "Terminating");
	if (manner == IMMEDIATE)
		ending_walk_begin(mod);
	keel_reply(req, 0, NULL);
	if (manner == QUICK)
		keel_stop(mod);
	else
		st->terminator = keel_timer(mod, 0, shutdown_check, NULL);
}
