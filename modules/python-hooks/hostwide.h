/* SPDX-License-Identifier: Apache-2.0
 *
 * hostwide.h - events of a host that are about no single job: exechost_startup, exechost_periodic; and what hooks there mean for starts.
 */
#ifndef PYTHON_HOOKS_HOSTWIDE_H
#define PYTHON_HOOKS_HOSTWIDE_H

#include "hooks.h"

extern const struct keel_reload_def hostwide_reload; /* SIGHUP is an exechost_startup */

int32_t hostwide_start(struct state *st, struct keel_err *err);
void hostwide_stop(struct state *st);
keel_verdict hostwide_began(struct keel_call *c, const struct keel_ev_host_start *ev);
/* How long hooks may keep the other hosts of a job. */
keel_verdict hostwide_alarm(struct keel_call *c, const struct keel_ev_start_alarm *ev);

/* host_vnodes.c: what a script sees of the vnodes of its host. A mom has it from the server, anew for each run. */
int32_t host_vnodes_init(struct keel_mod *mod, struct keel_err *err);
void host_vnodes_stop(struct state *st);
/* Calls ready() once, from the loop: what is known is as new as it can be. Without memory at once. */
void host_vnodes_fetch(struct state *st, void (*ready)(struct state *st, void *arg), void *arg);
void host_pack_vnode_list(struct state *st, struct pack *p); /* {name: OBJECT} */
#endif
