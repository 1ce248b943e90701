/* SPDX-License-Identifier: Apache-2.0
 *
 * check_play.h - the same days of a small cluster, as often as they are wanted. What the module answers, what objects
 * show and what is logged is written down as lines, so that two plays can be compared.
 */
#ifndef KEELSON_CHECK_PLAY_H
#define KEELSON_CHECK_PLAY_H

#include "check_stage.h"
#include "keel/text.h"

enum { PLAY_DAYS = 7 };

/* Before each start the question whether the job may; UNHEARD: the answer is not written down. */
enum play_dry { ASKED, ASKED_UNHEARD, NOT_ASKED };

struct play {
	struct stage stage;
	bool reloads; /* the module, wherever a daemon could: between turns */
	bool runs[PLAY_DAYS]; /* the job of that day */
	char id[PLAY_DAYS][64];
	enum play_dry dry;
	struct keel_text answers, values;
};

/* Plays the days on a stage of their own, with the module, which was reloaded once, with objects that have values. */
void play_days(struct play *p, const struct subject *of, enum play_dry dry, bool reloads);
void play_forget(struct play *p); /* the texts */

/* Are they equal? Else the rule is broken: the first line of each that differs. */
bool play_compare(enum rule rule, const char *as, const struct keel_text *one, const char *or_so,
		  const struct keel_text *other);

#endif
