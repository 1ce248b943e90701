/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/manage.h - service "manage" (module manager): replies to requests that a MANAGED row was handed.
 */
#ifndef KEEL_SERVICE_MANAGE_H
#define KEEL_SERVICE_MANAGE_H

#include "keel/types.h"
#include "keel/use.h"

struct keel_manage_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	/* The one answer to a request, like keel_reply(); management_done is raised. text NULL or "": that of the code's table. With code
	 * 0 a text is what the administrator reads although the request succeeded. */
	void (*reply)(struct keel_mod *, struct keel_req *req, int32_t code, const char *text);
};

KEEL_SERVICE(manage);
#define keel_manage_reply(...) KEEL_CALL(manage, reply, __VA_ARGS__)

#endif
