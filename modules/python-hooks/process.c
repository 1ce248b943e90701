/* SPDX-License-Identifier: Apache-2.0
 *
 * process.c - one process of a script: its start, what it says, the alarm of the call that runs, its end.
 *
 *   PREPARING -> STARTING -> UP -> ENDING
 *        |           |        |      ^
 *        '-----------'--------'------'   could not start; alarm, idle, died, said nonsense, another version
 *
 * A process that ends is not started again: the pool starts another one where calls wait. What it says is untrusted: what does
 * not parse, or comes out of turn, ends it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "run.h"

#define LOOKS 16 /* before an alarm */

static int64_t now_us(const struct process *p)
{
	return keel_clock_us(p->pool->st->mod);
}

/* ---- the end ------------------------------------------------------------------------------------------ */
static void process_free(struct process *p)
{
	struct pool *pool = p->pool;

	pool_back(p, NULL);
	keel_timer_cancel(p->timer);
	folder_remove(p->folder);
	DL_DELETE(pool->processes, p);
	pool->n_processes--;
	free(p->user);
	free(p);
}

/* Nothing it says counts any more. The call that runs has this end (ACCEPTED: it has not begun), those behind it wait again. */
static void process_end(struct process *p, enum how how, const char *why)
{
	struct ask *first = how != ACCEPTED && p->phase == UP ? p->asks : NULL;

	if (p->phase == ENDING)
		return;
	if (first)
		process_release(p, first);
	pool_back(p, NULL);
	keel_timer_cancel(p->timer);
	p->timer = NULL;
	p->phase = ENDING;
	if (p->program)
		keel_supervise_give_up(p->program, why);
	if (first)
		ask_finish_as(first, how, why, now_us(p) - p->began_us);
}

/* Its program is gone, or never was: the next one may be started. */
static void process_gone(struct process *p)
{
	struct pool *pool = p->pool;

	keel_supervise_stop(p->program);
	process_free(p);
	pool_pump(pool);
	pool_end_maybe(pool);
}

static void process_lost(struct process *p, const char *why)
{
	if (p->phase != UP || (p->n_asks > 0 && p->served == 0))
		pool_failed(p->pool, why);
	process_end(p, EXCEPTION, why);
}

static void ended(struct keel_mod *mod, void *arg, const char *why, int64_t again_ms)
{
	struct process *p = arg;

	(void)mod, (void)again_ms;
	if (p->phase != ENDING)
		process_lost(p, why);
	process_gone(p);
}

void process_leave(struct process *p)
{
	p->leaves = true;
	if (p->phase == PREPARING || p->phase == ENDING) /* process_prepared() sees it */
		return;
	if (p->asks)
		pool_back(p, p->asks);
	else
		process_end(p, ACCEPTED, "it is not needed any more");
}

void process_stop(struct process *p)
{
	struct ask *a;

	DL_FOREACH(p->asks, a)
		a->run = NULL;
	if (p->program)
		keel_supervise_drop(p->program);
	process_free(p);
}

/* ---- calls --------------------------------------------------------------------------------------------- */
/* Does the same call run, when all is read that the process has said? The daemon may be the one that was late. */
static bool runs_still(struct process *p)
{
	int64_t number = p->asks->number;

	for (int i = 0; i < LOOKS && p->phase == UP && p->asks && p->asks->number == number; i++)
		keel_supervise_look(p->program);
	return p->phase == UP && p->asks && p->asks->number == number;
}

static void alarmed(struct keel_mod *mod, void *arg)
{
	struct process *p = arg;

	(void)mod;
	p->timer = NULL;
	if (runs_still(p))
		process_end(p, ALARM, "its script ran longer than its alarm");
}

/* What was written ahead does not wait for the alarm of another call: it goes elsewhere, and this process ends with its call. */
static void slow(struct keel_mod *mod, void *arg)
{
	struct process *p = arg;

	p->timer = NULL;
	if (!runs_still(p))
		return;
	p->timer = keel_timer(mod, p->asks->alarm_ms - SLOW_MS, alarmed, p);
	if (p->n_asks == 1)
		return;
	p->last_call = true;
	pool_back(p, p->asks);
	pool_pump(p->pool);
}

static void idle(struct keel_mod *mod, void *arg)
{
	struct process *p = arg;

	(void)mod;
	p->timer = NULL;
	process_end(p, ACCEPTED, "it was idle");
}

/* The first of its calls runs now; or it has none. */
static void begin_next(struct process *p)
{
	const struct conf *conf = p->pool->st->mod->conf;

	keel_timer_cancel(p->timer);
	p->logs = p->log_bytes = p->questions = 0;
	p->began_us = now_us(p);
	p->began_ms = keel_now_ms(p->pool->st->mod);
	p->timer = p->asks ? keel_timer(p->pool->st->mod, SLOW_MS, slow, p) : /* alarms are a second at least */
			     keel_timer(p->pool->st->mod, conf->idle, idle, p);
}

void process_take(struct process *p, struct ask *a)
{
	a->process = p;
	DL_APPEND(p->asks, a);
	p->n_asks++;
	p->ahead_bytes += a->frame.len;
	keel_supervise_send(p->program, a->frame.data, a->frame.len); /* what fails ends it */
	if (p->asks == a)
		begin_next(p);
}

void process_release(struct process *p, struct ask *a)
{
	DL_DELETE(p->asks, a);
	p->n_asks--;
	p->ahead_bytes -= a->frame.len;
}

static void usual_follow(struct pool *pool, int64_t us)
{
	pool->usual_us += (us - pool->usual_us) / 4;
}

static bool on_result(struct process *p, const struct value *frame)
{
	struct pool *pool = p->pool;
	struct ask *a = p->asks;
	struct result result;
	struct value v;
	bool retire;
	int64_t us = now_us(p) - p->began_us;

	if (p->phase != UP || !a || !value_nth(frame, 1, &v) || v.kind != 'i' || v.i != a->number)
		return false;
	if (!value_nth(frame, 2, &v) || !result_read(&v, &result, &retire))
		return false;
	process_release(p, a);
	p->served++;
	pool->fails = 0;
	result.us = us;
	usual_follow(pool, us);
	if (p->leaves || p->last_call || retire)
		process_end(p, ACCEPTED, "another one takes over");
	else
		begin_next(p);
	ask_finish(a, &result);
	result_fini(&result);
	pool_pump(pool);
	return true;
}

/* ---- what else it says --------------------------------------------------------------------------------- */
static bool on_up(struct process *p, const struct value *frame)
{
	(void)frame;
	if (p->phase != STARTING)
		return false;
	p->phase = UP;
	keel_supervise_up(p->program);
	begin_next(p);
	if (p->leaves)
		process_end(p, ACCEPTED, "another one takes over");
	pool_pump(p->pool);
	return true;
}

static bool on_broken(struct process *p, const struct value *frame)
{
	char *text = value_nth_text(frame, 1);

	if (p->phase != STARTING || !text) {
		free(text);
		return false;
	}
	p->pool->fails = FAILS_MAX; /* the next one would say the same */
	process_lost(p, text);
	free(text);
	return true;
}

/* A word between two semicolons of a line of the log: none in it makes another. */
static void word_copy(const struct value *v, char *buf, size_t size)
{
	size_t len = v->kind == 's' ? (v->len < size - 1 ? v->len : size - 1) : 0;

	for (size_t i = 0; i < len; i++)
		buf[i] = (char)(v->s[i] == ';' || iscntrl((unsigned char)v->s[i]) ? '?' : v->s[i]);
	buf[len] = '\0';
}

static bool on_log(struct process *p, const struct value *frame)
{
	const int64_t known = 0x8fff; /* enum keel_log_event */
	struct keel_mod *mod = p->pool->st->mod;
	struct value mask, klass, object, text;
	char a[32], b[256], *words;

	if (!value_nth(frame, 1, &mask) || mask.kind != 'i' || !value_nth(frame, 2, &klass) || !value_nth(frame, 3, &object) ||
	    !value_nth(frame, 4, &text) || klass.kind != 's' || text.kind != 's')
		return false;
	if (p->logs > LOGS_MAX)
		return true;
	p->log_bytes += text.len < LOG_BYTES_MAX ? text.len : LOG_BYTES_MAX;
	if (++p->logs > LOGS_MAX || p->log_bytes > LOG_BYTES_MAX) {
		p->logs = LOGS_MAX + 1;
		keel_log(mod, KEEL_LOG_ERROR, "Hook", p->pool->name, "its script writes too much: other lines of this run are dropped");
		return true;
	}
	word_copy(&klass, a, sizeof(a));
	word_copy(&object, b, sizeof(b));
	words = value_text(&text);
	if (words)
		keel_log(mod, (uint32_t)(mask.i & known), a, b, "%s", words);
	free(words);
	return true;
}

static bool on_ask(struct process *p, const struct value *frame)
{
	struct state *st = p->pool->st;
	struct pack answer = { .data = NULL }, out = { .data = NULL };
	uint32_t open;
	bool is_known;

	if (p->phase != UP || !p->asks || ++p->questions > QUESTIONS_MAX)
		return false;
	open = pack_open_list(&out);
	is_known = p->of_mom ? answer_host(st, p->asks->run, p->user, frame, &answer) : answer_server(st, frame, &answer);
	if (is_known && !answer.failed && p->asks->run)
		record_answer(p->asks->run, frame, &answer);
	pack_text(&out, "answer");
	if (answer.failed)
		pack_nothing(&out);
	else if (is_known)
		pack_raw(&out, &answer);
	pack_close(&out, open, 2);
	if (is_known && !out.failed)
		keel_supervise_send(p->program, out.data, out.len);
	is_known = is_known && !out.failed;
	pack_fini(&answer);
	pack_fini(&out);
	return is_known;
}

static const struct {
	const char *what;
	bool (*fn)(struct process *p, const struct value *frame);
} says[] = { { "result", on_result }, { "log", on_log }, { "ask", on_ask }, { "up", on_up }, { "broken", on_broken } };

static void heard(struct keel_mod *mod, void *arg, const void *bytes, uint32_t len)
{
	struct process *p = arg;
	struct value frame, what = { .kind = 0 };
	bool is_good = false;

	(void)mod;
	if (p->phase == ENDING)
		return;
	p->reading = true;
	if (value_read(bytes, len, &frame) && value_nth(&frame, 0, &what))
		for (size_t i = 0; i < KEEL_COUNT(says); i++)
			if (value_is(&what, says[i].what))
				is_good = says[i].fn(p, &frame);
	p->reading = false;
	if (!is_good)
		process_lost(p, "its process sent what is no message");
}

/* ---- start ------------------------------------------------------------------------------------------- */
static void too_late(struct keel_mod *mod, void *arg)
{
	struct process *p = arg;
	char why[96];

	(void)mod;
	p->timer = NULL;
	snprintf(why, sizeof(why), "its process was not up within %d s", START_MS / 1000);
	process_lost(p, why);
}

/* On a mom that is root scripts of the administrator are root's. */
static uint32_t profile_of(const struct process *p)
{
	return p->of_mom && !p->user[0] && geteuid() == 0 ? KEEL_PROFILE_HOST : KEEL_PROFILE_SCRIPT;
}

static bool run(struct process *p, struct keel_err *err)
{
	struct state *st = p->pool->st;
	const struct conf *conf = st->mod->conf;
	char tmp[512], config[512], name[160];
	const char *argv[] = { st->pools->program, NULL };
	const char *env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "OPENBLAS_NUM_THREADS=1", tmp,
			      folder_config(p->folder) ? config : NULL, NULL };
	struct keel_supervise_opts o = { .size = sizeof(o), .profile = profile_of(p), .name = name, .argv = argv, .env = env,
					 .user = folder_user(p->folder), .dir = folder_path(p->folder), .memory = conf->memory,
					 .deadline_ms = START_MS, .start_ms = START_MS, .deaths = 1, .within_ms = 1, .frame = heard,
					 .ended = ended, .arg = p };
	struct pack setup = { .data = NULL };

	snprintf(tmp, sizeof(tmp), "TMPDIR=%s", folder_path(p->folder));
	if (folder_config(p->folder))
		snprintf(config, sizeof(config), "PBS_HOOK_CONFIG_FILE=%s", folder_config(p->folder));
	snprintf(name, sizeof(name), "hook %s", p->pool->name);
	setup_write(p, &setup);
	if (setup.failed)
		keel_error(err, -ENOMEM, "no memory for what its process has to know");
	else
		p->program = keel_supervise_start(st->mod, &o, err);
	if (p->program)
		keel_supervise_send(p->program, setup.data, setup.len);
	pack_fini(&setup);
	return p->program != NULL;
}

void process_prepared(struct process *p, const char *error)
{
	struct keel_err err = { .code = 0 };
	struct pool *pool = p->pool;

	if (p->leaves || !pool->hook || !pool->hook->script || !tables_get(pool->st)) {
		p->phase = ENDING;
		process_gone(p);
		return;
	}
	p->phase = STARTING;
	if (!error && run(p, &err)) {
		p->timer = keel_timer(pool->st->mod, START_MS, too_late, p);
		return;
	}
	process_lost(p, error ? error : err.text);
	process_gone(p);
}

bool process_start(struct pool *pool, bool of_mom, const char *user)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	*p = (struct process){ .pool = pool, .of_mom = of_mom, .user = strdup(user) };
	p->folder = p->user ? folder_make(p) : NULL;
	if (!p->folder) {
		free(p->user);
		free(p);
		return false;
	}
	DL_APPEND(pool->processes, p);
	pool->n_processes++;
	return true;
}
