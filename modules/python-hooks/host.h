/* SPDX-License-Identifier: Apache-2.0
 *
 * host.h - events of jobs on their hosts, and what scripts there change on the server.
 *
 *   job.c       a server: each host of a job gets what a script there sees of it, before its start; a mom keeps it
 *   host.c      a mom: what a script sees of an event
 *   verdict.c   a mom: what becomes of its result
 *   update.c    a mom's: what its scripts changed goes to the server; a server's: that is checked, and made
 */
#ifndef PYTHON_HOOKS_HOST_H
#define PYTHON_HOOKS_HOST_H

#include "hooks.h"

#define HOST_EVENT(name) \
	int32_t host_fill_##name(struct run *r, const void *ev, struct pack *params); \
	keel_verdict host_settle_##name(struct run *r, struct keel_call *c, const struct result *result);
HOST_EVENT(execjob_begin)
HOST_EVENT(execjob_prologue)
HOST_EVENT(execjob_launch)
HOST_EVENT(execjob_attach)
HOST_EVENT(execjob_resize)
HOST_EVENT(execjob_preterm)
HOST_EVENT(execjob_epilogue)
HOST_EVENT(execjob_end)
HOST_EVENT(execjob_abort)
HOST_EVENT(execjob_postsuspend)
HOST_EVENT(execjob_preresume)
#undef HOST_EVENT

/* What a script of a mom asks of the server goes there: its changes, rerun(), delete(), a new cycle. For events without a job r->id is "".
 * Nothing is sent where it asks for nothing. A result that raised or hit its alarm does what fail_action says. */
void host_update(struct run *r, const struct result *result);
/* All vnodes of this host are to be offline (on), because of this hook; or those that were because of it are free again. */
void host_offline(struct state *st, const char *hook, bool on);

/* A server's part of both. server_start() is server.c's, these are called beside it. */
int32_t updates_start(struct state *st, struct keel_err *err);
void updates_stop(struct state *st);

/* A map by name of OBJECTs of class node, each the vnode as this host knows it (its `resources_assigned` what the job has of it);
 * the vnodes in a text like exec_vnode's. Returns how many there are. */
uint32_t host_pack_vnodes(struct state *st, struct pack *p, const char *exec_vnode);
#endif
