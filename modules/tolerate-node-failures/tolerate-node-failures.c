/* SPDX-License-Identifier: Apache-2.0
 *
 * tolerate-node-failures.c - jobs that start, and go on, although hosts of theirs fail.
 */
#include "tolerate.h"

static const struct keel_contrib contribs[] = {
	KEEL_ROW(TYPE, tolerance_type), KEEL_ROW(ATTR, tolerance_row),
};

KEEL_MODULE(.name = "tolerate-node-failures", .version = "1.0", .vendor = "Keelson",
	    .summary = "jobs that start, and go on, although hosts of theirs fail", .roles = KEEL_SERVER | KEEL_MOM,
	    KEEL_CONTRIBS(contribs));
