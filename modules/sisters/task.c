/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c - tasks and signals on other hosts of a job: service "sister". All go through the primary.
 *
 *	caller (any host) -- spawn, signal --> primary --> the host it is for
 *	                  <-- spawned, over --         <--
 *
 * Each host on the way keeps a question until it has the answer, and an end until it is known; both are sent again at a new
 * link. A task's number is its caller's: where it is known already, it is not started again.
 */
#include "sisters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------------------- */
static struct far_task *far_find(struct far_task *table, uint32_t number)
{
	struct far_task *t;

	HASH_FIND(hh, table, &number, sizeof(number), t);
	return t;
}

static struct far_task *far_add(struct far_task **table, uint32_t number, const char *host)
{
	struct far_task *t = HASH_COUNT(*table) < TASKS_MAX ? calloc(1, sizeof(*t)) : NULL;

	if (t && (t->host = strdup(host))) {
		t->number = number;
		HASH_ADD(hh, *table, number, sizeof(t->number), t);
		if (t->hh.tbl)
			return t;
		free(t->host);
	}
	free(t);
	return NULL;
}

static void far_remove(struct far_task **table, struct far_task *t)
{
	HASH_DEL(*table, t);
	free(t->host);
	free(t);
}

static void call_free(struct job *j, struct call *c)
{
	DL_DELETE(j->calls, c);
	words_free(c->argv);
	words_free(c->env);
	free(c->from);
	free(c->to);
	free(c->name);
	free(c->dir);
	free(c);
}

static struct call *call_find(struct job *j, const char *from, uint64_t number)
{
	struct call *c;

	DL_FOREACH(j->calls, c)
		if (c->number == number && strcmp(c->from, from) == 0)
			return c;
	return NULL;
}

static const char *own_name(const struct job *j)
{
	return j->hosts[j->self].name;
}

/* The next host on the way to `name`; -1: there is none. */
static int way_to(const struct job *j, const char *name)
{
	return j->self == 0 ? job_host(j, name) : 0;
}

static bool is_gone(const struct job *j, int host)
{
	return j->self == 0 && (host <= 0 || j->primary.hosts[host].state == HOST_LOST || j->primary.hosts[host].state == HOST_RELEASED);
}

/* ---- questions --------------------------------------------------------------------------------------------- */
static void words_put(struct keel_out *out, const char *key, char **words)
{
	uint32_t n = 0;

	while (words && words[n])
		n++;
	if (words)
		keel_put_strings(out, key, (const char *const *)words, n);
}

static void call_send(struct keel_mod *mod, struct job *j, const struct call *c)
{
	int host = way_to(j, c->to);
	struct keel_out *out;

	if (host < 0 || !keel_link_is_up(mod, j->hosts[host].name))
		return;
	out = message(mod, j);
	keel_put_int(out, "call", (int64_t)c->number);
	keel_put_str(out, "from", c->from);
	keel_put_str(out, "to", c->to);
	keel_put_int(out, "task", c->task);
	if (c->name)
		keel_put_str(out, "name", c->name);
	if (c->dir)
		keel_put_str(out, "dir", c->dir);
	words_put(out, "argv", c->argv);
	words_put(out, "env", c->env);
	message_send(mod, j, (uint32_t)host, c->is_spawn ? "sister.spawn" : "sister.signal", out);
}

static void answer_send(struct keel_mod *mod, struct job *j, const char *to, uint64_t number, int32_t code, const char *text)
{
	int host = way_to(j, to);
	struct keel_out *out;

	if (host < 0 || (uint32_t)host == j->self)
		return;
	out = message(mod, j);
	keel_put_int(out, "call", (int64_t)number);
	keel_put_str(out, "to", to);
	keel_put_int(out, "code", code);
	keel_put_str(out, "text", text ? text : "");
	message_send(mod, j, (uint32_t)host, "sister.spawned", out);
}

/* The answer is there: for the caller here, or on its way back. */
static void call_answer(struct keel_mod *mod, struct job *j, struct call *c, int32_t code, const char *text)
{
	struct call had = *c;
	struct far_task *t = c->is_spawn && code && c->done ? far_find(j->there, c->task) : NULL;

	if (t)
		far_remove(&j->there, t);
	if (!c->done)
		answer_send(mod, j, c->from, c->number, code, text);
	call_free(j, c);
	if (had.done)
		had.done(had.me, had.arg, code, text);
}

static struct call *call_make(struct job *j, const char *from, const char *to, uint32_t task)
{
	struct call *c = calloc(1, sizeof(*c)), *at;
	uint32_t n;

	DL_COUNT(j->calls, at, n);
	if (!c || n >= CALLS_MAX) {
		free(c);
		return NULL;
	}
	DL_APPEND(j->calls, c);
	c->from = strdup(from);
	c->to = strdup(to);
	c->task = task;
	if (c->from && c->to)
		return c;
	call_free(j, c);
	return NULL;
}

static uint32_t count(const char *const *words)
{
	uint32_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

static bool task_copy(struct call *c, const char *const *argv, uint32_t n_argv, const char *const *env, uint32_t n_env,
		      const char *dir)
{
	c->is_spawn = true;
	c->argv = words_copy(argv, n_argv);
	c->env = env ? words_copy(env, n_env) : NULL;
	c->dir = dir ? strdup(dir) : NULL;
	return c->argv && (c->env || !env) && (c->dir || !dir);
}

/* ---- the service ------------------------------------------------------------------------------------------- */
/* The job, and by name the host that now has this index; NULL: done() was called. */
static struct job *job_about(struct keel_mod *mod, const char *id, uint32_t host, const char **ret_to, struct keel_mod *me,
			     keel_part_done *done, void *arg)
{
	const struct keel_part *part = keel_has(part) ? keel_part_find(id) : NULL;
	struct job *j = part ? job_of(mod, part) : NULL;

	if (!j || host >= part->n_hosts || job_host(j, part->hosts[host].name) < 0) {
		done(me, arg, TM_NOTFOUND, "the job has no such host");
		return NULL;
	}
	*ret_to = part->hosts[host].name;
	if (j->self == 0 && host > 0 && is_gone(j, job_host(j, *ret_to))) {
		done(me, arg, TM_SYSTEM, "this host of the job is lost");
		return NULL;
	}
	return j;
}

static void call_begin(struct keel_mod *mod, struct job *j, struct call *c, struct keel_mod *me, keel_part_done *done, void *arg)
{
	struct state *st = mod->state;

	c->number = ++st->number;
	c->me = me;
	c->done = done;
	c->arg = arg;
	call_send(mod, j, c);
}

static void service_spawn(struct keel_mod *mod, const char *id, uint32_t host, const struct keel_part_task *task, struct keel_mod *me,
			  keel_part_done *done, void *arg)
{
	const char *to;
	struct job *j;
	struct call *c;

	if (keel_has(part) && keel_part_find(id) && keel_part_find(id)->index == host) {
		keel_part_spawn(id, task, me, done, arg);
		return;
	}
	j = job_about(mod, id, host, &to, me, done, arg);
	if (!j)
		return;
	c = call_make(j, own_name(j), to, task->number);
	if (!c || !task_copy(c, task->argv, count(task->argv), task->env, count(task->env), task->dir) ||
	    !far_add(&j->there, task->number, to)) {
		if (c)
			call_free(j, c);
		done(me, arg, TM_SYSTEM, "too many tasks, or no memory");
		return;
	}
	call_begin(mod, j, c, me, done, arg);
}

static void service_signal(struct keel_mod *mod, const char *id, uint32_t host, uint32_t number, const char *name, struct keel_mod *me,
			   keel_part_done *done, void *arg)
{
	const char *to;
	struct job *j;
	struct call *c;

	if (keel_has(part) && keel_part_find(id) && keel_part_find(id)->index == host) {
		keel_part_signal(id, number, name, me, done, arg);
		return;
	}
	j = job_about(mod, id, host, &to, me, done, arg);
	if (!j)
		return;
	c = call_make(j, own_name(j), to, number);
	if (!c || !(c->name = strdup(name))) {
		if (c)
			call_free(j, c);
		done(me, arg, TM_SYSTEM, "too many signals, or no memory");
		return;
	}
	call_begin(mod, j, c, me, done, arg);
}

static int32_t service_listen(struct keel_mod *mod, struct keel_mod *me, const struct keel_sister_events *events)
{
	struct state *st = mod->state;
	struct listener **at = &st->listeners, *l;

	while (*at && (*at)->me != me)
		at = &(*at)->next;
	l = *at;
	if (l) {
		*at = l->next;
		free(l);
	}
	if (!events)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->me = me;
	memcpy(&l->events, events, events->size < sizeof(l->events) ? events->size : sizeof(l->events));
	l->next = st->listeners;
	st->listeners = l;
	return 0;
}

const struct keel_sister_api sister_api = {
	.size = sizeof(sister_api), .listen = service_listen, .spawn = service_spawn, .signal = service_signal,
};

/* ---- what is done here for others --------------------------------------------------------------------------- */
struct errand {
	char *id, *from;
	int64_t run;
	uint64_t number;
	uint32_t task;
	bool is_spawn;
};

static void over_send(struct keel_mod *mod, struct job *j, const struct far_task *t);

static void errand_done(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct errand *e = arg;
	struct job *j = job_find(mod, e->id, e->run);
	struct far_task *t = j && e->is_spawn ? far_find(j->here, e->task) : NULL;

	if (t) {
		t->answered = true;
		t->code = code;
	}
	if (j)
		answer_send(mod, j, e->from, e->number, code, text);
	if (t && code)
		far_remove(&j->here, t);
	else if (t && t->over)
		over_send(mod, j, t);
	free(e->from);
	free(e->id);
	free(e);
}

static struct errand *errand_make(const struct job *j, const char *from, uint64_t number, uint32_t task, bool is_spawn)
{
	struct errand *e = calloc(1, sizeof(*e));

	if (e && (e->id = strdup(j->id)) && (e->from = strdup(from))) {
		e->run = j->run;
		e->number = number;
		e->task = task;
		e->is_spawn = is_spawn;
		return e;
	}
	if (e)
		free(e->id);
	free(e);
	return NULL;
}

static const char *const *strings(const struct keel_msg *m, const char *key, uint32_t *ret_n)
{
	const char *const *words = keel_msg_strings(m, key, ret_n);

	if (!words || *ret_n == (uint32_t)-1) {
		*ret_n = 0;
		return NULL;
	}
	return words;
}

static void spawn_here(struct keel_mod *mod, struct job *j, const char *from, uint64_t number, uint32_t task, const struct keel_msg *m)
{
	struct far_task *t = far_find(j->here, task);
	uint32_t n_argv, n_env;
	const char *const *argv = strings(m, "argv", &n_argv), *const *env = strings(m, "env", &n_env);
	char **argv_copy = words_copy(argv, n_argv), **env_copy = words_copy(env, n_env);
	struct errand *e = NULL;

	if (t && strcmp(t->host, from) == 0) { /* it came again */
		if (t->answered)
			answer_send(mod, j, from, number, t->code, NULL);
	} else if (t || !n_argv || !argv_copy || !env_copy || !(e = errand_make(j, from, number, task, true)) ||
		   !far_add(&j->here, task, from)) {
		if (e)
			free(e->from), free(e->id), free(e);
		answer_send(mod, j, from, number, TM_SYSTEM, "too many tasks, or no memory");
	} else {
		keel_part_spawn(j->id, &(struct keel_part_task){ .size = sizeof(struct keel_part_task), .number = task, .node = j->self,
								 .argv = (const char *const *)argv_copy,
								 .env = (const char *const *)env_copy, .dir = keel_msg_str(m, "dir") },
				mod, errand_done, e);
	}
	words_free(argv_copy);
	words_free(env_copy);
}

static void signal_here(struct keel_mod *mod, struct job *j, const char *from, uint64_t number, uint32_t task, const struct keel_msg *m)
{
	const char *name = keel_msg_str(m, "name");
	struct errand *e = name && strlen(name) <= PRIMARY_NAME_MAX ? errand_make(j, from, number, task, false) : NULL;

	if (!e)
		answer_send(mod, j, from, number, TM_SYSTEM, "no such signal, or no memory");
	else
		keel_part_signal(j->id, task, name, mod, errand_done, e);
}

static void forward(struct keel_mod *mod, struct job *j, const char *from, const char *to, uint64_t number, const struct keel_msg *m,
		    bool is_spawn)
{
	uint32_t n_argv, n_env, task = (uint32_t)keel_msg_int(m, "task", 0);
	const char *const *argv = strings(m, "argv", &n_argv), *const *env = strings(m, "env", &n_env), *name = keel_msg_str(m, "name");
	int host = job_host(j, to);
	struct call *c = call_find(j, from, number);

	if (c)
		return; /* it came again */
	if (host <= 0 || is_gone(j, host)) {
		answer_send(mod, j, from, number, host < 0 ? TM_NOTFOUND : TM_SYSTEM, "this host of the job is lost");
		return;
	}
	c = call_make(j, from, to, task);
	if (!c || (is_spawn ? !n_argv || !task_copy(c, argv, n_argv, env, n_env, keel_msg_str(m, "dir")) :
			      !name || !(c->name = strdup(name)))) {
		if (c)
			call_free(j, c);
		answer_send(mod, j, from, number, TM_SYSTEM, "too many tasks, or no memory");
		return;
	}
	c->number = number;
	call_send(mod, j, c);
}

/* A question: `from` is the sender itself where the primary hears it, and what the primary says on a sister. */
static void asked(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m, bool is_spawn)
{
	const char *from = j->self == 0 ? j->hosts[host].name : keel_msg_str(m, "from"), *to = keel_msg_str(m, "to");
	int64_t task = keel_msg_int(m, "task", -1);
	uint64_t number = (uint64_t)keel_msg_int(m, "call", 0);

	if (!from || !to || job_host(j, from) < 0 || task < 0 || task > UINT32_MAX)
		return;
	if (strcmp(to, own_name(j)) != 0) {
		if (j->self == 0)
			forward(mod, j, from, to, number, m, is_spawn);
	} else if (is_spawn) {
		spawn_here(mod, j, from, number, (uint32_t)task, m);
	} else {
		signal_here(mod, j, from, number, (uint32_t)task, m);
	}
}

void on_spawn(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	asked(mod, j, host, m, true);
}

void on_signal(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	asked(mod, j, host, m, false);
}

void on_spawned(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	const char *to = keel_msg_str(m, "to"), *text = keel_msg_str(m, "text");
	struct call *c = to ? call_find(j, to, (uint64_t)keel_msg_int(m, "call", 0)) : NULL;
	int64_t code = keel_msg_int(m, "code", TM_SYSTEM);

	if (c && (j->self != 0 || strcmp(c->to, j->hosts[host].name) == 0))
		call_answer(mod, j, c, code < -99 || code > 99999 ? TM_SYSTEM : (int32_t)code, text ? text : "");
}

/* ---- ends of tasks --------------------------------------------------------------------------------------------- */
static void over_put(struct keel_mod *mod, struct job *j, uint32_t host, const char *name, const char *from, const char *to,
		     uint32_t number, int32_t status)
{
	struct keel_out *out = message(mod, j);

	keel_put_str(out, "from", from);
	keel_put_str(out, "to", to);
	keel_put_int(out, "task", number);
	keel_put_int(out, "status", status);
	message_send(mod, j, host, name, out);
}

static void over_send(struct keel_mod *mod, struct job *j, const struct far_task *t)
{
	int host = way_to(j, t->host);

	if (host >= 0 && (uint32_t)host != j->self)
		over_put(mod, j, (uint32_t)host, "sister.over", own_name(j), t->host, t->number, t->status);
}

void tasks_over(struct keel_mod *mod, const struct keel_part *part, uint32_t number, int32_t status)
{
	struct job *j = job_of(mod, part);
	struct far_task *t = j ? far_find(j->here, number) : NULL;
	uint32_t caller = number >> 20;

	if (!j)
		return;
	/* This daemon was restarted after the start of it: its number says whose it is. */
	if (!t && caller < part->n_hosts && caller != part->index && number > 1) {
		t = far_add(&j->here, number, part->hosts[caller].name);
		if (t)
			t->answered = true;
	}
	if (!t)
		return;
	t->over = true;
	t->status = status;
	if (t->answered)
		over_send(mod, j, t);
}

static void notify(struct keel_mod *mod, struct job *j, uint32_t number, int32_t status)
{
	struct state *st = mod->state;

	for (struct listener *l = st->listeners; l; l = l->next)
		if (l->events.task_over)
			l->events.task_over(l->me, j->id, j->run, number, status);
}

/* It is over on another host; the answer to its start may be behind. */
static void there_over(struct keel_mod *mod, struct job *j, uint32_t number, int32_t status)
{
	struct far_task *t = far_find(j->there, number);
	struct call *c, *next;

	if (!t)
		return;
	DL_FOREACH_SAFE(j->calls, c, next)
		if (c->is_spawn && c->done && c->task == number) {
			call_answer(mod, j, c, 0, "");
			break;
		}
	t = far_find(j->there, number);
	if (t)
		far_remove(&j->there, t);
	notify(mod, j, number, status);
}

void on_over(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	const char *from = j->self == 0 ? j->hosts[host].name : keel_msg_str(m, "from"), *to = keel_msg_str(m, "to");
	int64_t number = keel_msg_int(m, "task", -1), status = keel_msg_int(m, "status", -1);
	int target = to ? job_host(j, to) : -1;

	if (!from || target < 0 || number < 0 || number > UINT32_MAX || status < -1 || status > 4096)
		return;
	if ((uint32_t)target == j->self) {
		there_over(mod, j, (uint32_t)number, (int32_t)status);
		over_put(mod, j, host, "sister.known", to, from, (uint32_t)number, 0);
	} else if (j->self == 0 && is_gone(j, target)) {
		over_put(mod, j, host, "sister.known", to, from, (uint32_t)number, 0);
	} else if (j->self == 0) {
		over_put(mod, j, (uint32_t)target, "sister.over", from, to, (uint32_t)number, (int32_t)status);
	}
}

void on_over_known(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	const char *to = keel_msg_str(m, "to");
	int64_t number = keel_msg_int(m, "task", -1);
	int target = to ? job_host(j, to) : -1;
	struct far_task *t;

	if (target < 0 || number < 0 || number > UINT32_MAX)
		return;
	if ((uint32_t)target != j->self) {
		if (j->self == 0 && (uint32_t)target != host)
			over_put(mod, j, (uint32_t)target, "sister.known", j->hosts[host].name, to, (uint32_t)number, 0);
		return;
	}
	t = far_find(j->here, (uint32_t)number);
	if (t && t->over)
		far_remove(&j->here, t);
}

/* ---- links and losses ---------------------------------------------------------------------------------------- */
void tasks_link(struct keel_mod *mod, struct job *j, uint32_t host)
{
	struct far_task *t, *next;
	struct call *c;

	DL_FOREACH(j->calls, c)
		if (way_to(j, c->to) == (int)host)
			call_send(mod, j, c);
	HASH_ITER(hh, j->here, t, next)
		if (t->over && t->answered)
			over_send(mod, j, t);
}

static void there_lost(struct keel_mod *mod, struct job *j, const char *name)
{
	struct far_task *t, *next_task;
	struct call *c, *next;

	DL_FOREACH_SAFE(j->calls, c, next)
		if (strcmp(c->to, name) == 0)
			call_answer(mod, j, c, TM_SYSTEM, "this host of the job is lost");
	HASH_ITER(hh, j->there, t, next_task)
		if (strcmp(t->host, name) == 0) {
			uint32_t number = t->number;

			far_remove(&j->there, t);
			notify(mod, j, number, -1);
		}
}

void tasks_lost(struct keel_mod *mod, struct job *j, uint32_t host)
{
	const char *name = j->hosts[host].name;

	there_lost(mod, j, name);
	for (uint32_t i = 1; i < j->n; i++)
		if (i != host && j->primary.hosts[i].linked) {
			struct keel_out *out = message(mod, j);

			keel_put_str(out, "host", name);
			message_send(mod, j, i, "sister.lost", out);
		}
}

void on_host_lost(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	const char *name = keel_msg_str(m, "host");

	(void)host;
	if (name && job_host(j, name) >= 0)
		there_lost(mod, j, name);
}

void tasks_free(struct keel_mod *mod, struct job *j)
{
	struct far_task *t, *next_task;
	struct call *c, *next;

	DL_FOREACH_SAFE(j->calls, c, next)
		call_answer(mod, j, c, TM_SYSTEM, "the job has ended here");
	HASH_ITER(hh, j->here, t, next_task)
		far_remove(&j->here, t);
	HASH_ITER(hh, j->there, t, next_task)
		far_remove(&j->there, t);
}
