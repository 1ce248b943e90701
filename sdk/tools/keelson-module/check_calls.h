/* SPDX-License-Identifier: Apache-2.0
 *
 * check_calls.h - the parts of the group `calls`: cases of child_cases(), their argument a struct subject.
 */
#ifndef KEELSON_CHECK_CALLS_H
#define KEELSON_CHECK_CALLS_H

#include "check_events.h"
#include "check_stage.h"

/* A stage with the module loaded (s->mod; NULL: it cannot be), and everything watched. */
void calls_begin(struct stage *s, const struct subject *of);
/* Let time pass, as far as things are due. */
void calls_go_on(struct stage *s, int64_t ms);

/* A point that is raised, and how its operation ends. */
struct raised {
	const struct point *point;
	enum flavour flavour;
	const char *with; /* "a usual event" */
	struct keel_req *client;
	struct keel_mock_outcome outcome; /* filled when the operation ends */
};
enum ending { BY_ITSELF, BY_EVENT, BY_DEADLINE, BY_CLIENT, BY_OBJECT, BY_STOP, AT_ONCE, BY_OTHERS, N_ENDINGS };
keel_verdict calls_raise(struct stage *s, struct raised *r);
void calls_end(struct stage *s, struct raised *r, enum ending how);

bool request_case(void *arg, unsigned i); /* its requests */
bool verb_case(void *arg, unsigned i);	  /* its verbs, with words behind them */
bool value_case(void *arg, unsigned i);	  /* check functions and computed values of its attributes */
bool row_case(void *arg, unsigned i);	  /* functions of its rows for base modules */

#endif
