/* SPDX-License-Identifier: Apache-2.0
 *
 * tm_events.h - what a program waits for, and the tasks that it knows.
 */
#ifndef CLIENT_TM_EVENTS_H
#define CLIENT_TM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "pack.h"
#include "tm.h"

enum tm_kind { TM_EVENT_SPAWN, TM_EVENT_KILL, TM_EVENT_OBIT, TM_EVENT_TASKS, TM_EVENT_RESOURCES, TM_EVENT_PUBLISH, TM_EVENT_SUBSCRIBE };

struct tm_event {
	struct tm_event *next;
	tm_event_t number;
	enum tm_kind kind;
	tm_task_id task;  /* of an obit */
	tm_node_id where;
	void *value;	  /* what is filled at its end; `room` of it */
	int room, *amount;
	bool ready;
	int code;
	char *body;	  /* of a ready one, owned; NULL: none */
	size_t len;
};

/* Outstanding ones in the order in which they were made, those that are ready in the order in which they ended. */
struct tm_events {
	struct tm_event *bucket[256];
	struct tm_event *ready, **ready_end;
	unsigned n; /* of both */
	tm_event_t last;
};

/* Returns the new one, or NULL without memory. */
struct tm_event *tm_event_add(struct tm_events *all, enum tm_kind kind);
struct tm_event *tm_event_find(struct tm_events *all, tm_event_t number);
/* It has ended so; the body is copied. */
void tm_event_end(struct tm_events *all, struct tm_event *e, int code, const char *body, size_t len);
/* The one that ended first, which the caller frees with tm_event_free(); NULL: none. */
struct tm_event *tm_event_take(struct tm_events *all);
void tm_event_free(struct tm_event *e);
void tm_event_drop(struct tm_events *all, struct tm_event *e);
void tm_events_clear(struct tm_events *all);
/* Fills what its call named. Returns its error. */
int tm_event_fill(const struct tm_event *e, const struct pack_value *body);

/* Nodes of tasks. */
int tm_task_known(tm_task_id task, tm_node_id node); /* 0 or -ENOMEM */
/* TM_ERROR_NODE: it is not known. */
tm_node_id tm_task_node(tm_task_id task);
void tm_tasks_clear(void);

#endif
