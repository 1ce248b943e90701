/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/limits.h - service "limits": which entities run more than a soft limit.
 */
#ifndef KEEL_SERVICE_LIMITS_H
#define KEEL_SERVICE_LIMITS_H

#include "keel/types.h"
#include "keel/use.h"

/* ALSO_IT: as if the job itself ran beside those that do. */
enum keel_limits_of { KEEL_LIMITS_QUEUE = 1, KEEL_LIMITS_SERVER = 2, KEEL_LIMITS_ALSO_IT = 4 };

struct keel_limits_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	/* Does the job's user, group or project, or all of them together, run more than a soft limit of
	 * its queue or of the server (bits of enum keel_limits_of) says? What a trial has vacated does
	 * not count. */
	bool (*over_soft)(struct keel_mod *, struct keel_obj *job, uint32_t of);
};

KEEL_SERVICE(limits);
#define keel_limits_over_soft(...) KEEL_CALL(limits, over_soft, __VA_ARGS__)

#endif
