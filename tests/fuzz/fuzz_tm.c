/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_tm.c - any bytes as what the daemon says of an event that a program of a job waits for: nothing is written beside the room
 * that the program has.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tm_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOM 3

static void fill(enum tm_kind kind, const struct pack_value *body, bool has_amount)
{
	size_t one = kind == TM_EVENT_RESOURCES || kind == TM_EVENT_SUBSCRIBE ? 1 : sizeof(int);
	int amount = 0;
	struct tm_event e = { .kind = kind, .where = 1, .room = ROOM, .amount = has_amount ? &amount : NULL };

	for (int with = 0; with < 2; with++) {
		e.value = with ? malloc(ROOM * one) : NULL; /* exact, so that a sanitizer sees what is written behind it */
		tm_event_fill(&e, body);
		if (amount < 0)
			abort();
		free(e.value);
	}
	tm_tasks_clear();
}

static void body_fill(const void *bytes, size_t len)
{
	struct pack body;

	if (pack_open(&body, bytes, len) < 0)
		return;
	for (int kind = TM_EVENT_SPAWN; kind <= TM_EVENT_SUBSCRIBE; kind++) {
		fill((enum tm_kind)kind, &body.root, false);
		fill((enum tm_kind)kind, &body.root, true);
	}
	pack_fini(&body);
}

/* The keys are right, the values are the input's. */
static void values_fill(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "task", "status", "tasks", "text", "value" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct buf b;

		buf_init(&b);
		pack_map(&b, 1);
		pack_str(&b, keys[i]);
		buf_add(&b, data, size);
		body_fill(b.data, b.len);
		buf_fini(&b);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	body_fill(data, size);
	values_fill(data, size);
	return 0;
}
