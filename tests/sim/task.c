/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c - simulated tasks. They follow the same protocol as real ones: what is repeated changes
 * nothing, an end is kept until the server has recorded it.
 *
 *   start -> B -> R <-> S -> E -> forgotten       B -> F (refused) -> forgotten
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "msg/msg.h"
#include "sim.h"

#define BEGIN_MS 400      /* the longest that a start takes */
#define STOP_MS 60
#define SIGNALLED 271     /* 256 + TERM, as hosts report it */
#define KILLED 265
#define TRY_LATER (-3)
#define REFUSED 0.02      /* of the orders that may be refused */

enum pbse { UNKSIG = 15013, BADSTATE = 15016, NOSUP = 15029, HOOK_REJECT = 15169 };

/* Every run that some host has begun, so that none begins twice. */
struct launched {
	char *run;
	UT_hash_handle hh;
};

static void ended(struct task *t, int32_t status);

static void state_set(struct task *t, char state)
{
	t->host->sim->n_running += (state == 'R' && !part_is_sister(t));
	t->host->sim->n_running -= (t->state == 'R' && !part_is_sister(t));
	t->state = state;
}

struct task *task_on(const struct host *h, const char *id)
{
	struct task *t;

	HASH_FIND_STR(h->tasks, id, t);
	return t;
}

bool task_is_alive(const struct task *t)
{
	return t->state == 'R' || t->state == 'S';
}

static void timers_stop(struct task *t)
{
	loop_timer_cancel(t->timer);
	loop_timer_cancel(t->stop_timer);
	t->timer = t->stop_timer = NULL;
}

static void task_free(struct task *t)
{
	timers_stop(t);
	state_set(t, 'F');
	HASH_DEL(t->host->tasks, t);
	part_free(t->part);
	part_free(t->next_part);
	free(t->id);
	free(t);
}

void task_vanish(struct task *t)
{
	task_free(t);
}

/* ---- words to the server ------------------------------------------------------------------------ */

static struct keel_out *about(const char *id, int64_t run)
{
	struct keel_out *o = out_create();

	out_put_str(o, "id", id);
	out_put_int(o, "run", run);
	return o;
}

static int64_t walltime_s(const struct task *t)
{
	int64_t until = t->stopped_at_ms ? t->stopped_at_ms : t->host->sim->now_ms;

	return t->began_ms ? (until - t->began_ms - t->stopped_ms) / 1000 : 0;
}

static void usage_put(const struct task *t, struct keel_out *o)
{
	int64_t s = walltime_s(t);
	char wall[48], cput[48];
	const char *items[] = { "cpupercent=100", cput, "mem=1024kb", "ncpus=1", "vmem=2048kb", wall };

	snprintf(wall, sizeof(wall), "walltime=%02lld:%02lld:%02lld", (long long)(s / 3600),
		 (long long)(s / 60 % 60), (long long)(s % 60));
	snprintf(cput, sizeof(cput), "cput=%02lld:%02lld:%02lld", (long long)(s / 3600),
		 (long long)(s / 60 % 60), (long long)(s % 60));
	msg_api.put_strings(o, "items", items, KEEL_COUNT(items));
}

void task_report(struct task *t)
{
	const char *name = task_is_alive(t)  ? "task.started"
			   : t->state == 'E' ? "task.ended"
			   : t->state == 'F' ? "task.refused"
					     : NULL;
	struct keel_out *o;

	if (t->leaving && t->state == 'E')
		name = "task.released";
	else if (part_is_sister(t))
		return;
	if (t->discarded || name == NULL)
		return;
	o = about(t->id, t->run);
	out_put_int(o, "session", t->session);
	if (t->state == 'E' || t->state == 'F')
		out_put_int(o, "status", t->status);
	if (t->state == 'F')
		out_put_str(o, "why", "no room for another task here");
	if (t->state == 'E')
		usage_put(t, o);
	host_say(t->host, o, name);
}

static void answer(struct host *h, int64_t number, int32_t code)
{
	struct keel_out *o;

	if (number == 0)
		return;
	o = out_create();
	out_put_int(o, "number", number);
	out_put_int(o, "code", code);
	host_say(h, o, "task.answer");
}

/* To whom it was that had it stopped, or let go. */
static void acted(struct task *t, int64_t number, int32_t code)
{
	if (!part_answer(t, number, code))
		answer(t->host, number, code);
}

/* ---- begin and end -------------------------------------------------------------------------------- */

static void life_over(void *arg)
{
	struct task *t = arg;

	t->timer = NULL;
	ended(t, t->status);
}

static void live_on(struct task *t)
{
	loop_timer_cancel(t->timer);
	t->timer = t->left_ms < INT64_MAX ? loop_timer(t->host->sim->loop, t->left_ms, life_over, t)
					  : NULL;
}

/* Its end by a signal, some time within `delay_ms`. */
static void die(struct task *t, int64_t delay_ms, int32_t status)
{
	struct sim *s = t->host->sim;
	int64_t in_ms = chance_between(&s->tasks, 0, delay_ms);

	if (!task_is_alive(t) || part_is_ending(t))
		return;
	t->status = status;
	loop_timer_cancel(t->timer);
	t->timer = loop_timer(s->loop, in_ms, life_over, t);
}

static void launch_note(struct task *t)
{
	struct sim *s = t->host->sim;
	char run[320];
	struct launched *l;

	snprintf(run, sizeof(run), "%s#%lld", t->id, (long long)t->run);
	HASH_FIND_STR(s->launched, run, l);
	if (l != NULL) {
		sim_wrong(s, "run %lld of job %s began twice, the second time on %s",
			  (long long)t->run, t->id, t->host->name);
		return;
	}
	l = calloc(1, sizeof(*l));
	l->run = strdup(run);
	HASH_ADD_KEYPTR(hh, s->launched, l->run, strlen(l->run), l);
}

static void begins(void *arg)
{
	struct task *t = arg;
	struct host *h = t->host;
	struct sim *s = h->sim;

	t->timer = NULL;
	if (t->discarded) {
		ended(t, KILLED);
		return;
	}
	if (!s->calm && chance_is(&s->tasks, s->conf.faults.mom)) {
		host_restart(h, chance_is(&s->tasks, 0.5)); /* the task is gone with it */
		return;
	}
	if (!s->calm && chance_is(&s->tasks, s->conf.faults.mom)) {
		task_refuse(t, TRY_LATER);
		return;
	}
	if (part_is_sister(t)) {
		state_set(t, 'R');
		part_set_up(t);
	} else if (!part_set_up(t)) {
		task_run(t);
	}
}

void task_refuse(struct task *t, int32_t status)
{
	if (t->discarded) {
		ended(t, KILLED);
		return;
	}
	state_set(t, 'F');
	t->status = status;
	part_refused(t);
	task_report(t);
}

void task_run(struct task *t)
{
	struct host *h = t->host;
	struct sim *s = h->sim;

	launch_note(t);
	state_set(t, 'R');
	t->session = 1000 + (int64_t)(hash_text((uint64_t)t->run + 1, t->id) % 30000);
	t->began_ms = s->now_ms;
	trace(s, "%s runs %s run %lld", h->name, t->id, (long long)t->run);
	live_on(t);
	task_report(t);
	part_runs(t);
	if (t->kill_delay >= 0)
		die(t, t->kill_delay, SIGNALLED);
}

static struct task *task_create(struct host *h, const char *id, int64_t run, int64_t left_ms, struct part *part)
{
	struct task *t = calloc(1, sizeof(*t));

	t->host = h;
	t->part = part;
	t->id = strdup(id);
	t->run = run;
	state_set(t, 'B');
	t->kill_delay = -1;
	t->left_ms = left_ms;
	HASH_ADD_KEYPTR(hh, h->tasks, t->id, strlen(t->id), t);
	t->timer = loop_timer(h->sim->loop, chance_between(&h->sim->tasks, 1, BEGIN_MS), begins, t);
	part_start(t);
	return t;
}

static void task_gone(struct task *t)
{
	struct host *h = t->host;
	char *id = strdup(t->id);
	int64_t run = t->next_run, left_ms = t->next_left_ms;
	struct part *part = run != 0 ? t->next_part : NULL;

	if (part != NULL)
		t->next_part = NULL;
	task_free(t);
	if (run != 0)
		task_create(h, id, run, left_ms, part);
	free(id);
}

static void ended(struct task *t, int32_t status)
{
	struct sim *s = t->host->sim;

	if (t->stop_timer != NULL)
		acted(t, t->stop_number, BADSTATE);
	timers_stop(t);
	t->status = status;
	if (part_ends(t))
		return;
	state_set(t, 'E');
	if (t->stopped_at_ms == 0)
		t->stopped_at_ms = s->now_ms; /* its clock stands still */
	trace(s, "%s ended %s run %lld status %d", t->host->name, t->id, (long long)t->run, status);
	task_report(t);
	part_ended(t);
	if (t->discarded || t->next_run != 0)
		task_gone(t);
}

void task_over(struct task *t)
{
	ended(t, t->status);
}

void task_kill(struct task *t, int64_t delay_ms, int32_t status)
{
	die(t, delay_ms, status != 0 ? status : KILLED);
}

/* "hh:mm:ss" or seconds; INT64_MAX none. */
static int64_t limit_ms(const char *text)
{
	int64_t total = 0;

	if (text == NULL || *text == '\0')
		return INT64_MAX;
	for (; *text != '\0'; text++) {
		total = total * 60 + strtoll(text, (char **)&text, 10);
		if (*text != ':')
			break;
	}
	return total * 1000;
}

/* How long a run lasts is a matter of the seed, the job and the run alone. */
static int64_t life_ms(struct host *h, const char *id, int64_t run)
{
	struct chance c = chance_of(h->sim->conf.seed + (uint64_t)run, id);

	if (h->sim->conf.job_ms <= 0)
		return INT64_MAX;
	return 1 + chance_wait(&c, h->sim->conf.job_ms);
}

void task_start(struct host *h, const struct keel_msg *m)
{
	const struct keel_msg_api *msg = &msg_api;
	const char *id = msg->str(m, "id");
	int64_t run = msg->integer(m, "run", -1), left_ms, limit;
	struct task *t = id != NULL ? task_on(h, id) : NULL;
	struct part *part;

	if (id == NULL || run < 0 || (t != NULL && (t->run > run || t->next_run >= run)))
		return;
	if (t != NULL && t->run == run) {
		task_report(t);
		return;
	}
	limit = limit_ms(msg->str(m, "walltime"));
	left_ms = life_ms(h, id, run);
	if (left_ms > limit)
		left_ms = limit;
	part = part_make(h, m);
	if (msg->integer(m, "index", 0) > 0)
		left_ms = INT64_MAX; /* no program */
	if (t != NULL && t->state != 'E' && t->state != 'F') {
		part_free(t->next_part);
		t->next_run = run;
		t->next_left_ms = left_ms;
		t->next_part = part;
		return;
	}
	if (t != NULL)
		task_free(t);
	task_create(h, id, run, left_ms, part);
}

/* ---- orders --------------------------------------------------------------------------------------- */

static void stopped(void *arg)
{
	struct task *t = arg;

	t->stop_timer = NULL;
	state_set(t, 'S');
	t->stopped_at_ms = t->host->sim->now_ms;
	acted(t, t->stop_number, 0);
}

static void suspend(struct task *t, int64_t number)
{
	struct sim *s = t->host->sim;

	if (t->state != 'R' || t->stop_timer != NULL || part_is_ending(t)) {
		acted(t, number, part_is_sister(t) && t->state == 'S' ? 0 : BADSTATE);
		return;
	}
	if (t->left_ms < INT64_MAX) {
		t->left_ms -= s->now_ms - t->began_ms - t->stopped_ms;
		t->left_ms = t->left_ms > 1 ? t->left_ms : 1;
	}
	t->stop_number = number;
	t->stop_timer = loop_timer(s->loop, chance_between(&s->tasks, 0, STOP_MS), stopped, t);
	if (t->status == 0) {
		loop_timer_cancel(t->timer); /* a stopped task does not end by itself */
		t->timer = NULL;
	}
}

static void resume(struct task *t, int64_t number)
{
	if (t->state != 'S' || part_is_ending(t)) {
		acted(t, number, part_is_sister(t) && t->state == 'R' && t->stop_timer == NULL ? 0 : BADSTATE);
		return;
	}
	state_set(t, 'R');
	t->stopped_ms += t->host->sim->now_ms - t->stopped_at_ms;
	t->stopped_at_ms = 0;
	if (t->status == 0)
		live_on(t);
	acted(t, number, 0);
}

void task_acted(struct task *t, const char *name, int64_t number, int32_t code)
{
	if (code != 0)
		acted(t, number, code);
	else if (strcmp(name, "suspend") == 0)
		suspend(t, number);
	else
		resume(t, number);
}

static void signal_plain(struct task *t, const char *name, int64_t number)
{
	bool ends = strstr("TERM SIGTERM INT SIGINT KILL SIGKILL HUP SIGHUP", name) != NULL;

	if (strncmp(name, "SIG", 3) != 0 && strstr("TERM INT KILL HUP USR1 USR2 0", name) == NULL) {
		answer(t->host, number, UNKSIG);
		return;
	}
	if (t->state != 'R' && !(t->state == 'S' && strstr(name, "KILL") != NULL)) {
		answer(t->host, number, BADSTATE);
		return;
	}
	answer(t->host, number, 0);
	if (ends)
		die(t, t->state == 'S' ? 0 : 50, strstr(name, "KILL") != NULL ? KILLED : SIGNALLED);
}

static void on_signal(struct task *t, const struct keel_msg *m)
{
	const char *name = msg_api.str(m, "name");
	int64_t number = msg_api.integer(m, "number", 0);

	if (number != 0 && number == t->heard)
		return; /* it came twice */
	t->heard = number;
	if (name == NULL)
		answer(t->host, number, UNKSIG);
	else if ((strcmp(name, "suspend") == 0 || strcmp(name, "resume") == 0) && part_acts(t, name, number))
		return;
	else if (strcmp(name, "suspend") == 0)
		suspend(t, number);
	else if (strcmp(name, "resume") == 0)
		resume(t, number);
	else
		signal_plain(t, name, number);
}

/* With a number it is a question: now and then a host says no. */
static void on_kill(struct task *t, const struct keel_msg *m)
{
	struct sim *s = t->host->sim;
	int64_t delay_ms = msg_api.integer(m, "delay", 0), number = msg_api.integer(m, "number", 0);
	bool no = number != 0 && !s->calm && chance_is(&s->tasks, REFUSED);

	answer(t->host, number, no ? HOOK_REJECT : 0);
	if (no)
		return;
	if (t->state == 'B')
		t->kill_delay = delay_ms;
	else
		die(t, delay_ms, SIGNALLED);
}

static void on_checkpoint(struct task *t, const struct keel_msg *m)
{
	answer(t->host, msg_api.integer(m, "number", 0), NOSUP);
}

static void on_discard(struct task *t, const struct keel_msg *m)
{
	(void)m;
	t->discarded = true;
	if (t->state == 'E' || t->state == 'F')
		task_gone(t);
	else if (part_is_ending(t) || (t->state == 'B' && t->timer == NULL))
		ended(t, KILLED);
	else if (t->state != 'B')
		die(t, 0, KILLED);
}

static void on_forget(struct task *t, const struct keel_msg *m)
{
	if (t->state == 'E' || t->state == 'F')
		task_gone(t);
	else if (part_is_sister(t))
		on_discard(t, m); /* the job is over */
}

static void on_release(struct task *t, const struct keel_msg *m)
{
	(void)m;
	if (!part_is_sister(t))
		return;
	t->leaving = true;
	if (t->state == 'E')
		task_report(t);
	else if (t->state == 'B' || t->state == 'F')
		ended(t, KILLED);
	else
		die(t, 0, KILLED);
}

static const struct {
	const char *name;
	void (*fn)(struct task *t, const struct keel_msg *m);
	bool must_be_there; /* the server is notified when the run is not here */
} orders[] = {
	{ "task.signal", on_signal, true },
	{ "task.kill", on_kill, true },
	{ "task.checkpoint", on_checkpoint, true },
	{ "task.discard", on_discard, false },
	{ "task.forget", on_forget, false },
	{ "task.release", on_release, false },
	{ "task.resize", part_resize, false },
};

static void unknown(struct host *h, const struct keel_msg *m, const char *id, int64_t run)
{
	host_say(h, about(id, run), "task.unknown");
	answer(h, msg_api.integer(m, "number", 0), BADSTATE);
}

void task_order(struct host *h, const char *name, const struct keel_msg *m)
{
	const char *id = msg_api.str(m, "id");
	int64_t run = msg_api.integer(m, "run", -1);
	struct task *t = id != NULL ? task_on(h, id) : NULL;

	for (size_t i = 0; id != NULL && i < KEEL_COUNT(orders); i++) {
		if (strcmp(orders[i].name, name) != 0)
			continue;
		if (t != NULL && t->next_run == run && strcmp(name, "task.discard") == 0)
			t->next_run = 0;
		else if (t != NULL && t->run == run && !(t->discarded && orders[i].must_be_there))
			orders[i].fn(t, m);
		else if (orders[i].must_be_there && t != NULL && t->next_run == run)
			answer(h, msg_api.integer(m, "number", 0), BADSTATE); /* too early */
		else if (orders[i].must_be_there)
			unknown(h, m, id, run);
		else if (orders[i].fn == on_release)
			host_say(h, about(id, run), "task.released");
		return;
	}
}

/* The daemon ends: what had not begun is lost. The host ends: what was running, too. */
void tasks_lose(struct host *h, bool power)
{
	struct task *t, *next;

	HASH_ITER(hh, h->tasks, t, next) {
		t->next_run = 0;
		if (t->state == 'B' || (power && task_is_alive(t))) {
			task_free(t);
			continue;
		}
		if (t->stop_timer != NULL) { /* its caller has gone; it is stopped all the same */
			loop_timer_cancel(t->stop_timer);
			t->stop_timer = NULL;
			state_set(t, 'S');
			t->stopped_at_ms = h->sim->now_ms;
		}
	}
}
