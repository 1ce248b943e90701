/* SPDX-License-Identifier: Apache-2.0
 *
 * check_calls.h - the parts of the group `calls`: cases of child_cases(), their argument a struct subject.
 */
#ifndef KEELSON_CHECK_CALLS_H
#define KEELSON_CHECK_CALLS_H

#include "check_stage.h"

/* A stage with the module loaded (s->mod; NULL: it cannot be), and everything watched. */
void calls_begin(struct stage *s, const struct subject *of);
/* Let time pass, as far as things are due. */
void calls_go_on(struct stage *s, int64_t ms);

bool request_case(void *arg, unsigned i); /* its requests */
bool value_case(void *arg, unsigned i);	  /* check functions and computed values of its attributes */
bool row_case(void *arg, unsigned i);	  /* functions of its rows for base modules */

#endif
