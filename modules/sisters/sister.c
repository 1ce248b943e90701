/* SPDX-License-Identifier: Apache-2.0
 *
 * sister.c - see sister.h.
 */
#include "sister.h"

#include <stdio.h>
#include <string.h>

static void act(struct sister *s, struct sister_act a)
{
	s->act(s->arg, &a);
}

/* What is to be said of its state, if the primary can hear it. */
static void say(struct sister *s)
{
	if (!s->linked || s->said)
		return;
	s->said = s->state != PART_BEGUN && (s->state != PART_ENDED || s->drained);
	if (s->state == PART_READY)
		act(s, (struct sister_act){ .kind = SAY_JOINED });
	else if (s->state == PART_REFUSED)
		act(s, (struct sister_act){ .kind = SAY_FAILED, .status = s->status, .code = s->code, .text = s->text });
	else if (s->said)
		act(s, (struct sister_act){ .kind = SAY_ENDED });
}

static void become(struct sister *s, enum sister_state state)
{
	s->said = s->said && s->state == state;
	s->state = state;
	say(s);
}

void sister_init(struct sister *s, int64_t now)
{
	s->state = PART_BEGUN;
	s->away_ms = now;
}

void sister_ready(struct sister *s)
{
	if (s->state == PART_BEGUN)
		become(s, PART_READY);
}

void sister_refused(struct sister *s, int32_t status, int32_t code, const char *text)
{
	if (s->state != PART_BEGUN && s->state != PART_ENDED)
		return;
	s->status = status;
	s->code = code;
	snprintf(s->text, sizeof(s->text), "%s", text ? text : "");
	become(s, PART_REFUSED);
}

void sister_ended(struct sister *s)
{
	if (s->state != PART_REFUSED)
		become(s, PART_ENDED);
}

void sister_drained(struct sister *s)
{
	s->drained = true;
	if (s->state == PART_ENDED)
		say(s);
}

/* An order without an answer is given again by the primary, once it knows the state. */
void sister_link(struct sister *s, bool up, int64_t now)
{
	if (s->linked == up)
		return;
	s->linked = up;
	s->said = false;
	s->away_ms = up ? 0 : now;
	say(s);
}

void sister_asked(struct sister *s)
{
	s->said = false;
	say(s);
}

void sister_order(struct sister *s, uint64_t number, const char *name)
{
	if (number < s->order)
		return;
	if (number == s->order) {
		if (s->done)
			act(s, (struct sister_act){ .kind = SAY_ANSWER, .number = number, .code = s->order_code,
						    .text = s->order_text });
		return;
	}
	s->order = number;
	s->done = false;
	act(s, (struct sister_act){ .kind = DO_ORDER, .number = number, .name = name });
}

void sister_done(struct sister *s, uint64_t number, int32_t code, const char *text)
{
	if (number != s->order || s->done)
		return;
	s->done = true;
	s->order_code = code;
	snprintf(s->order_text, sizeof(s->order_text), "%s", text ? text : "");
	act(s, (struct sister_act){ .kind = SAY_ANSWER, .number = number, .code = code, .text = s->order_text });
}

void sister_tick(struct sister *s, int64_t now)
{
	if (s->linked || s->ending || s->state == PART_ENDED || s->state == PART_REFUSED ||
	    now - s->away_ms < s->downtime_ms)
		return;
	s->ending = true;
	act(s, (struct sister_act){ .kind = DO_END });
}
