/* SPDX-License-Identifier: Apache-2.0
 *
 * distribute.h - hooks on their way to hosts: what the descriptor binds to distribute.c (a server) and files.c (a mom).
 */
#ifndef PYTHON_HOOKS_DISTRIBUTE_H
#define PYTHON_HOOKS_DISTRIBUTE_H

#include "hooks.h"

extern const struct keel_attr_def distribute_timeout_row;
extern const struct keel_mom_directive_def reject_root_scripts_directive, report_hook_checksums_directive;

/* A server's. */
int32_t deliver_init(struct keel_mod *mod, struct keel_err *err);
void distribute_peer(struct state *st, const char *peer, bool up);
void distribute_forget(struct state *st); /* a vnode is gone, and perhaps the last one of its host */
/* Jobs do not start on a host that has not taken its hooks yet: 15167. */
keel_verdict distribute_start_now(struct keel_call *c, const struct keel_ev_start_now *ev);

/* A mom's. */
int32_t files_init(struct keel_mod *mod, struct keel_err *err);
keel_verdict files_task_begin(struct keel_call *c, const struct keel_ev_task_begin *ev); /* $reject_root_scripts: jobs of root, too */
#endif
