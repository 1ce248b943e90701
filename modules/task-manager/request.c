/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - what programs of a job may ask for. Each request is answered at once: 0, or why it cannot even be tried; what it
 * brings is an event on the stream of its client.
 */
#include "task-manager.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "pbs_error.h"

/* ---- tm_init ---------------------------------------------------------------------------------------------------- */
bool cookie_fits(const char *is, const char *said)
{
	size_t len = strlen(is);
	unsigned differs = said == NULL || strlen(said) != len || len == 0;

	for (size_t i = 0; differs == 0 && i < len; i++)
		differs |= (unsigned char)is[i] ^ (unsigned char)said[i];
	return differs == 0;
}

/* A task that another host started here is not known; one that was started from here must be. */
static bool task_may_be(struct job *j, uint32_t task)
{
	bool own = task >> NUMBER_BITS == j->slot;

	return task != 0 && (!own || j->found || (task == 1 && j->slot == 0) || task_find(j, task) != NULL);
}

static void on_init(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *m = keel_req_body(req);
	const struct keel_session *user = keel_req_session(req);
	const char *id = keel_msg_str(m, "job");
	int64_t task = keel_msg_int(m, "task", 0);
	const struct keel_part *p = id != NULL ? keel_part_find(id) : NULL;
	struct job *j;

	if (p == NULL || p->uid != user->uid || !cookie_fits(p->cookie, keel_msg_str(m, "cookie"))) {
		keel_log(mod, KEEL_LOG_SECURITY, "Job", id != NULL && strlen(id) <= NAME_LENGTH_MAX ? id : "?", "tasks refused to %s: %s", user->who,
			 p == NULL ? "no such job here" : p->uid != user->uid ? "another user's job" : "wrong cookie");
		keel_reply(req, TM_ENOTCONNECTED, "not connected");
		return;
	}
	j = p->state == KEEL_PART_READY || p->state == KEEL_PART_STOPPED ? job_of(mod->state, p) : NULL;
	if (j == NULL)
		keel_reply(req, TM_ESYSTEM, "the job takes no tasks on this host now");
	else if (task < 0 || task > UINT32_MAX || !task_may_be(j, (uint32_t)task))
		keel_reply(req, TM_ENOTFOUND, "task %08llX not found", (unsigned long long)task);
	else
		client_create(mod->state, j, p, req, (uint32_t)task);
}

/* ---- where ------------------------------------------------------------------------------------------------------ */
/* The name of the host of a node number as the client knows it; NULL: there is no such node. */
static const char *host_named(const struct client *c, int64_t node)
{
	return node >= 0 && node < c->n_nodes && c->nodes[node] < c->n_hosts ? c->hosts[c->nodes[node]] : NULL;
}

/* Its index in the part; -1: the job has it no more. */
static int64_t host_index(const struct keel_part *p, const char *host)
{
	for (uint32_t i = 0; host != NULL && i < p->n_hosts; i++)
		if (strcmp(p->hosts[i].name, host) == 0)
			return i;
	return -1;
}

/* ---- tm_spawn --------------------------------------------------------------------------------------------------- */
static void spawned(struct keel_mod *me, void *event, int32_t code, const char *text)
{
	struct event *e = event;
	struct task *t = e->job != NULL ? task_find(e->job, e->task) : NULL;
	struct keel_out *out = NULL;

	if (code != 0 && e->job != NULL) {
		keel_log(me, KEEL_LOG_DEBUG, "Job", e->job->id, "task %08X not started: %s", e->task, text != NULL ? text : "");
		if (t != NULL)
			task_remove(e->job, t);
	} else if (t != NULL) {
		if (t->status == TASK_STARTING)
			t->status = TASK_RUNS;
		out = keel_out(me);
		keel_put_int(out, "task", e->task);
	}
	event_end(me->state, e, tm_code(code), out);
}

/* The environment of a task says who started it. Returns the words, borrowed from `m`, with one more, or NULL. */
static const char **task_env(const struct keel_msg *m, char *parent)
{
	uint32_t n = 0;
	const char *const *given = keel_msg_strings(m, "env", &n);
	const char **env = given != NULL || n == 0 ? calloc(n + 2, sizeof(*env)) : NULL;

	for (uint32_t i = 0; env != NULL && i < n; i++)
		env[i] = given[i];
	if (env != NULL)
		env[n] = parent;
	return env;
}

static void task_start(struct keel_mod *mod, struct event *e, const struct keel_part *p, uint32_t host, const char **argv,
		       const char **env)
{
	const struct keel_part_task task = {
		.size = sizeof(task), .number = e->task, .node = host, .argv = argv, .env = env,
	};

	if (host == p->index)
		keel_part_spawn(p->id, &task, mod, spawned, e);
	else if (keel_has(sister))
		keel_sister_spawn(p->id, host, &task, mod, spawned, e);
	else
		spawned(mod, e, TM_ESYSTEM, "no module reaches other hosts");
}

static void on_spawn(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *m = keel_req_body(req);
	struct client *c = client_of(mod->state, req);
	struct event *e = c != NULL ? event_create(c, req) : NULL;
	char parent[32];
	const char **env, **argv = NULL;
	const char *const *words;
	const char *host;
	const struct keel_part *p;
	uint32_t n = 0;
	int64_t index;

	if (e == NULL)
		return;
	host = host_named(c, keel_msg_int(m, "node", -1));
	p = keel_part_find(c->job->id);
	index = p != NULL ? host_index(p, host) : -1;
	words = keel_msg_strings(m, "argv", &n);
	snprintf(parent, sizeof(parent), "KEELSON_TASK_PARENT=%08X", c->task);
	env = task_env(m, parent);
	if (words != NULL && n > 0 && n < UINT32_MAX && (argv = calloc(n + 1, sizeof(*argv))) != NULL)
		memcpy(argv, words, n * sizeof(*argv));
	if (index < 0) {
		event_end(mod->state, e, TM_ENOTFOUND, NULL);
	} else if (argv == NULL || argv[0][0] == '\0' || env == NULL) {
		event_end(mod->state, e, argv != NULL && env != NULL ? TM_ENOTFOUND : TM_ESYSTEM, NULL);
	} else {
		e->task = job_number(c->job);
		if (task_add(c->job, e->task, host) != NULL)
			task_start(mod, e, p, (uint32_t)index, argv, env);
		else
			event_end(mod->state, e, TM_ESYSTEM, NULL);
	}
	free(argv);
	free(env);
	keel_reply(req, 0, NULL);
}

/* ---- tm_kill, tm_obit ------------------------------------------------------------------------------------------- */
static void signalled(struct keel_mod *me, void *event, int32_t code, const char *text)
{
	(void)text;
	event_end(me->state, event, tm_code(code), NULL);
}

/* To a task that has ended no signal is sent, and that is no error. */
static void on_kill(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *m = keel_req_body(req);
	struct client *c = client_of(mod->state, req);
	struct event *e = c != NULL ? event_create(c, req) : NULL;
	uint32_t number = e != NULL ? (uint32_t)keel_msg_int(m, "task", 0) : 0;
	const struct keel_part *p;
	struct task *t;
	char signal[16];
	int64_t host;

	if (e == NULL)
		return;
	t = task_find(c->job, number);
	p = keel_part_find(c->job->id);
	host = p == NULL ? -1 : host_index(p, t != NULL && t->host[0] != '\0' ? t->host : host_named(c, keel_msg_int(m, "node", -1)));
	snprintf(signal, sizeof(signal), "%lld", (long long)keel_msg_int(m, "signal", 0));
	if (t != NULL && t->status >= -1)
		event_end(mod->state, e, 0, NULL);
	else if (host < 0 || number == 0)
		event_end(mod->state, e, TM_ENOTFOUND, NULL);
	else if (host == p->index)
		keel_part_signal(p->id, number, signal, mod, signalled, e);
	else if (keel_has(sister))
		keel_sister_signal(p->id, (uint32_t)host, number, signal, mod, signalled, e);
	else
		event_end(mod->state, e, TM_ESYSTEM, NULL);
	keel_reply(req, 0, NULL);
}

static void on_obit(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *m = keel_req_body(req);
	struct client *c = client_of(mod->state, req);
	struct event *e = c != NULL ? event_create(c, req) : NULL;
	uint32_t number;
	struct task *t;

	if (e == NULL)
		return; /* answered: m is gone */
	number = (uint32_t)keel_msg_int(m, "task", 0);
	t = task_find(c->job, number);
	if (t == NULL && (c->job->found || (number == 1 && c->job->slot == 0))) {
		const char *host = host_named(c, number == 1 ? 0 : keel_msg_int(m, "node", -1));

		t = number != 0 ? task_add(c->job, number, host != NULL ? host : "") : NULL;
		if (t != NULL)
			t->status = TASK_RUNS;
	}
	e->task = number;
	if (t == NULL) {
		event_end(mod->state, e, TM_ENOTFOUND, NULL);
	} else if (t->status >= -1) {
		struct keel_out *out = t->status >= 0 ? keel_out(mod) : NULL;

		if (out != NULL)
			keel_put_int(out, "status", t->status);
		event_end(mod->state, e, out != NULL ? 0 : TM_ESYSTEM, out);
	} else {
		LL_PREPEND2(t->waiting, e, also);
	}
	keel_reply(req, 0, NULL);
}

/* ---- tm_taskinfo, tm_rescinfo ----------------------------------------------------------------------------------- */
static void on_taskinfo(struct keel_mod *mod, struct keel_req *req)
{
	struct client *c = client_of(mod->state, req);
	struct event *e = c != NULL ? event_create(c, req) : NULL;
	struct keel_out *out;
	const char *host;

	if (e == NULL)
		return;
	host = host_named(c, keel_msg_int(keel_req_body(req), "node", -1));
	out = host != NULL ? keel_out(mod) : NULL;
	if (out != NULL) {
		keel_open_array(out, "tasks");
		if (strcmp(host, c->hosts[0]) == 0 && task_find(c->job, 1) == NULL)
			keel_add_int(out, 1);
		for (struct task *t = c->job->tasks; t != NULL; t = t->hh.next)
			if (t->status != TASK_STARTING && strcmp(t->host, host) == 0)
				keel_add_int(out, t->number);
		keel_close(out);
	}
	event_end(mod->state, e, out != NULL ? 0 : TM_ENOTFOUND, out);
	keel_reply(req, 0, NULL);
}

static void on_rescinfo(struct keel_mod *mod, struct keel_req *req)
{
	struct client *c = client_of(mod->state, req);
	struct event *e = c != NULL ? event_create(c, req) : NULL;
	const struct keel_part *p;
	struct keel_out *out = NULL;
	struct keel_text text;
	struct utsname u;
	int64_t host;

	if (e == NULL)
		return;
	p = keel_part_find(c->job->id);
	host = p == NULL ? -1 : host_index(p, host_named(c, keel_msg_int(keel_req_body(req), "node", -1)));
	keel_text_init(&text);
	if (host >= 0 && uname(&u) == 0) {
		/* Of another host only its name is known. */
		keel_text_printf(&text, "%s %s", u.sysname, p->hosts[host].name);
		if (host == p->index)
			keel_text_printf(&text, " %s %s %s", u.release, u.version, u.machine);
		keel_text_str(&text, ":");
		resources_text(p->hosts[host].vnodes, &text);
		out = keel_out(mod);
		keel_put_str(out, "text", text.data);
	}
	keel_text_fini(&text);
	event_end(mod->state, e, out != NULL ? 0 : TM_ENOTFOUND, out);
	keel_reply(req, 0, NULL);
}

/* ---- tm_publish, tm_subscribe ----------------------------------------------------------------------------------- */
static void on_publish(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *m = keel_req_body(req);
	struct client *c = client_of(mod->state, req);
	struct event *e = c != NULL ? event_create(c, req) : NULL;
	const char *name = e != NULL ? keel_msg_str(m, "name") : NULL;
	uint32_t len = 0;
	const void *bytes = e != NULL ? keel_msg_bytes(m, "value", &len) : NULL;

	if (e == NULL)
		return;
	event_end(mod->state, e,
		  name != NULL && bytes != NULL && value_put(c->job, c->task, name, bytes, len) == 0 ? 0 : TM_ESYSTEM, NULL);
	keel_reply(req, 0, NULL);
}

/* Values are of tasks on this host. */
static void on_subscribe(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *m = keel_req_body(req);
	struct client *c = client_of(mod->state, req);
	struct event *e = c != NULL ? event_create(c, req) : NULL;
	const char *name = e != NULL ? keel_msg_str(m, "name") : NULL;
	const struct value *v;
	struct keel_out *out = NULL;

	if (e == NULL)
		return;
	v = name != NULL ? value_find(c->job, (uint32_t)keel_msg_int(m, "task", 0), name) : NULL;
	if (v != NULL && (out = keel_out(mod)) != NULL)
		keel_put_bytes(out, "value", v->bytes, v->len);
	event_end(mod->state, e, out != NULL ? 0 : TM_ENOTFOUND, out);
	keel_reply(req, 0, NULL);
}

#define REQUEST(request_name, fn, what, more)                                                                            \
	const struct keel_request_def request_name = {                                                                   \
		.size = sizeof(struct keel_request_def), .roles = KEEL_EVERYBODY, .name = #request_name, .doc = (what),  \
		.handler = (fn), .flags = KEEL_REQUEST_READ | (more),                                                    \
	}
REQUEST(tm_init, on_init, "a program of a job: its tasks and events", KEEL_REQUEST_WAITS);
REQUEST(tm_spawn, on_spawn, "start a task", 0);
REQUEST(tm_kill, on_kill, "a signal to a task", 0);
REQUEST(tm_obit, on_obit, "wait for the end of a task", 0);
REQUEST(tm_taskinfo, on_taskinfo, "tasks of a node", 0);
REQUEST(tm_rescinfo, on_rescinfo, "what a node gives to the job", 0);
REQUEST(tm_publish, on_publish, "a value for other tasks", 0);
REQUEST(tm_subscribe, on_subscribe, "a value of another task", 0);
