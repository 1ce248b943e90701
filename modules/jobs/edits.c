/* SPDX-License-Identifier: Apache-2.0
 *
 * edits.c - is a job still what it was when a change of it was prepared?
 *
 * A tap may let an alteration or a move wait, and the job starts, ends or gets another change meanwhile. What was
 * checked and computed from its old values is stale then, and would undo the other change. So each change set says
 * after how many edits of the job it was made (the hidden attribute `edits`); the last tap of the chain refuses a
 * stale one with PBSE_TRYAGAIN, and the raiser prepares it again from the values of then.
 */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>

KEEL_ATTR_OF(job, edits);
KEEL_ATTR_AS(attr_job_queue, job, queue, 0);

void edits_count(struct keel_mod *mod, struct keel_obj *job)
{
	job_slot(mod, job)->edits++;
}

void edits_key(int64_t mark, char key[AGAIN_KEY])
{
	snprintf(key, AGAIN_KEY, "#%lld", (long long)(mark >> 32));
}

/* The mark is the number of this change set, and in its lower half how many edits the job has had. */
int32_t edits_expect(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job, const char *queue, char key[AGAIN_KEY],
		     struct keel_err *err)
{
	struct state *st = mod->state;
	const int64_t mark = (int64_t)(++st->again_last & INT32_MAX) << 32 | job_slot(mod, job)->edits;
	char text[32];
	int32_t code;

	snprintf(text, sizeof(text), "%lld", (long long)mark);
	edits_key(mark, key);
	code = keel_change_text(ch, job, job_edits, KEEL_SET, NULL, text, err);
	return code ? code : again_expect(mod, key, ch, job, queue, err);
}

keel_verdict edits_judge(struct keel_call *c, struct keel_obj *job)
{
	struct keel_mod *mod = c->mod;
	char text[32];

	if (!job || keel_call_get(c, job, job_attr_edits.name, NULL, text, sizeof(text)) <= 0)
		return KEEL_NEXT; /* a change set that edits_expect() has not seen */
	return (uint32_t)strtoll(text, NULL, 10) == job_slot(mod, job)->edits
		       ? KEEL_NEXT
		       : keel_reject(c, PBSE_TRYAGAIN, "The job was changed meanwhile");
}

keel_verdict on_job_modify(struct keel_call *c, const struct keel_ev_job_modify *ev)
{
	return edits_judge(c, ev->job);
}

keel_verdict on_job_move(struct keel_call *c, const struct keel_ev_job_move *ev)
{
	const char *queue = ev->job ? keel_get_str(ev->job, attr_job_queue) : NULL;

	/* again.c knows where it goes; the move itself changes the queue. */
	if (queue && keel_call_set(c, ev->job, "queue", NULL, queue, NULL))
		return keel_fail(c, "no memory");
	return edits_judge(c, ev->job);
}

bool edits_stale(const struct keel_outcome *outcome)
{
	return outcome->verdict == KEEL_REJECT && outcome->code == PBSE_TRYAGAIN;
}
