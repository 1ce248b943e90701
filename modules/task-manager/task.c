/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c - tasks that were started from this host, and what tasks have published.
 */
#include "task-manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct task *task_find(struct job *j, uint32_t number)
{
	struct task *t;

	HASH_FIND(hh, j->tasks, &number, sizeof(number), t);
	return t;
}

void task_remove(struct job *j, struct task *t)
{
	HASH_DEL(j->tasks, t);
	free(t->host);
	free(t);
}

/* Makes room for one more: those that ended first, and that no client waits for, are forgotten. */
static bool room_for_one(struct job *j)
{
	struct task *t, *next;

	if (HASH_COUNT(j->tasks) < TASKS_MAX)
		return true;
	HASH_ITER(hh, j->tasks, t, next) {
		if (t->status >= -1) {
			task_remove(j, t);
			return true;
		}
	}
	return false;
}

struct task *task_add(struct job *j, uint32_t number, const char *host)
{
	struct task *t = room_for_one(j) ? calloc(1, sizeof(*t)) : NULL;

	if (t == NULL || (t->host = strdup(host)) == NULL) {
		free(t);
		return NULL;
	}
	t->number = number;
	t->status = TASK_STARTING;
	HASH_ADD(hh, j->tasks, number, sizeof(t->number), t);
	if (t->hh.tbl == NULL) {
		free(t->host);
		free(t);
		return NULL;
	}
	return t;
}

void task_over(struct state *s, struct job *j, uint32_t number, int32_t status)
{
	struct task *t = task_find(j, number);
	struct event *e, *also;

	if (t == NULL)
		t = task_add(j, number, "");
	if (t == NULL || t->status >= -1)
		return;
	t->status = status < 0 ? -1 : status;
	e = t->waiting;
	t->waiting = NULL;
	for (; e != NULL; e = also) {
		struct keel_out *out = status < 0 ? NULL : keel_out(s->mod);

		also = e->also;
		if (out != NULL)
			keel_put_int(out, "status", status);
		event_end(s, e, out != NULL ? 0 : TM_ESYSTEM, out);
	}
}

/* ---- published values ------------------------------------------------------------------------------------------- */
const struct value *value_find(struct job *j, uint32_t task, const char *name)
{
	char key[NAME_LENGTH_MAX + 16];
	struct value *v;

	if ((size_t)snprintf(key, sizeof(key), "%X %s", task, name) >= sizeof(key))
		return NULL;
	HASH_FIND_STR(j->values, key, v);
	return v;
}

/* With what is kept beside its bytes: many small ones count, too. */
static size_t value_size(const char *key, uint32_t len)
{
	return sizeof(struct value) + strlen(key) + len;
}

static void value_remove(struct job *j, struct value *v)
{
	j->n_published -= (uint32_t)value_size(v->key, v->len);
	HASH_DEL(j->values, v);
	free(v->key);
	free(v->bytes);
	free(v);
}

void values_destroy(struct job *j)
{
	struct value *v, *next;

	HASH_ITER(hh, j->values, v, next)
		value_remove(j, v);
}

static struct value *value_create(const char *key, const void *bytes, uint32_t len)
{
	struct value *v = calloc(1, sizeof(*v));

	if (v == NULL)
		return NULL;
	v->key = strdup(key);
	v->bytes = malloc(len > 0 ? len : 1);
	if (v->key == NULL || v->bytes == NULL) {
		free(v->key);
		free(v->bytes);
		free(v);
		return NULL;
	}
	memcpy(v->bytes, bytes, len);
	v->len = len;
	return v;
}

int32_t value_put(struct job *j, uint32_t task, const char *name, const void *bytes, uint32_t len)
{
	char key[NAME_LENGTH_MAX + 16];
	struct value *old, *v;
	size_t more;

	if (strlen(name) > NAME_LENGTH_MAX)
		return -E2BIG;
	snprintf(key, sizeof(key), "%X %s", task, name);
	more = value_size(key, len);
	HASH_FIND_STR(j->values, key, old);
	if (j->n_published - (old != NULL ? value_size(key, old->len) : 0) + more > PUBLISHED_MAX)
		return -E2BIG;
	v = value_create(key, bytes, len);
	if (v == NULL)
		return -ENOMEM;
	if (old != NULL)
		value_remove(j, old);
	HASH_ADD_KEYPTR(hh, j->values, v->key, strlen(v->key), v);
	if (v->hh.tbl == NULL) {
		free(v->key);
		free(v->bytes);
		free(v);
		return -ENOMEM;
	}
	j->n_published += (uint32_t)more;
	return 0;
}
