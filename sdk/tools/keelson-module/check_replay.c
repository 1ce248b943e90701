/* SPDX-License-Identifier: Apache-2.0
 *
 * check_replay.c - a reload at every step leads to where no reload leads.
 *
 * The same days are played three times: twice as they come, once with the module gone and back before
 * each step, as with a daemon that is started again. What it answers and what objects show is compared. A module
 * whose first two plays differ cannot be judged.
 */
#include <stdio.h>
#include <string.h>

#include "check_child.h"
#include "check_lifecycle.h"
#include "check_play.h"

static void judge_plays(const struct keel_module *m, const struct play *first, const struct play *again,
			const struct play *reloaded)
{
	bool owns_jobs = false; /* it decides what becomes of jobs: the play does not */

	for (uint32_t i = 0; i < m->n_contribs; i++) {
		const struct keel_class_def *c = m->contribs[i].def;

		owns_jobs = owns_jobs || (strcmp(m->contribs[i].kind, "CLASS") == 0 &&
					  (strcmp(c->name, "job") == 0 || strcmp(c->name, "sched") == 0));
	}
	if (strcmp(first->answers.data, again->answers.data) != 0)
		skip_all("replay", "it does not answer twice the same");
	else
		play_compare(RULE_replay_answers, "without a reload", &first->answers, "with one", &reloaded->answers);
	if (rule_broken(RULE_replay_answers))
		skip(RULE_replay_attributes, "what it answers differs already");
	else if (owns_jobs)
		skip(RULE_replay_attributes, "it is the one that tells what becomes of jobs");
	else if (strcmp(first->values.data, again->values.data) != 0)
		skip(RULE_replay_attributes, "it does not show twice the same");
	else
		play_compare(RULE_replay_attributes, "without a reload", &first->values, "with one", &reloaded->values);
}

static bool plays_compare(void *arg, unsigned i)
{
	struct play first, again, reloaded;

	(void)i;
	play_days(&first, arg, ASKED, false);
	play_days(&again, arg, ASKED, false);
	play_days(&reloaded, arg, ASKED, true);
	judge_plays(((const struct subject *)arg)->m, &first, &again, &reloaded);
	play_forget(&first);
	play_forget(&again);
	play_forget(&reloaded);
	return false;
}

void check_replay(const struct subject *s)
{
	struct subject with = *s;

	with.optional = true;
	look_from_to(RULE_replay_attributes, RULE_replay_answers);
	child_cases(plays_compare, &with, RULE_replay_answers, RULE_replay_answers);
}
