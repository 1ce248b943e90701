/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/fairshare.h - service "fairshare": which entities have used more than their share.
 */
#ifndef KEEL_SERVICE_FAIRSHARE_H
#define KEEL_SERVICE_FAIRSHARE_H

#include "keel/types.h"
#include "keel/use.h"

struct keel_fairshare_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	/* Is the entity that this job is charged to over its share? */
	bool (*over_share)(struct keel_mod *, struct keel_obj *job);
};

KEEL_SERVICE(fairshare);
#define keel_fairshare_over_share(...) KEEL_CALL(fairshare, over_share, __VA_ARGS__)

#endif
