/* SPDX-License-Identifier: Apache-2.0
 *
 * call.c - questions of task managers on their way, and the tables of tasks.
 */
#include "task.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------------------- */
struct far_task *far_find(struct far_task *table, uint32_t number)
{
	struct far_task *t;

	HASH_FIND(hh, table, &number, sizeof(number), t);
	return t;
}

struct far_task *far_add(struct far_task **table, uint32_t number, const char *host)
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

void far_remove(struct far_task **table, struct far_task *t)
{
	HASH_DEL(*table, t);
	free(t->host);
	free(t);
}

void call_free(struct job *j, struct call *c)
{
	DL_DELETE(j->calls, c);
	j->calls_bytes -= c->bytes;
	keel_strings_free(c->argv);
	keel_strings_free(c->env);
	free(c->from);
	free(c->to);
	free(c->name);
	free(c->dir);
	free(c);
}

struct call *call_find(struct job *j, const char *from, uint64_t number)
{
	struct call *c;

	DL_FOREACH(j->calls, c)
		if (c->number == number && strcmp(c->from, from) == 0)
			return c;
	return NULL;
}

const char *own_name(const struct job *j)
{
	return j->hosts[j->self].name;
}

int way_to(const struct job *j, const char *name)
{
	return j->self == 0 ? job_host(j, name) : 0;
}

bool is_gone(const struct job *j, int host)
{
	return j->self == 0 && (host <= 0 || j->primary.hosts[host].state == HOST_LOST || j->primary.hosts[host].state == HOST_RELEASED);
}

/* ---- questions --------------------------------------------------------------------------------------------- */
static void words_put(struct keel_out *out, const char *key, char **words)
{
	const char *const *list = (const char *const *)words;

	if (list)
		keel_put_strings(out, key, list, keel_strings_count(list));
}

void call_send(struct keel_mod *mod, struct job *j, const struct call *c)
{
	int host = way_to(j, c->to);
	struct keel_out *out;

	if (host < 0 || !keel_link_is_up(mod, pair_peer(&j->hosts[host])))
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

void answer_send(struct keel_mod *mod, struct job *j, const char *to, uint64_t number, int32_t code, const char *text)
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
void call_answer(struct keel_mod *mod, struct job *j, struct call *c, int32_t code, const char *text)
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

struct call *call_make(struct job *j, const char *from, const char *to, uint32_t task)
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

static size_t words_length(const char *const *words, uint32_t n)
{
	size_t len = 0;

	for (uint32_t i = 0; words && i < n; i++)
		len += strlen(words[i]) + 1 + sizeof(*words);
	return len;
}

bool task_copy(struct job *j, struct call *c, const char *const *argv, uint32_t n_argv, const char *const *env, uint32_t n_env,
	       const char *dir)
{
	size_t bytes = words_length(argv, n_argv) + words_length(env, n_env) + (dir ? strlen(dir) : 0);

	if (bytes > CALLS_BYTES_MAX - j->calls_bytes)
		return false;
	c->bytes = bytes;
	j->calls_bytes += bytes;
	c->is_spawn = true;
	c->argv = keel_strings_copy(argv, n_argv);
	c->env = env ? keel_strings_copy(env, n_env) : NULL;
	c->dir = dir ? strdup(dir) : NULL;
	return c->argv && (c->env || !env) && (c->dir || !dir);
}
