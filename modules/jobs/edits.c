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

void edits_count(struct keel_mod *mod, struct keel_obj *job)
{
	job_slot(mod, job)->edits++;
}

int32_t edits_expect(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job,
		     struct keel_err *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", job_slot(mod, job)->edits);
	return keel_change_text(ch, job, job_edits, KEEL_SET, NULL, text, err);
}

static keel_verdict edits_judge(struct keel_call *c, struct keel_obj *job)
{
	struct keel_mod *mod = c->mod;
	char text[16];

	if (!job || keel_call_get(c, job, job_attr_edits.name, NULL, text, sizeof(text)) <= 0)
		return KEEL_NEXT; /* a change set that edits_expect() has not seen */
	return strtoul(text, NULL, 10) == job_slot(mod, job)->edits
		       ? KEEL_NEXT
		       : keel_reject(c, PBSE_TRYAGAIN, "The job was changed meanwhile");
}

keel_verdict on_job_modify(struct keel_call *c, const struct keel_ev_job_modify *ev)
{
	return edits_judge(c, ev->job);
}

keel_verdict on_job_move(struct keel_call *c, const struct keel_ev_job_move *ev)
{
	return edits_judge(c, ev->job);
}

bool edits_stale(const struct keel_outcome *outcome)
{
	return outcome->verdict == KEEL_REJECT && outcome->code == PBSE_TRYAGAIN;
}
