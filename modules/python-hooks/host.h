/* SPDX-License-Identifier: Apache-2.0
 *
 * host.h - events of jobs on their hosts, and what scripts there change on the server.
 *
 *   facts.c     a server: each host of a job gets what a script there sees of it, before its start; kept.c, known.c: a mom keeps it
 *   host.c      a mom: what a script sees of an event; exec.c: texts like exec_vnode
 *   program.c   a mom: what execjob_launch is about; variables.c: variables that scripts gave the job before
 *   verdict.c   a mom: what becomes of its result
 *   report.c    a mom: what its scripts changed goes to the server
 *   updates.c   a server: updates of hosts, in their order, in slices; accept.c: they are checked, and made
 *   hostwide.c  a mom: events of the host itself; host_vnodes.c: what a script sees of its vnodes, both daemons'
 */
#ifndef PYTHON_HOOKS_HOST_H
#define PYTHON_HOOKS_HOST_H

#include "hooks.h"
#include "known.h"

/* What a script of a mom asks of the server goes there: its changes, rerun(), delete(), a new cycle. For events without a job r->id is "".
 * Nothing is sent where it asks for nothing. A result that raised or hit its alarm does what fail_action says. */
void host_update(struct run *r, const struct result *result);
/* All vnodes of this host are to be offline (on), because of this hook; or those that were because of it are free again. */
void host_offline(struct state *st, const char *hook, bool on);
/* reboot.c: what a script of root wants of its host. */
void host_reboot(const struct run *r, const struct result *result);

/* A server's parts: facts.c, updates.c */
int32_t facts_start(struct state *st, struct keel_err *err);
void facts_stop(struct state *st);
int32_t updates_start(struct state *st, struct keel_err *err);
void updates_stop(struct state *st);

/* Of "python.update". */
enum update_flag { UPDATE_RERUN = 1, UPDATE_DELETE = 2, UPDATE_CYCLE = 4, UPDATE_OFFLINE = 8, UPDATE_ONLINE = 16 };

void host_about(struct run *r, const char *id); /* the job a run is about, ""; its requestor is this mom */

/* ---- shared by these files ---------------------------------------------------------------------------- */
struct report; /* report.c */
struct host {
	struct known *jobs;
	char dir[4096];	    /* where they are kept */
	struct pack coming; /* the part of a job's attributes that has come */
	char coming_id[280], *coming_exec;
	struct report *reports; /* that the server has not noted */
	int64_t number;
};
struct known *host_known(const struct state *st, const char *id); /* NULL: nothing came of it */
struct known *host_followed(const struct state *st, const char *id); /* as its part is now; the caller frees one that is not `kept` */
void host_keep(struct state *st, struct known *k);		  /* it has changed */
int32_t kept_start(struct state *st, struct keel_err *err);
void kept_stop(struct state *st);
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

/* At task_launch and task_spawn, before scripts: variables that scripts gave the job are in the environment of what is started. */
int32_t program_start(struct state *st, struct keel_err *err);

#define VARIABLES_MAX 1000 /* of a job */
/* A script has made `after` of Variable_List, of `before`: k->made has what is new. False: not all of it, for want of memory, or they are
 * too many. */
bool variables_made(struct known *k, const char *before, const char *after);

/* A server's: may this host speak about that run of the job? Also after its end. */
bool run_has_host(struct state *st, const char *id, int64_t run, const char *peer);

/* hostwide.c: SIGHUP is an exechost_startup; how long hooks may keep the other hosts of a job */
extern const struct keel_reload_def hostwide_reload;
int32_t hostwide_start(struct state *st, struct keel_err *err);
void hostwide_stop(struct state *st);
keel_verdict hostwide_began(struct keel_call *c, const struct keel_ev_host_start *ev);
keel_verdict hostwide_alarm(struct keel_call *c, const struct keel_ev_start_alarm *ev);

/* host_vnodes.c: a mom has them from the server, anew for each run. */
int32_t host_vnodes_init(struct keel_mod *mod, struct keel_err *err);
void host_vnodes_stop(struct state *st);
/* Calls ready() once, from the loop: what is known is as new as it can be. Without memory at once. */
void host_vnodes_fetch(struct state *st, void (*ready)(struct state *st, void *arg), void *arg);
void host_pack_vnode_list(struct state *st, struct pack *p); /* {name: OBJECT} */

/* kept.c: a value that arrives in pieces, one behind the other: this one begins at `at`, `size` bytes (at most `most`) are all of it. Whole
 * when p->len is p->size. False: it is not the next piece, or there is no memory; what has come is dropped. */
bool pieces_join(struct pack *p, int64_t size, int64_t at, const void *bytes, uint32_t len, uint32_t most);

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
