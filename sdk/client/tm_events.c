/* SPDX-License-Identifier: Apache-2.0
 *
 * tm_events.c - what a program waits for, and the tasks that it knows.
 */
#include "tm_events.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256u

/* ---- events ----------------------------------------------------------------------------------------------------- */
static struct tm_event **place_of(struct tm_events *all, tm_event_t number)
{
	struct tm_event **at = &all->bucket[(unsigned)number % BUCKETS];

	while (*at != NULL && (*at)->number != number)
		at = &(*at)->next;
	return at;
}

struct tm_event *tm_event_find(struct tm_events *all, tm_event_t number)
{
	return *place_of(all, number);
}

struct tm_event *tm_event_add(struct tm_events *all, enum tm_kind kind)
{
	struct tm_event *e = calloc(1, sizeof(*e)), **at;

	if (e == NULL)
		return NULL;
	do {
		all->last = all->last < 1 || all->last == INT_MAX ? 2 : all->last + 1;
		at = place_of(all, all->last);
	} while (*at != NULL);
	e->number = all->last;
	e->kind = kind;
	*at = e;
	all->n++;
	return e;
}

void tm_event_free(struct tm_event *e)
{
	free(e->body);
	free(e);
}

static void unlink_event(struct tm_events *all, struct tm_event *e)
{
	struct tm_event **at = place_of(all, e->number);

	if (*at == e)
		*at = e->next;
	e->next = NULL;
}

void tm_event_drop(struct tm_events *all, struct tm_event *e)
{
	unlink_event(all, e);
	all->n--;
	tm_event_free(e);
}

void tm_event_end(struct tm_events *all, struct tm_event *e, int code, const char *body, size_t len)
{
	unlink_event(all, e);
	e->code = code;
	e->body = body != NULL ? malloc(len > 0 ? len : 1) : NULL;
	if (e->body != NULL)
		memcpy(e->body, body, e->len = len);
	else if (body != NULL)
		e->code = TM_ESYSTEM;
	if (all->ready == NULL)
		all->ready_end = &all->ready;
	*all->ready_end = e;
	all->ready_end = &e->next;
}

struct tm_event *tm_event_take(struct tm_events *all)
{
	struct tm_event *e = all->ready;

	if (e == NULL)
		return NULL;
	all->ready = e->next;
	all->n--;
	return e;
}

void tm_events_clear(struct tm_events *all)
{
	struct tm_event *e;

	for (unsigned i = 0; i < BUCKETS; i++)
		while (all->bucket[i] != NULL)
			tm_event_drop(all, all->bucket[i]);
	while ((e = tm_event_take(all)) != NULL)
		tm_event_free(e);
	*all = (struct tm_events){ .n = 0 };
}

/* ---- what an event brings ---------------------------------------------------------------------------------------- */
static int tasks_fill(const struct tm_event *e, const struct pack_value *list)
{
	tm_task_id *tasks = e->value;

	if (list == NULL || list->kind != PACK_ARRAY)
		return TM_ESYSTEM;
	for (uint32_t i = 0; i < list->n; i++) {
		tm_task_id task = list->at[i].kind == PACK_INT ? (tm_task_id)list->at[i].i : TM_NULL_TASK;

		if (tasks != NULL && (int64_t)i < e->room)
			tasks[i] = task;
		if (task != TM_NULL_TASK && tm_task_known(task, e->where) < 0)
			return TM_ESYSTEM;
	}
	if (e->amount != NULL)
		*e->amount = (int)list->n;
	return TM_SUCCESS;
}

/* As many bytes as there is room for; a text is terminated where that fits. */
static int bytes_fill(const struct tm_event *e, const struct pack_value *body, const char *key)
{
	size_t len, room = e->room > 0 ? (size_t)e->room : 0;
	const char *bytes = pack_bytes(body, key, &len);

	if (bytes == NULL)
		return TM_ESYSTEM;
	if (e->amount != NULL)
		*e->amount = (int)len;
	else if (len < room && e->value != NULL)
		((char *)e->value)[len] = '\0';
	if (e->value != NULL)
		memcpy(e->value, bytes, len < room ? len : room);
	return TM_SUCCESS;
}

int tm_event_fill(const struct tm_event *e, const struct pack_value *body)
{
	int64_t n;

	switch (e->kind) {
	case TM_EVENT_SPAWN:
		n = pack_int(body, "task", 0);
		if (n <= 0 || n > UINT_MAX || tm_task_known((tm_task_id)n, e->where) < 0)
			return TM_ESYSTEM;
		if (e->value != NULL)
			*(tm_task_id *)e->value = (tm_task_id)n;
		return TM_SUCCESS;
	case TM_EVENT_OBIT:
		n = pack_int(body, "status", -1);
		if (e->value != NULL)
			*(int *)e->value = (int)n;
		return n < 0 ? TM_ESYSTEM : TM_SUCCESS;
	case TM_EVENT_TASKS:
		return tasks_fill(e, pack_get(body, "tasks"));
	case TM_EVENT_RESOURCES:
		return bytes_fill(e, body, "text");
	case TM_EVENT_SUBSCRIBE:
		return bytes_fill(e, body, "value");
	case TM_EVENT_KILL:
	case TM_EVENT_PUBLISH:
		break;
	}
	return TM_SUCCESS;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */
static struct known {
	struct known *next;
	tm_task_id task;
	tm_node_id node;
} *tasks[BUCKETS];

static struct known **known_at(tm_task_id task)
{
	struct known **at = &tasks[(task ^ task >> 20) % BUCKETS];

	while (*at != NULL && (*at)->task != task)
		at = &(*at)->next;
	return at;
}

int tm_task_known(tm_task_id task, tm_node_id node)
{
	struct known **at = known_at(task);

	if (*at != NULL)
		return 0;
	*at = malloc(sizeof(**at));
	if (*at == NULL)
		return -ENOMEM;
	**at = (struct known){ .task = task, .node = node };
	return 0;
}

tm_node_id tm_task_node(tm_task_id task)
{
	const struct known *k = *known_at(task);

	return k != NULL ? k->node : TM_ERROR_NODE;
}

void tm_tasks_clear(void)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (tasks[i] != NULL) {
			struct known *k = tasks[i];

			tasks[i] = k->next;
			free(k);
		}
	}
}
