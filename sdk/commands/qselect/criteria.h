/* SPDX-License-Identifier: Apache-2.0
 *
 * criteria.h - the criteria of a selection: options of qselect as a list for the server.
 */
#ifndef KEELSON_QSELECT_CRITERIA_H
#define KEELSON_QSELECT_CRITERIA_H

#include <stdbool.h>
#include <time.h>

#include "operand.h"
#include "pbs_ifl.h"

struct criteria {
	struct attropl *first, **end; /* owned, strings too */
	struct operand where; /* of -q */
	bool history, expand;
	time_t now;
};

void criteria_init(struct criteria *c);
void criteria_fini(struct criteria *c);

/* Takes option `letter`. Returns 0; -EINVAL: its value is illegal; -EDESTADDRREQ: a malformed destination;
 * -ENOTSUP: no such option; -ENOMEM. */
int criteria_take(struct criteria *c, int letter, const char *value);

#endif
