/* SPDX-License-Identifier: Apache-2.0
 *
 * resv_events.c - events of reservations: resvsub and modifyresv may change and refuse, the others are notes.
 */
#include "server.h"

int32_t server_fill_resvsub(struct run *r, const void *event, struct pack *params)
{
	const struct keel_ev_resv_submit *ev = event;

	server_about(r, ev->id, ev->who);
	server_submitted(r, params, "resv", ev->resv, r->call);
	return 1;
}

keel_verdict server_settle_resvsub(struct run *r, struct keel_call *c, const struct result *result)
{
	return server_settle(r, c, result, "resv");
}

int32_t server_fill_modifyresv(struct run *r, const void *event, struct pack *params)
{
	const struct keel_ev_resv_modify *ev = event;

	server_about(r, ev->id, ev->who);
	server_requested(r, params, "resv", ev->resv, r->call);
	server_shown(r, params, "resv_o", ev->resv, NULL);
	return 2;
}

/* Times and resources are the requester's: what follows from them is computed before scripts see it. */
keel_verdict server_settle_modifyresv(struct run *r, struct keel_call *c, const struct result *result)
{
	static const char *const fixed[] = { "reserve_start", "reserve_end", "reserve_duration", "Resource_List" };

	for (uint32_t i = 0; result->how == ACCEPTED && i < result->n_changes; i++)
		for (size_t k = 0; k < KEEL_COUNT(fixed); k++)
			if (strcmp(result->changes[i].attr, fixed[k]) == 0)
				return keel_reject(c, PBSE_HOOKERROR,
						   "hook '%s' cannot change %s of an alteration; refuse it, or alter it again",
						   r->name, fixed[k]);
	return server_settle(r, c, result, "resv");
}

/* ---- notes: nothing is to be changed ------------------------------------------------------------------------ */
#define NOTE(name)                                                                        \
	int32_t server_fill_##name(struct run *r, const void *event, struct pack *params) \
	{                                                                                 \
		const struct keel_ev_##name *ev = event;                                  \
                                                                                          \
		server_about(r, ev->id, NULL);                                            \
		server_shown(r, params, "resv", ev->resv, NULL);                          \
		return 1;                                                                 \
	}
NOTE(resv_confirm)
NOTE(resv_begin)
NOTE(resv_end)
