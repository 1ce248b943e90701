/* SPDX-License-Identifier: Apache-2.0
 *
 * slots.c - things that the process names by a number: place and life of the slot, so that an old number names nothing.
 */
#include <stdlib.h>

#include "isolation.h"

int64_t slot_take(struct slots *s, void *thing)
{
	uint32_t i = 0;

	if (s->used == CALLS_MAX)
		return 0;
	if (s->used == s->n) {
		uint32_t room = s->n > 0 ? s->n * 2 : 16;
		struct slot *more = reallocarray(s->at, room, sizeof(*more));

		if (!more)
			return 0;
		s->at = more;
		for (i = s->n; i < room; i++)
			s->at[i] = (struct slot){ .thing = NULL };
		i = s->n;
		s->n = room;
	}
	while (s->at[i].thing)
		i++;
	s->at[i].thing = thing;
	s->at[i].life++;
	s->used++;
	return (int64_t)s->at[i].life << 16 | i;
}

void *slot_get(const struct slots *s, int64_t number)
{
	uint32_t i = (uint32_t)(number & 0xffff);

	return number > 0 && i < s->n && s->at[i].life == (uint32_t)(number >> 16) ? s->at[i].thing : NULL;
}

void slot_free(struct slots *s, int64_t number)
{
	if (!slot_get(s, number))
		return;
	s->at[number & 0xffff].thing = NULL;
	s->used--;
}
