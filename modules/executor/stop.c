/* SPDX-License-Identifier: Apache-2.0
 *
 * stop.c - signals to a task: ordinary ones, suspend and resume, the end by TERM and KILL.
 *
 * Suspending is SIGSTOP in passes until no process of the task can run; the answer waits for that. Where
 * the task has a cgroup the first pass happens with it frozen, so that no fork escapes, and at the end it is
 * frozen for good, so that its user's SIGCONT changes nothing; what people see is state T on every host. Where
 * it has none, each tick looks at it again. A stopped task takes KILL only.
 */
#include "executor.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "proc.h"

#define KILL_AGAIN_MS 5	 /* passes of KILL, */
#define KILL_ROUNDS 200	 /* so many, then */
#define KILL_LATER_MS 1000 /* in this interval: a process in the kernel ends when it leaves it */
#define DISCARD_ROUNDS 10 /* at least: its shepherd may be about to place the output, before it sees the order */
#define SISTER_LOOK_MS 50
#define STOP_AGAIN_MS 5 /* at most; sooner at first: most tasks stand still at once */
#define STOP_LONGEST_MS 2000 /* a process in the kernel stops when it leaves it */

void stop_answer(struct keel_mod *mod, int64_t number, int32_t code, const char *text)
{
	struct keel_out *out = number ? keel_out(mod) : NULL;

	if (!out)
		return;
	keel_put_int(out, "number", number);
	keel_put_int(out, "code", code);
	keel_put_str(out, "text", text);
	keel_link_send(mod, "server", "task.answer", out);
}

void answer(struct keel_mod *mod, const struct answer_to *to, int32_t code, const char *text)
{
	stop_answer(mod, to->number, code, text);
	if (to->done)
		to->done(to->me, to->arg, code, text);
}

/* Its first process: once that is gone, the shepherd ends the rest, and places the output. */
static bool leader_lives(const struct task *t)
{
	struct proc p;

	return t->session > 0 && proc_read(t->session, &p) == 0 && p.parent == t->shepherd &&
	       !strchr("ZX", p.state);
}

/* Nothing is left but what its shepherd does: it has not begun, or its first process is gone. */
static bool is_over(const struct task *t)
{
	return t->why[0] || t->over || (t->session && !leader_lives(t));
}

/* A daemon that started while the shepherd was starting the task missed its message. */
static void session_learn(struct keel_mod *mod, struct task *t)
{
	const struct state *st = mod->state;
	struct diary d;

	if (!t->session && t->talk < 0 && record_read(st->mom.jobs_dir, t->id, &d) == 0 && d.run == t->run)
		t->session = d.session;
}

static void kill_pass(struct keel_mod *mod, void *arg)
{
	struct task *t = arg;

	t->kill_timer = NULL;
	session_learn(mod, t);
	if (is_sister(t) && t->ready) { /* its shepherd ends all that is left, as after the end of a program */
		t->end_wanted = true;
		talk_say(mod, t, "end", -1);
		return;
	}
	if (!t->shepherd || (t->kill_rounds && !t->discarded && is_over(t)))
		return; /* another one will be at it; who places its output is no process of the task */
	if (t->freezer)
		group_kill(t->freezer);
	proc_kill_pass(t->shepherd); /* ends stopped processes too */
	kill(t->shepherd, SIGCONT);  /* where it runs as its user, the user may have stopped it */
	t->kill_rounds++;
	if (!is_over(t) || (t->discarded && t->kill_rounds < DISCARD_ROUNDS))
		t->kill_timer = keel_timer(mod, t->kill_rounds < KILL_ROUNDS ? KILL_AGAIN_MS : KILL_LATER_MS,
					   kill_pass, t);
}

/* The time after TERM is over, or since its end was requested before it had a program. When TERM has ended its
 * processes, their output has the time that it needs. */
static void kill_now(struct keel_mod *mod, void *arg)
{
	struct task *t = arg;

	t->kill_timer = NULL;
	if (!is_over(t) || t->kill_delivery)
		kill_pass(mod, t);
}

static void kill_begin(struct keel_mod *mod, struct task *t)
{
	keel_timer_cancel(t->kill_timer);
	t->kill_rounds = 0;
	kill_pass(mod, t);
}

/* A sister has no program whose end shows that TERM was enough. */
static void sister_look(struct keel_mod *mod, void *arg)
{
	struct task *t = arg;
	int64_t left = t->end_deadline_ms - keel_now_ms(mod);
	pid_t *pids = NULL;
	size_t n = 0;
	bool quiet = !t->members && !t->spawns && proc_descendants(t->shepherd, &pids, &n) == 0 && n == 0;

	free(pids);
	t->kill_timer = NULL;
	if (quiet || left <= 0)
		kill_pass(mod, t);
	else
		t->kill_timer = keel_timer(mod, left < SISTER_LOOK_MS ? left : SISTER_LOOK_MS, sister_look, t);
}

void stop_kill(struct keel_mod *mod, struct task *t, int64_t delay_ms)
{
	if (t->state == TASK_BEGIN) { /* at a gate it ends now, else when there is a process */
		t->kill_delay = delay_ms > 0 ? delay_ms : 0;
		launch_withdraw(mod, t);
		if (t->shepherd && (!t->kill_timer || !t->kill_delay)) { /* its user may have stopped that one */
			keel_timer_cancel(t->kill_timer);
			t->kill_timer = keel_timer(mod, t->kill_delay, kill_now, t);
		}
		return;
	}
	if (t->state == TASK_ENDED || t->state == TASK_REFUSED || !t->shepherd)
		return;
	t->ending = true;
	if (delay_ms <= 0 || (is_sister(t) && !t->members)) { /* no task is there that TERM could end */
		kill_begin(mod, t);
		return;
	}
	proc_kill(t->shepherd, SIGTERM);
	attached_signal(t, NULL, SIGTERM);
	if (t->state == TASK_STOPPED) {
		proc_kill(t->shepherd, SIGCONT); /* TERM is not for stopped processes */
		if (t->freezer)
			group_thaw(t->freezer);
	}
	if (t->kill_timer)
		return;
	if (is_sister(t)) {
		t->end_deadline_ms = keel_now_ms(mod) + delay_ms;
		sister_look(mod, t);
		return;
	}
	session_learn(mod, t);
	t->kill_delivery = !leader_lives(t);
	t->kill_timer = keel_timer(mod, delay_ms, kill_now, t);
}

/* Neither the task nor its output is wanted; what is in <id>.TK its shepherd reads before it keeps any. */
void stop_discard(struct keel_mod *mod, struct task *t)
{
	t->discarded = true;
	if (t->state == TASK_ENDED || t->state == TASK_REFUSED) {
		task_free(mod, t);
		return;
	}
	if (!t->shepherd) { /* still at a gate or a worker */
		launch_withdraw(mod, t);
		return;
	}
	record_note(mod, t, "discarded");
	launch_withdraw(mod, t);
	kill_begin(mod, t);
}

/* ---- suspend, resume -------------------------------------------------------------------------- */

static void stop_done(struct keel_mod *mod, struct task *t)
{
	struct answer_to to = t->stop_to;

	t->stop_to = (struct answer_to){ 0 };
	t->state = TASK_STOPPED;
	t->ending = t->restless = false;
	if (t->freezer) /* what is stopped counts as frozen, and only root lets it go */
		group_freeze(t->freezer);
	t->stopped_at_ms = keel_now_ms(mod);
	record_note(mod, t, "stopped %lld %lld", (long long)keel_time(mod), (long long)proc_up_ms());
	usage_measure(mod, t); /* before the answer: the record of the suspension has it */
	keel_note(mod, KEEL_POINT_task_suspended, KEEL_EVENT(task_suspended, .id = t->id));
	answer(mod, &to, 0, NULL);
}

static void stop_pass(struct keel_mod *mod, void *arg)
{
	struct task *t = arg;
	int running = proc_stop(t->shepherd, SIGSTOP);
	int64_t left = t->stop_deadline_ms - keel_now_ms(mod), gone = STOP_LONGEST_MS - left;

	t->stop_timer = NULL;
	attached_signal(t, NULL, SIGSTOP);
	if (running == -ESRCH && is_sister(t)) /* no task is there, which a program always is */
		running = 0;
	t->stop_quiet = running == 0 ? t->stop_quiet + 1 : 0;
	if (t->stop_quiet < 2 && left > 0)
		t->stop_timer = keel_timer(mod, gone < STOP_AGAIN_MS ? gone + 1 : STOP_AGAIN_MS,
					   stop_pass, t);
	if (!t->stop_timer)
		stop_done(mod, t);
}

static void suspend(struct keel_mod *mod, struct task *t, const struct answer_to *to)
{
	if (t->state != TASK_RUN || t->stop_timer || t->over) {
		keel_log(mod, KEEL_LOG_JOB, "Job", t->id,
			 t->state == TASK_STOPPED || t->stop_timer
				 ? "suspend failed: server indicates job is already suspended"
				 : "suspend failed, job substate = 41");
		answer(mod, to, PBSE_BADSTATE, NULL);
		return;
	}
	t->stop_to = *to;
	if (t->freezer && group_freeze(t->freezer) == 0) { /* nothing forks while SIGSTOP is handed out */
		proc_stop(t->shepherd, SIGSTOP);
		group_thaw(t->freezer);
	}
	t->stop_quiet = 0;
	t->stop_deadline_ms = keel_now_ms(mod) + STOP_LONGEST_MS;
	stop_pass(mod, t);
}

/* A question may outlive its task: the gate's answer finds it by name. */
struct resumption {
	struct answer_to to;
	int64_t run;
	char id[];
};

static void resume_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct resumption *q = arg;
	struct task *t = task_find(st, q->id);

	if (!t || t->run != q->run || t->state != TASK_STOPPED) {
		answer(mod, &q->to, PBSE_BADSTATE, NULL);
	} else if (o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL) {
		keel_log(mod, KEEL_LOG_JOB, "Job", q->id, "execjob_preresume hook rejected request: %s",
			 o->text ? o->text : "");
		answer(mod, &q->to, PBSE_MOMREJECT, o->text);
	} else {
		proc_kill(t->shepherd, SIGCONT);
		attached_signal(t, NULL, SIGCONT);
		if (t->freezer)
			group_thaw(t->freezer);
		t->state = TASK_RUN;
		t->stopped_ms += keel_now_ms(mod) - t->stopped_at_ms;
		t->stopped_at_ms = 0;
		record_note(mod, t, "resumed %lld %lld", (long long)keel_time(mod), (long long)proc_up_ms());
		answer(mod, &q->to, 0, NULL);
	}
	free(q);
}

static void resume(struct keel_mod *mod, struct task *t, const struct answer_to *to)
{
	struct resumption *q;

	if (t->state != TASK_STOPPED) {
		answer(mod, to, PBSE_BADSTATE, NULL);
		return;
	}
	q = malloc(sizeof(*q) + strlen(t->id) + 1);
	if (!q) {
		answer(mod, to, PBSE_MOMREJECT, "no memory on the host");
		return;
	}
	q->to = *to;
	q->run = t->run;
	strcpy(q->id, t->id);
	keel_raise(mod, &(struct keel_raise){ .size = sizeof(struct keel_raise),
					      .point = KEEL_POINT_task_resume,
					      .event = KEEL_EVENT(task_resume, .id = q->id),
					      .done = resume_decided, .arg = q });
}

static void signal_plain(struct keel_mod *mod, struct task *t, const char *name, const struct answer_to *to)
{
	int signum = signal_number(name);

	if (signum < 0) {
		answer(mod, to, PBSE_UNKSIG, NULL);
		return;
	}
	if (t->state == TASK_STOPPED && signum != SIGKILL) {
		keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "cannot signal job, job substate = 43");
		answer(mod, to, PBSE_BADSTATE, NULL);
		return;
	}
	if (t->state != TASK_RUN && t->state != TASK_STOPPED) {
		answer(mod, to, PBSE_BADSTATE, NULL);
		return;
	}
	keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "kill_job");
	if (signum == SIGKILL) {
		t->ending = true;
		kill_begin(mod, t);
	} else if (signum < NSIG) {
		proc_kill(t->shepherd, signum);
		attached_signal(t, NULL, signum);
	}
	answer(mod, to, 0, NULL);
}

void stop_act(struct keel_mod *mod, struct task *t, const char *name, struct answer_to to)
{
	if (strcmp(name, "suspend") == 0)
		suspend(mod, t, &to);
	else if (strcmp(name, "resume") == 0)
		resume(mod, t, &to);
	else
		signal_plain(mod, t, name, &to);
}

/* An order of the server's that task_act may refuse, or keep until other hosts have obeyed it. */
struct act {
	struct answer_to to;
	int64_t run;
	act_fn *then;
	const char *id;
	char name[];
};

static void act_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct act *a = arg;
	struct task *t = task_find(st, a->id);

	if (st->stopping)
		; /* no caller waits for it */
	else if (!t || t->run != a->run || t->discarded)
		answer(mod, &a->to, PBSE_BADSTATE, NULL);
	else if (o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL)
		answer(mod, &a->to, o->code > 0 ? o->code : PBSE_MOMREJECT, o->text);
	else
		a->then(mod, t, a->name, a->to);
	free(a);
}

void act_ask(struct keel_mod *mod, const struct task *t, const char *name, int64_t number, act_fn *then)
{
	size_t len = strlen(name) + 1;
	struct act *a = malloc(sizeof(*a) + len + strlen(t->id) + 1);

	if (!a) {
		stop_answer(mod, number, PBSE_MOMREJECT, "no memory on the host");
		return;
	}
	*a = (struct act){ .to = { .number = number }, .run = t->run, .then = then, .id = a->name + len };
	memcpy(a->name, name, len);
	strcpy(a->name + len, t->id);
	keel_raise(mod, &(struct keel_raise){ .size = sizeof(struct keel_raise),
					      .point = KEEL_POINT_task_act,
					      .event = KEEL_EVENT(task_act, .id = a->id, .name = a->name),
					      .done = act_decided, .arg = a });
}

/* ---- messages --------------------------------------------------------------------------------- */

struct task *stop_task_of(struct keel_mod *mod, const struct keel_msg *m)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(m, "id");
	struct task *t = id ? task_find(st, id) : NULL;
	int64_t run = keel_msg_int(m, "run", -1);

	if (t && t->run == run && !t->discarded)
		return t;
	if (id && !(t && t->next && t->next->run == run))
		keel_link_send(mod, "server", "task.unknown", run_message(mod, id, run));
	return NULL;
}

void on_signal(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	int64_t number = keel_msg_int(m, "number", 0);
	const char *name = keel_msg_str(m, "name"), *as = keel_msg_str(m, "as");
	struct task *t = stop_task_of(mod, m);

	(void)peer;
	if (!t || !name) {
		stop_answer(mod, number, t ? PBSE_UNKSIG : PBSE_BADSTATE, NULL);
		return;
	}
	if (number && number == t->heard)
		return;
	t->heard = number;
	keel_log(mod, KEEL_LOG_DEBUG, "Job", t->id, "signal job request received");
	keel_log(mod, KEEL_LOG_ADMIN, "Job", t->id, "signal job with %s", as ? as : name);
	act_ask(mod, t, name, number, stop_act);
}

/* An order to end a task that may be refused here; it finds its task by name. */
struct termination {
	int64_t number, run, delay_ms;
	char id[];
};

static void kill_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct termination *k = arg;
	struct task *t = task_find(st, k->id);

	if (!t || t->run != k->run) {
		stop_answer(mod, k->number, PBSE_BADSTATE, NULL);
	} else if (o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL) {
		keel_log(mod, KEEL_LOG_ERROR, "Job", k->id, "the end of the job was refused: %s",
			 o->text ? o->text : "no reason given");
		stop_answer(mod, k->number, o->code ? o->code : PBSE_HOOK_REJECT, o->text);
	} else {
		stop_answer(mod, k->number, 0, NULL);
		keel_log(mod, KEEL_LOG_JOB, "Job", k->id, "kill_job");
		stop_kill(mod, t, k->delay_ms);
	}
	free(k);
}

static void kill_ask(struct keel_mod *mod, const struct task *t, int64_t number, int64_t delay_ms)
{
	struct termination *k = malloc(sizeof(*k) + strlen(t->id) + 1);

	if (!k) {
		stop_answer(mod, number, PBSE_MOMREJECT, "no memory on the host");
		return;
	}
	k->number = number;
	k->run = t->run;
	k->delay_ms = delay_ms;
	strcpy(k->id, t->id);
	keel_raise(mod, &(struct keel_raise){ .size = sizeof(struct keel_raise),
					      .point = KEEL_POINT_task_preterm,
					      .event = KEEL_EVENT(task_preterm, .id = k->id),
					      .done = kill_decided, .arg = k });
}

/* Without a number it is no question: decided before, or by force. */
void on_kill(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	int64_t number = keel_msg_int(m, "number", 0), delay = keel_msg_int(m, "delay", 0);
	struct task *t = stop_task_of(mod, m);

	(void)peer;
	if (!t) {
		stop_answer(mod, number, PBSE_BADSTATE, NULL);
		return;
	}
	keel_log(mod, KEEL_LOG_DEBUG, "Job", t->id, "signal job request received");
	keel_log(mod, KEEL_LOG_ADMIN, "Job", t->id, "signal job with TermJob");
	if (number) {
		kill_ask(mod, t, number, delay);
		return;
	}
	keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "kill_job");
	stop_kill(mod, t, delay);
}

void on_discard(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(m, "id");
	int64_t run = keel_msg_int(m, "run", -1);
	struct task *t = id ? task_find(st, id) : NULL;

	(void)peer;
	if (t && t->next && t->next->run == run) {
		launch_free(t->next);
		t->next = NULL;
		gone_tell(mod, id, run);
		return;
	}
	if (id && (!t || t->run != run))
		gone_tell(mod, id, run);
	if (!t || t->run != run || t->discarded)
		return;
	if (t->state != TASK_ENDED || !is_sister(t)) /* there each end of a job comes so */
		keel_log(mod, KEEL_LOG_ERROR, "Job", id, "Job discarded at request of Server");
	stop_discard(mod, t);
}

