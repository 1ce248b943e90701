/* SPDX-License-Identifier: Apache-2.0
 *
 * errand.c - what this host does for others: it starts their tasks, signals them, and passes on what is not for it.
 */
#include "task.h"

#include <stdlib.h>
#include <string.h>

struct errand {
	char *id, *from;
	int64_t run;
	uint64_t number;
	uint32_t task;
	bool is_spawn;
};

static void errand_free(struct errand *e)
{
	if (!e)
		return;
	free(e->from);
	free(e->id);
	free(e);
}

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
	errand_free(e);
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
	errand_free(e);
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
	char **argv_copy = keel_strings_copy(argv, n_argv), **env_copy = keel_strings_copy(env, n_env);
	struct errand *e = NULL;

	if (t && strcmp(t->host, from) == 0) { /* it came again */
		if (t->answered)
			answer_send(mod, j, from, number, t->code, NULL);
	} else if (t || !n_argv || !argv_copy || !env_copy || !(e = errand_make(j, from, number, task, true)) ||
		   !far_add(&j->here, task, from)) {
		errand_free(e);
		answer_send(mod, j, from, number, TM_SYSTEM, "too many tasks, or no memory");
	} else {
		keel_part_spawn(j->id, &(struct keel_part_task){ .size = sizeof(struct keel_part_task), .number = task, .node = j->self,
								 .argv = (const char *const *)argv_copy,
								 .env = (const char *const *)env_copy, .dir = keel_msg_str(m, "dir") },
				mod, errand_done, e);
	}
	keel_strings_free(argv_copy);
	keel_strings_free(env_copy);
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
	if (!c || (is_spawn ? !n_argv || !task_copy(j, c, argv, n_argv, env, n_env, keel_msg_str(m, "dir")) :
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

	if (!from || !to || job_host(j, from) < 0 || task < 0 || task > UINT32_MAX || is_gone(j, (int)host))
		return; /* a host that is lost starts nothing any more */
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
