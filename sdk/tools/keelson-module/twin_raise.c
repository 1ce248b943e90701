/* SPDX-License-Identifier: Apache-2.0
 *
 * twin_raise.c - operations that a module in a process of its own raises, on a host that has no second process.
 */
#include <stdlib.h>

#include "twin_inside.h"

struct twin_raised {
	struct twin *twin;
	int64_t number;
	struct mp *out; /* for the outcome while raise() runs */
};

static void over(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	struct twin_raised *r = arg;
	struct twin *t = r->twin;

	(void)m;
	if (r->out != NULL) {
		answer_outcome(r->out, o);
	} else {
		modhost_begin(&t->host, TALK_OUTCOME);
		talk_put_int(&t->host.out, r->number);
		answer_outcome(&t->host.out, o);
		modhost_tell(&t->host);
		twin_settle(t);
	}
	free(r);
}

void twin_raise(void *asking, struct raising *r, struct mp *out)
{
	const struct asking *a = asking;
	struct twin_raised *made = r->refused == NULL ? malloc(sizeof(*made)) : NULL;
	struct keel_outcome o = { .size = sizeof(o), .verdict = KEEL_FAIL, .text = r->refused };

	if (made == NULL) {
		a->twin->core->log(a->twin->mod, KEEL_LOG_ERROR, "Module", a->twin->mod->name,
				   "module %s raised point %u: %s", a->twin->mod->name, r->raise.point, r->refused);
		answer_outcome(out, &o);
		return;
	}
	*made = (struct twin_raised){ a->twin, r->number, out };
	r->raise.req = twin_requester(a->twin, r->request);
	r->raise.done = over;
	r->raise.arg = made;
	if (a->twin->hook->raise(a->twin->mod, &r->raise) != KEEL_WAIT)
		return;
	made->out = NULL;
	o.verdict = KEEL_WAIT;
	answer_outcome(out, &o);
}
