/* SPDX-License-Identifier: Apache-2.0
 *
 * server.h - what files about events of a server share.
 */
#ifndef PYTHON_HOOKS_SERVER_H
#define PYTHON_HOOKS_SERVER_H

#include "hooks.h"

struct server {
	struct walks *walks;   /* answer.c */
	struct batch *batches; /* vnodes.c */
	struct queued *queued; /* job_events.c */
	bool holds_starts;     /* there is a tap that looks at them */
};

/* job_events.c */
void queued_stop(struct server *server);
/* answer.c */
void answers_free(struct server *server);

/* ---- server.c ----------------------------------------------------------------------------------------------- */
/* What a run is about ("": nothing of its own), and its requestor: of the operation, else `who` (user@host; may be NULL), else this
 * server. */
void server_about(struct run *r, const char *id, const char *who);
/* A pair of `params`: an object that changes may name by this key. With c as the operation would make it. obj
 * NULL: nothing. */
void server_object(struct run *r, struct pack *params, const char *key, struct keel_obj *obj, struct keel_call *c);
/* One that is not to be changed. */
void server_shown(struct run *r, struct pack *params, const char *key, struct keel_obj *obj, const struct pack *facts);
/* A draft, without resources that were computed or are defaults: a script sees what was requested. */
void server_submitted(struct run *r, struct pack *params, const char *key, struct keel_obj *obj, struct keel_call *c);
/* The object with those values alone that the operation would change, what was computed from them left out. */
void server_requested(struct run *r, struct pack *params, const char *key, struct keel_obj *obj, struct keel_call *c);
/* The scheduler begins anew if the script wants that. */
void server_restarts_cycle(struct run *r, const struct result *result);
/* settle() of events at which nothing is to be changed. */
keel_verdict server_settle_note(struct run *r, struct keel_call *c, const struct result *result);
keel_verdict server_refusal(struct run *r, struct keel_call *c, const struct result *result);
/* Makes the changes, each of which has to be of this target. KEEL_NEXT, or the refusal of the operation. */
keel_verdict server_changes(struct run *r, struct keel_call *c, const struct result *result, const char *target);
/* All of it, for a GATE of which accepting means the changes, and refusing refuses. */
keel_verdict server_settle(struct run *r, struct keel_call *c, const struct result *result, const char *target);
extern const struct keel_session server_manager; /* what scripts change is judged as a manager's request */

/* ---- vnodes.c ----------------------------------------------------------------------------------------------- */
/* Makes those of n > 0 changes at the front that are of one vnode, as a manager would; returns how many they
 * are. `who`: the hook. */
uint32_t vnodes_change(struct state *st, const char *who, const struct change *changes, uint32_t n);
/* Makes what a result changes of vnodes, as a manager would; changes of other objects are left out. Many are made in
 * slices, of later turns. */
void vnodes_change_all(struct state *st, const char *who, const struct result *result);
void vnodes_stop(struct state *st);

#endif
