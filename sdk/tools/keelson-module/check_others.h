/* SPDX-License-Identifier: Apache-2.0
 *
 * check_others.h - what happens to others while an operation waits: events that its module listens to, objects that go.
 * A hold that is there when all of it has happened is one that nothing ends.
 */
#ifndef KEELSON_CHECK_OTHERS_H
#define KEELSON_CHECK_OTHERS_H

#include "check_stage.h"

/* Raise every event that a module listens to, about every object but that of this id (may be NULL). */
void others_raise(struct stage *s, const char *but);
/* All objects but that one go. */
void others_go(struct stage *s, const char *but);
/* After others_raise(): a hold of the module that only its deadline can end is a finding. */
void others_judge(struct stage *s);

#endif
