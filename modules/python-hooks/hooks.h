/* SPDX-License-Identifier: Apache-2.0
 *
 * hooks.h - what the files of this module share.
 *
 *   hook.c     what a hook is, by name: on a server made from objects of class "hook", on a mom from its files
 *   run.c      one run-time tap per enabled hook and event; an event becomes a run, a run has a result
 *   pool.c     the processes that scripts run in
 *   server.c   events of a server: what the script sees, what becomes of its result; host.c: those of a mom
 */
#ifndef PYTHON_HOOKS_H
#define PYTHON_HOOKS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include "keel/keel.h"
#include "keel/text.h"
#include "pbs_error.h"
#include "talk.h"

/* `row`: a new one of a hash, zeroes but for its key, a copy of `text`. NULL without memory. */
#define ROW_ADD(head, row, key, text)                                                            \
	do {                                                                                     \
		(row) = calloc(1, sizeof(*(row)));                                               \
		if ((row) && ((row)->key = strdup(text)))                                        \
			HASH_ADD_KEYPTR(hh, head, (row)->key, strlen((row)->key), row);          \
		if ((row) && !(row)->hh.tbl) {                                                   \
			free((row)->key);                                                        \
			free(row);                                                               \
			(row) = NULL;                                                            \
		}                                                                                \
	} while (0)

/* ---- events ------------------------------------------------------------------------------------------------------------- */
enum event_flag {
	EVENT_ABSENT = 1,   /* known by name, refused with a sentence */
	EVENT_TIMED = 2,    /* every `freq` seconds */
	EVENT_OF_START = 4, /* `fail_action` and the exit status of a start count */
	EVENT_OF_USER = 8,  /* may run as the owner of the job */
};
enum event_id {
#define EVENT(name, constant, bit, daemon, point, flags) EVENT_##name,
#include "event.def"
#undef EVENT
	EVENTS
};

struct run;
struct result;
struct event_row {
	const char *name, *constant;
	uint32_t bit;
	uint32_t daemon; /* KEEL_SERVER or KEEL_MOM */
	uint32_t point;	 /* 0: none */
	uint32_t flags;
	/* Writes the pairs of `params` (pack_key() and a value each) and returns how many; -1: no script runs for this event. `ev` is the event of
	 * the point (NULL for one without). Sets requestor and what settle() needs in the run. */
	int32_t (*fill)(struct run *r, const void *ev, struct pack *params);
	/* What becomes of a result: changes are made, and what the end of the run asks for. At a GATE: with the operation, returns the tap's
	 * verdict. At a NOTE and without a point: c is NULL, the verdict KEEL_REJECT ends the series. */
	keel_verdict (*settle)(struct run *r, struct keel_call *c, const struct result *result);
};
/* struct event_row: fill() and settle(), of a server's events in job_events.c, resv_events.c, site_events.c, periodic.c; of a mom's in host.c
 * and verdict.c, hostwide.c. */
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
extern const struct event_row events[EVENTS];
const struct event_row *event_by_name(const char *name, size_t len); /* NULL: there is none */

/* ---- hooks -------------------------------------------------------------------------------------------------------------- */
enum hook_user { HOOK_ADMIN, HOOK_OWNER };
enum fail_action { FAIL_OFFLINE = 1, FAIL_CLEAR = 2, FAIL_CYCLE = 4 };

struct hook {
	UT_hash_handle hh;
	char *name;
	bool enabled, debug;
	bool pending; /* a server: it is deleted, hosts still have it; no event reaches it */
	uint32_t events;	/* bits 1 << enum event_id */
	enum hook_user user;
	int64_t alarm, freq;	/* seconds */
	int32_t order;
	int64_t place;		/* of equal order the lower one goes first */
	uint32_t fail_action;	/* enum fail_action */
	char *script, *config;	/* NULL: none */
	uint32_t script_len, config_len;
	char *suffix;		/* of its configuration file: ".json" ... */
	bool loading;		/* script and config are being read from the store: calls wait */
	int64_t version;	/* another one at each change of script, config or user; higher than all before, also of hooks that are gone */
	int64_t retired;	/* the version that processes are of (hook_changed) */
	bool spread;		/* a server: hosts had it once (manage.c) */
	struct { uint64_t runs, errors, us, longest_us; char last[256]; int64_t last_at; } times[EVENTS];
	struct pool *pool;	/* pool.c */
	struct timed *timed;	/* periodic.c */
	bool announced;		/* its first use was logged */
};

struct conf {
	int64_t processes; /* of one version of a script, for one user */
	int64_t memory;	   /* bytes of addresses of one */
	int64_t idle;	   /* ms */
	const char *user;  /* that scripts run as on a server */
};

struct state {
	struct keel_mod *mod;
	struct hook *hooks; /* by name */
	bool started;
	struct manage *manage;	     /* manage.c */
	struct runs *runs;	     /* run.c */
	struct pools *pools;	     /* pool.c */
	struct tables *tables;	     /* tables.c */
	struct server *server;	     /* server.c */
	struct distribute *distribute; /* distribute.c */
	struct host *host;	     /* host.c */
	struct job_run *job_runs;    /* facts.c, by id: a server's */
	struct reporter *reporters;	     /* updates.c, by name: a server's */
	struct files *files;	     /* files.c */
	struct hostwide *hostwide;   /* hostwide.c */
	struct host_vnodes *host_vnodes; /* host_vnodes.c */
	bool reject_root, keep_checksums; /* directives of a mom: files.c */
};

/* hook.c */
struct hook *hook_find(const struct state *st, const char *name);
struct hook *hook_new(struct state *st, const char *name); /* defaults; NULL without memory */
void hook_free(struct state *st, struct hook *h); /* taken out of every list: disabled, taps_follow(), timed_free(), pool_free() */
/* After a change of anything of it, and when its script is there: taps, processes and timers follow. On a server moms get it too. */
void hook_changed(struct state *st, struct hook *h);
bool hook_has(const struct hook *h, enum event_id event); /* it is enabled for it, and not pending */
bool hook_of_moms(const struct hook *h); /* one of its events is a mom's */
/* One of its attributes from text, as qmgr and .HK files have it, by the rules of spec 32 section 3; op KEEL_SET, INCR, DECR, UNSET.
 * 0; fails with 15136 and *err, the sentence. */
int32_t hook_set(struct hook *h, const char *attr, int32_t op, const char *text, struct keel_err *err);
/* The names of its attributes in listing order, and one as text ("" for no event); like snprintf(). -ENOENT: not shown (freq). */
extern const char *const hook_attrs[]; /* ends with NULL */
int32_t hook_text(const struct hook *h, const char *attr, char *buf, uint32_t len);

/* ---- runs --------------------------------------------------------------------------------------------------------------- */
/* An object of an event: found again by class and id; a draft is the operation's while that waits. */
struct run_obj {
	char target[280]; /* as changes name it: "job", "resv", "vnode:n1", "job:12.svr" */
	const char *klass;
	char id[280];
	struct keel_obj *draft; /* NULL: published */
};
#define RUN_OBJS 4
struct run {
	struct run *prev, *next;
	struct state *st;
	struct hook *hook; /* NULL: it was deleted meanwhile */
	char name[128];	   /* of the hook */
	const struct event_row *event;
	struct keel_call *call; /* while the tap or resume() is running, else NULL: that of its operation, for fill() */
	bool note;	   /* nothing waits for it */
	char requestor[256], requestor_host[256];
	char id[280];	   /* of the job, reservation, vnode it is about; "" none */
	char user[64];	   /* the job's owner, for HOOK_OWNER; "" */
	struct run_obj objs[RUN_OBJS];
	uint32_t n_objs;
	int64_t numbers[4]; /* the event's own: run version, index ... */
	void *own;	   /* the event's own; free_own() ends it */
	void (*free_own)(void *own);
};
/* apply.c: changes may name this object so. */
void run_remember(struct run *r, const char *target, struct keel_obj *obj);
const char *target_vnode(const char *target); /* NAME of "vnode:NAME"; NULL: another object */
/* Writes an object as a value: {class, id, attrs, facts}. With c the values as the operation would make them. `facts` (may be NULL): a
 * map, written already. */
void pack_object(struct state *st, struct pack *p, struct keel_obj *obj, struct keel_call *c, const struct pack *facts);
/* The readable attributes of a class, in listing order; NULL without memory. */
const struct keel_attr *const *class_attrs(struct state *st, const char *klass, uint32_t *ret_n);
struct keel_obj *run_find(const struct run *r, const char *target); /* NULL: it is none of the event's, or gone */

enum how { ACCEPTED, REJECTED, EXCEPTION, ALARM, BROKEN /* its process could not serve: the text says why */ };
struct change {
	char *target, *attr, *key, *text; /* key NULL: none; text NULL: unset */
};
struct result {
	enum how how;
	char *text, *trace; /* may be NULL */
	int64_t us;
	struct change *changes;
	uint32_t n_changes;
	bool rerun, remove, restart_cycle;
	char *reboot; /* NULL: no; "": the usual command */
};
/* result.c */
void result_fini(struct result *r);
/* The texts of spec 32 5.2, for the requester, like snprintf(); a script's is cut to len, without control characters but lines and tabs. */
int32_t result_text(const struct run *r, const struct result *result, char *buf, uint32_t len);
int32_t words_of_script(const char *text, char *buf, uint32_t len); /* that part of it */
/* Changes as talk.h has them in a RESULT: a list of lists. NULL: it is none, or no memory; the caller calls changes_free(). */
struct change *changes_read(const struct value *list, uint32_t *ret_n);
struct change *changes_copy(const struct change *changes, uint32_t n); /* the same */
struct change *changes_move(struct change *changes, uint32_t n); /* the same, without a copy of their texts, which are gone from there */
void changes_free(struct change *changes, uint32_t n); /* NULL is fine */
void change_pack(struct pack *p, const char *target, const struct change *c); /* one of them, under this name of its object */

/* run.c */
int32_t runs_start(struct state *st, struct keel_err *err);
void runs_stop(struct state *st);
/* Its run-time taps are as its attributes say. All of them have one order below -500, and names that begin with the hook's: modules
 * that check what a job or reservation is to be, from -500 on, see what scripts have made of it. */
void taps_follow(struct state *st, struct hook *h);
void taps_free(struct state *st, struct hook *h); /* the hook goes: no tap of it is left, its runs go on without it */
/* An event without a point: runs the hook (or, NULL, all of that event in their order). done (may be NULL) when all are over, accepted or not. */
int32_t run_now(struct state *st, enum event_id event, struct hook *only, void (*done)(struct state *, void *arg, bool accepted), void *arg);
bool run_goes(const struct state *st, const struct hook *h, enum event_id event); /* is one of this hook going on now? */
/* Makes one change in the operation, or without one at once (c NULL). 0, or PBSE and *err. apply.c */
int32_t change_make(struct run *r, struct keel_call *c, const struct change *change, struct keel_err *err);

/* times.c */
extern const struct keel_request_def times_row;

/* pool.c */
struct ask; /* a call that waits for a process or runs in one */
typedef void ask_done(struct run *r, struct result *result); /* its texts may be taken out */
int32_t pools_start(struct state *st, struct keel_err *err);
void pools_stop(struct state *st);
/* Runs the script of r->hook with this EVENT (a packed map). done(r) is called once, from the loop, perhaps before this returns (an answer that
 * comes at once is waited for some microseconds): what is returned is valid until then, and until ask_cancel(). NULL without memory, or too
 * many wait: done() is not called. */
struct ask *pool_ask(struct run *r, const struct pack *event, ask_done *done);
void ask_cancel(struct ask *a); /* its operation does not wait any more; a script that has begun goes on to its end */
void pool_retire(struct hook *h); /* another version: what runs ends its calls, and leaves */
void pools_stale(struct state *st); /* tables have changed: the same for all */
void pool_free(struct hook *h); /* the hook goes: what runs ends, what waits is accepted */
void pool_wake(struct hook *h); /* its script is there (or not): calls that waited for that go on */
/* Is this a script? done(NULL), or why not: the text of the SyntaxError. It may be called before this returns. */
typedef void check_done(struct state *st, void *arg, const char *why);
int32_t pool_check(struct state *st, const char *name, const char *script, uint32_t len, check_done *done, void *arg);

/* tables.c: the map `tables` of a setup. On a server from its rows, on a mom as the server has sent it. */
const struct pack *tables_get(struct state *st); /* NULL: not known yet */
void tables_changed(struct state *st); /* a resource was made, altered, deleted */
int32_t tables_put(struct state *st, const void *bytes, uint32_t len); /* a mom's, from the server */
void tables_free(struct state *st); /* both daemons' */

/* answer.c (server) and answer_host.c (mom): a question of a script, `frame` is ["ask", what, ...]; writes the value of the answer. False: it was
 * no question. `r` is the run that asks. */
bool answer_server(struct state *st, const struct value *frame, struct pack *out);
/* r NULL: its operation is gone, the script runs to its end. user: the owner of jobs as whom it runs, who sees no jobs of others; "": the
 * administrator. */
bool answer_host(struct state *st, struct run *r, const char *user, const struct value *frame, struct pack *out);

/* manage.c */
extern const struct keel_class_def hook_class;
int32_t manage_start(struct state *st, struct keel_err *err);
void manage_stop(struct state *st);
void hook_gone(struct state *st, struct hook *h); /* a pending one is gone from all hosts: it is deleted and freed */
extern const struct keel_managed_def hook_managed, pbshook_managed;
extern const struct keel_listed_def hook_listed;

/* server.c, periodic.c */
int32_t server_start(struct state *st, struct keel_err *err);
void server_stop(struct state *st);
void timed_follow(struct state *st, struct hook *h); /* its timers are as its attributes say */
void timed_free(struct state *st, struct hook *h);
/* A mom's part of both: hostwide.c. */
void hostwide_follow(struct state *st, struct hook *h);
void hostwide_free(struct state *st, struct hook *h);

/* distribute.c, deliver.c, a server's: hosts have the hooks they should have. */
extern const struct keel_attr_def distribute_timeout_row;
int32_t deliver_init(struct keel_mod *mod, struct keel_err *err);
int32_t distribute_start(struct state *st, struct keel_err *err);
void distribute_stop(struct state *st);
/* It has changed, or is to be deleted there (pending): hook_gone() when no host has it any more, perhaps before this returns. */
void distribute_hook(struct state *st, struct hook *h);
void distribute_tables(struct state *st); /* tables_get() has others */
void distribute_peer(struct state *st, const char *peer, bool up);
void distribute_forget(struct state *st); /* a vnode is gone, and perhaps the last one of its host */
/* Jobs do not start on a host that has not taken its hooks yet: 15167. */
keel_verdict distribute_start_now(struct keel_call *c, const struct keel_ev_start_now *ev);

/* files.c, a mom's: its hooks are what the server has sent, in mom_priv/hooks. */
extern const struct keel_mom_directive_def reject_root_scripts_directive, report_hook_checksums_directive;
int32_t files_init(struct keel_mod *mod, struct keel_err *err);
int32_t files_start(struct state *st, struct keel_err *err);
void files_stop(struct state *st);
int bytes_write(int fd, const void *bytes, uint32_t len); /* disk.c: all of them. 0, or an errno; any thread */
keel_verdict files_task_begin(struct keel_call *c, const struct keel_ev_task_begin *ev); /* $reject_root_scripts: jobs of root, too */

/* host.c: a job of this host as an OBJECT, for job_list. */
void host_pack_job(struct state *st, struct pack *p, const char *id);
int32_t host_start(struct state *st, struct keel_err *err);
void host_stop(struct state *st);

#endif
