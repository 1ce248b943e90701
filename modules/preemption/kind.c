/* SPDX-License-Identifier: Apache-2.0
 *
 * kind.c - the kind PREEMPT: letters of preempt_order, as modules bring them.
 */
#include "preemption.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

struct method *method_find(struct state *st, char letter)
{
	struct method *m;

	for (m = st->methods; m && m->def->letter[0] != letter; m = m->next)
		;
	return m;
}

static int32_t method_add(struct keel_mod *self, struct keel_mod *owner, const void *def,
			  struct keel_err *err)
{
	struct state *st = self->state;
	const struct keel_preempt_def *p = def;
	struct method *other = p->letter ? method_find(st, *p->letter) : NULL, *m;
	const char *why = other ? "its letter is taken" : NULL;

	if (!p->letter || strlen(p->letter) != 1 || *p->letter < 'A' || *p->letter > 'Z')
		why = "its letter is not one upper case letter";
	else if (!p->outcome || !p->name || !p->words || !p->applies || !p->start)
		why = "its row is not complete";
	if (why)
		return keel_error(err, -1, "preemption method '%s' of %s: %s%s%s",
				  p->letter ? p->letter : "", owner->name, why,
				  other ? " by " : "", other ? other->owner->name : "");
	m = calloc(1, sizeof(*m));
	if (!m)
		return keel_error(err, -1, "out of memory");
	m->def = p;
	m->owner = owner;
	m->next = st->methods;
	st->methods = m;
	return 0;
}

static void method_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	struct state *st = self->state;
	struct method *gone;

	(void)owner;
	LL_SEARCH_SCALAR(st->methods, gone, def, def);
	if (gone)
		LL_DELETE(st->methods, gone);
	free(gone);
}

const struct keel_kind_def preempt_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_preempt_def),
	.name = "PREEMPT",
	.doc = "a way in which a running job gives way",
	.add = method_add,
	.remove = method_remove,
};
