/* SPDX-License-Identifier: Apache-2.0
 *
 * host.h - events of jobs on their hosts, and what scripts there change on the server.
 *
 *   facts.c     a server: each host of a job gets what a script there sees of it, before its start; known.c: a mom keeps it
 *   host.c      a mom: what a script sees of an event; exec.c: texts like exec_vnode
 *   program.c   a mom: what execjob_launch is about
 *   verdict.c   a mom: what becomes of its result
 *   report.c    a mom: what its scripts changed goes to the server
 *   updates.c   a server: updates of hosts, in their order, in slices; accept.c: they are checked, and made
 */
#ifndef PYTHON_HOOKS_HOST_H
#define PYTHON_HOOKS_HOST_H

#include "hooks.h"
#include "known.h"

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

/* Of "python.update". */
enum update_flag { UPDATE_RERUN = 1, UPDATE_DELETE = 2, UPDATE_CYCLE = 4, UPDATE_OFFLINE = 8, UPDATE_ONLINE = 16 };

/* ---- shared by these files ---------------------------------------------------------------------------- */
struct report; /* report.c */
struct host {
	struct known *jobs;
	char dir[4096];	    /* where they are kept */
	char *came, *came_exec; /* the part of a job's attributes that has come */
	char came_id[280];
	uint32_t came_len, came_total;
	struct report *reports; /* that the server has not noted */
	int64_t number;
};
struct known *host_known(const struct state *st, const char *id); /* NULL: nothing came of it */
struct known *host_followed(const struct state *st, const char *id); /* as its part is now; the caller frees one that is not `kept` */
void host_keep(struct state *st, struct known *k);		  /* it has changed */
int32_t facts_start(struct state *st, struct keel_err *err);	  /* a mom's */
void facts_stop(struct state *st);
int32_t reports_start(struct state *st, struct keel_err *err);
void reports_stop(struct state *st);
/* What was changed is what the next script of this host sees. */
void host_changed(struct state *st, const struct run *r, const struct result *result);
/* Of struct run: the job's run_version; this host among its hosts; its program runs; what is about to be started. */
enum { NUMBER_RUN, NUMBER_INDEX, NUMBER_STARTED, NUMBER_PROGRAM };
#define PROGRAM 1 /* the job's own */
/* program.c: the pairs progname, argv, env of what is about to be started; how many. */
uint32_t program_pack(struct run *r, const void *ev, struct pack *p);
int32_t program_change(struct run *r, const struct result *result, struct keel_err *err); /* 0; PBSE and *err */

/* A server's: may this host speak about that run of the job? Also after its end. */
bool run_has_host(struct state *st, const char *id, int64_t run, const char *peer);
int32_t runs_begin(struct state *st, struct keel_err *err); /* a server's half of facts.c */
void runs_end(struct state *st);

/* exec.c: an item of "(n1:ncpus=2:mem=1kb+n2:ncpus=1)+(n3:ncpus=1)". */
struct exec_item {
	char vnode[256];
	uint32_t chunk;	 /* from 0: which parenthesis */
	const char *res; /* "ncpus=2:mem=1kb", not terminated */
	uint32_t len;
};
bool exec_next(const char **at, uint32_t *chunk, struct exec_item *ret); /* false: the end. *chunk begins with 0 */
/* The next "name=value" of an item. False: the end. */
bool exec_amount(const char **at, const char *end, char name[128], char value[256]);
/* An amount more, as text in buf: numbers and sizes (kb) are added, others replace. NULL old: none. */
const char *exec_add(const char *old, const char *more, char buf[256]);
/* exec_host of what a job keeps, from what it had; the caller frees it. NULL: no memory. host_of() names the host of a vnode. */
char *exec_hosts(const char *before, const char *hosts_before, const char *after, const char *(*host_of)(void *arg, const char *vnode), void *arg);
#endif
