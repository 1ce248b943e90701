/* SPDX-License-Identifier: Apache-2.0
 *
 * settled.c - callbacks of taps for the outcome of the operation they took part in.
 *
 * Each is called once, after done() of the raiser: when the operation ends, or before that when its module goes.
 */
#include <errno.h>
#include <stdlib.h>

#include "hook/inside.h"

struct settled {
	struct settled *next;
	struct owner *owner;
	keel_outcome_fn *fn;
	void *arg;
};

int32_t call_settled(struct keel_call *c, keel_outcome_fn *fn, void *arg)
{
	struct op *op = (struct op *)c;
	struct settled *s;

	if (fn == NULL || (op->point->kind != KEEL_GATE && op->point->kind != KEEL_ASK))
		return -EINVAL;
	s = malloc(sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	*s = (struct settled){ .next = op->settled, .owner = owner_of(c->mod), .fn = fn, .arg = arg };
	op->settled = s;
	s->owner->live++;
	return 0;
}

static void settled_call(struct settled *s, const struct keel_outcome *outcome)
{
	struct crumb crumb;

	s->owner->live--;
	crumb_begin(&crumb, s->owner, "settled callback", NULL);
	s->fn(&s->owner->pub, s->arg, outcome);
	crumb_end(&crumb);
	free(s);
}

void settled_end(struct op *op, const struct keel_outcome *outcome)
{
	struct settled *s;

	while ((s = op->settled) != NULL) {
		op->settled = s->next;
		settled_call(s, outcome);
	}
}

void settled_leave(struct op *op, const struct owner *owner)
{
	const struct keel_outcome gone = { .size = sizeof(gone), .verdict = KEEL_FAIL,
					   .text = "the module goes before the operation has ended" };
	struct settled **at = &op->settled, *s;

	while ((s = *at) != NULL) {
		if (s->owner != owner) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		settled_call(s, &gone);
	}
}
