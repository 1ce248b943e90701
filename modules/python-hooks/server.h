/* SPDX-License-Identifier: Apache-2.0
 *
 * server.h - the functions that rows of events.c name, and what files about events of a server share.
 */
#ifndef PYTHON_HOOKS_SERVER_H
#define PYTHON_HOOKS_SERVER_H

#include "hooks.h"

/* struct event_row: fill() and settle(), of a server's events in job.c, resv.c, site.c, periodic.c; of a mom's in host.c. */
#define DECLARE_SERVER(name) FUNCTIONS(server, name)
#define DECLARE_MOM(name) FUNCTIONS(host, name)
#define FUNCTIONS(where, name)                                                       \
	int32_t where##_fill_##name(struct run *r, const void *ev, struct pack *params); \
	keel_verdict where##_settle_##name(struct run *r, struct keel_call *c, const struct result *result);
#define EVENT(name, constant, bit, daemon, point, flags) DECLARE_##daemon(name)
#include "event.def"
#undef EVENT
#undef FUNCTIONS
#undef DECLARE_SERVER
#undef DECLARE_MOM

#endif
