/* SPDX-License-Identifier: Apache-2.0
 *
 * reservations.h - what the files of this module share.
 *
 * A reservation is an object of class "resv". What is stored are its attributes (resv.def); private memory is
 * derived from them in the replay.
 */
#ifndef RESERVATIONS_H
#define RESERVATIONS_H

#include <errno.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "keel/alarm.h"
#include "keel/keel.h"
#include "keel/rows.h"
#include "keel/service/acct.h"
#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/service/queue.h"
#include "keel/service/resource.h"
#include "keel/service/resv.h"
#include "keel/service/sched.h"
#include "keel/text.h"
#include "pbs_error.h"

#define TIME_LIMIT INT64_C(253402300799) /* the last second of the year 9999: no time is later, no duration longer */

/* Hidden bits of `reserve_rules`, stored: how it is treated, whatever modules there are. */
enum rule {
	RULE_WHATEVER = KEEL_RESV_WHATEVER, /* of its kind */
	RULE_BEGUN = 0x100,		    /* its B record is written, for this occurrence */
	RULE_LOST = 0x200,		    /* lost vnodes to another one: substate of a RESV_SUBSTATE row */
	RULE_SOON = 0x400,		    /* qmove: as soon as possible, times are not decided */
	RULE_ALTERED = 0x1000,		    /* its last alteration was confirmed */
	RULE_MOVE = 0x2000,		    /* qmove: its job was not moved yet */
	RULE_FORCED = 0x800,		    /* altered by force: with what it has, if nothing else is found */
};

/* One of its times that are left. */
struct span {
	int64_t from, till; /* [from, till), seconds since 1970 */
	char *nodes;	    /* as resv_nodes; NULL: none. Shared by times with the same vnodes: only spans.c writes it */
};

/* Which reservations have a vnode, by its name: vnodes.c. */
struct link {
	struct link *next;   /* of the vnode, the newest reservation first */
	struct place *place;
	struct keel_obj *resv;
	int64_t number;	     /* of its id */
	uint32_t count;	     /* how often its texts name the vnode */
	bool alone;	     /* it runs, and has the vnode for itself */
};
struct place {
	UT_hash_handle hh;
	struct link *links;
	char name[];
};

/* A request that waits for a decision (-I, pbs_ralter -I). */
struct asker {
	struct keel_req *req;
	struct resv *resv;
	struct keel_alarm alarm; /* when it waits no longer */
	struct asker *next;
	bool removes; /* -I -n: the reservation is deleted when there is no decision */
};

/* Private memory on each reservation. */
struct resv {
	struct keel_obj *obj;
	struct span *span; /* spans.c; owned; the soonest first */
	uint32_t n_spans;
	struct keel_alarm clock; /* clock.c: the next of begin, end, retry, idle */
	struct asker *askers;	 /* asker.c */
	struct keel_alarm purge; /* end.c: those of its jobs that are still there are asked to go again */
	struct keel_alarm mover; /* specific.c: its job is moved into it, after a restart */
	struct keel_alarm left;	 /* end.c: a job has left it */
	uint32_t searched_in;	 /* search.c: cycle it was searched in */
	bool searching;		 /* a find() of it is on its way */
	struct again *again;	       /* again.c: of a draft */
	struct alteration *alteration; /* alter.c: one that is at the point resv_modify; NULL */
	int64_t retry_at;	 /* clock.c: a cycle is to begin then; 0: none */
	int64_t idle_since;	 /* clock.c: no jobs since; 0: it has some, or has not begun */
	uint32_t rounds;	 /* end.c: how often its jobs were asked to go */
	struct resv *next_judged;
	bool judged;		 /* vnodes.c: a vnode of it has another state */
	bool lacks;		 /* spans.c: a vnode of its soonest time is not there, and not charged */
};

enum { DENIED_MAX = 64 };

struct conf {
	int64_t standing_max; /* occurrences */
};

struct state {
	struct keel_row *kinds, *substates; /* of RESV_KIND, RESV_SUBSTATE */
	struct place *places;	     /* vnodes.c, by name */
	struct resv *judged;	     /* vnodes.c: to be judged at the end of this turn */
	struct search *search;	     /* search.c: the one that is under way */
	struct sweep *sweeps;	     /* end.c */
	struct keel_alarm patience;  /* vnodes.c: hosts that were lost at the start */
	struct keel_alarm hosts; /* search.c: hosts have had the time to report after the start */
	int64_t began;		     /* replay.c: when the server was ready; what was over by then ends GRACE later */
	int64_t ended;		     /* clock.c: what was over in that second has ended */
	char *denied[DENIED_MAX]; /* explain.c: the last ones, and why */
	uint32_t n_denied;
	uint32_t cycle;
	bool stopping;
};
#define GRACE 5 /* seconds */

/* ---- attributes.c, resv.def, server.def: class, rows, types --------------------------------------------------- */
extern const struct keel_class_def resv_class;
extern const struct keel_type_def resv_state_type; /* a number, shown as RESV_CONFIRMED; to pbs_statresv decimal */
extern const struct keel_type_def resv_seconds_type; /* `1:30` or 90, shown as 90 */
extern const struct keel_attr_def job_attr_reserve_ID, job_attr_reserve_name, job_attr_create_resv_from_job;
extern const struct keel_acct_item_def item_name, item_id;
#define RESV(attr, ...) extern const struct keel_attr_def resv_attr_##attr;
#include "resv.def"
#undef RESV
#define SERVER(attr, ...) extern const struct keel_attr_def server_attr_##attr;
#include "server.def"
#undef SERVER

bool is_line(const char *text); /* no control characters */
#define LIST_LEN_MAX (256 * 1024) /* of a list of people */

/* ---- kinds.c: rows of other modules ------------------------------------------------------------------------- */
extern const struct keel_kind_def resv_kind_kind, resv_substate_kind;
const struct keel_resv_kind_def *kind_asked(struct keel_mod *mod, const char *extend, struct keel_mod **ret_owner); /* NULL: an ordinary one */
const struct keel_resv_kind_def *kind_of(struct keel_mod *mod, struct keel_obj *resv);	    /* NULL: ordinary, or its module is gone */
char kind_letter(struct keel_obj *resv);
/* May the requester alter or delete it? 0, or 15007, which is logged with this number of the request (72, 91). The stored kind decides. */
int32_t resv_permit(struct keel_mod *mod, struct keel_obj *resv, struct keel_req *req, int number);

/* ---- find.c ---------------------------------------------------------------------------------------------------- */
struct resv *resv_slot(struct keel_mod *mod, struct keel_obj *resv); /* NULL only without memory, in the replay or at its making */
/* `R12`, `R12.svr`, `R12.svr@svr`; the letter counts. NULL: there is none. */
struct keel_obj *resv_find(struct keel_mod *mod, const char *operand);
/* The one that a job's queue belongs to; NULL: it is no reservation's. */
struct keel_obj *resv_of_queue(struct keel_mod *mod, const char *queue);
void each_resv(struct keel_mod *mod, void (*fn)(struct keel_mod *, struct keel_obj *, void *), void *arg);

/* ---- state.c: the one door ---------------------------------------------------------------------------------------- */
int32_t resv_state(struct keel_obj *resv);
int32_t resv_substate(struct keel_obj *resv);
/* reserve_state, reserve_substate, mtime. The caller has checked that the step is allowed. */
void resv_to(struct keel_mod *mod, struct keel_obj *resv, int32_t state, int32_t substate);
bool resv_is_running(struct keel_obj *resv); /* 5, or 11 that was 5 */
bool resv_is_confirmed(struct keel_obj *resv); /* has had its vnodes confirmed, and does not end: 2, 5, 10, 11 */

/* ---- times.c: pure; spec 11 section 2.5 ------------------------------------------------------------------------------ */
struct times {
	int64_t start, end, duration; /* 0: not given; filled by times_complete() */
};
/* 0, or PBSE_BADTSPEC. */
int32_t times_complete(struct times *t, int64_t now);
void time_text(int64_t when, char buf[32]); /* `Fri Nov 20 15:27:00 2026` */

/* ---- occurrences.c: pure, on libical; spec 11 section 2.6 -------------------------------------------------------------- */
/* The moments at which the occurrences of a rule begin, in *ret, which the caller frees; at most `max`. `zone` a name of the
 * time zone database. 0, or a PBSE code of 15126 to 15135; *ret_n is then `max` where there are more, or 0. */
int32_t occurrences_of(const char *rule, const char *zone, int64_t start, int64_t duration, uint32_t max, int64_t **ret,
		       uint32_t *ret_n);

/* ---- spans.c: its times that are left, and their vnodes ------------------------------------------------------------------ */
/* Derives slot->span from reserve_start, reserve_end, reserve_rrule, reserve_index, resv_nodes, reserve_execvnodes. 0 or -ENOMEM. */
int32_t spans_read(struct keel_mod *mod, struct keel_obj *resv);
/* All its times at once: `nodes` has n of them, the soonest first; those behind have none. Else as span_place(). */
int32_t spans_place(struct keel_mod *mod, struct keel_obj *resv, const char *const *nodes, uint32_t n);
/* The i-th time has these vnodes from now on (NULL: none): slot, resv_nodes or reserve_execvnodes, the vnode attribute `resv`, and,
 * when the i-th is the first and has begun, what is held of vnodes. */
int32_t span_place(struct keel_mod *mod, struct keel_obj *resv, uint32_t i, const char *nodes);
/* The first time is over: the next becomes reserve_start, reserve_end, resv_nodes; reserve_index + 1. False: it was the last. */
bool span_next(struct keel_mod *mod, struct keel_obj *resv);
/* Tells the scheduler all that it has (service sched), as it is now. */
void spans_block(struct keel_mod *mod, struct keel_obj *resv);
void span_block_soonest(struct keel_mod *mod, struct keel_obj *resv); /* only the soonest has changed */
/* Nothing is promised to it any more: blocks, held amounts, states of vnodes. */
void spans_release(struct keel_mod *mod, struct keel_obj *resv);
/* Its time is over, or it is not to run now: the amounts that it held are given back. */
void spans_unhold(struct keel_mod *mod, struct keel_obj *resv);
/* The soonest time is this one from now on: reserve_start, reserve_end, reserve_duration. */
void span_move(struct keel_mod *mod, struct keel_obj *resv, int64_t from, int64_t till);
/* It has begun: its vnodes are charged and, where it is exclusive, resv-exclusive. Also in the replay. */
void spans_hold(struct keel_mod *mod, struct keel_obj *resv);
void spans_hold_again(struct keel_mod *mod, struct keel_obj *resv); /* a vnode that was not there may be back */
void spans_free(struct keel_mod *mod, struct resv *r);
/* Texts of vnodes: `(a:ncpus=1)+(b:ncpus=2)`. */
const char *nodes_group_end(const char *at); /* behind the group, `(a:ncpus=1)`, that begins there */
bool nodes_name(const char *nodes, const char *vnode);
/* Without each group that names one of `vnodes` (sorted); *ret is the caller's, NULL when none is left. True: it is less than before. */
bool nodes_without(struct keel_mod *mod, const char *nodes, const char *const *vnodes, uint32_t n, char **ret);

/* ---- sequence.c: pure; the text of reserve_execvnodes ------------------------------------------------------------------------- */
/* Calls fn for each range of a `<n>#<set>{0-3,7}` of n times, `set` not terminated. 0, -EINVAL, or what fn returns if not 0. */
typedef int32_t sequence_fn(void *arg, const char *set, size_t len, uint32_t first, uint32_t last);
int32_t sequence_each(const char *text, uint32_t n, sequence_fn *fn, void *arg);
int32_t sequence_write(const struct span *span, uint32_t n, struct keel_text *out); /* 0 or -ENOMEM */

/* ---- vnodes.c: attributes `resv`, `resv_enable`, state resv-exclusive; what happens to vnodes -------------------------------- */
extern const struct keel_node_state_def resv_exclusive_row;
extern const struct keel_attr_def node_attr_resv;
void derive_resv(struct keel_mod *mod, struct keel_obj *node, const struct keel_emit *emit);
keel_verdict on_node_delete(struct keel_call *c, const struct keel_ev_node_delete *ev);
/* A text of vnodes of a reservation. As long as there is one that names a vnode, it is on the list of that vnode. */
char *nodes_take(struct keel_mod *mod, struct keel_obj *resv, const char *text, size_t len); /* NULL without memory */
char *nodes_share(char *nodes);			     /* one user more; NULL is fine */
void nodes_drop(struct keel_mod *mod, char *nodes); /* one user less; NULL is fine */
void nodes_alone(struct keel_mod *mod, char *nodes, int32_t share, bool on); /* resv-exclusive, where it is for itself */
bool nodes_are_there(struct keel_mod *mod, const char *nodes); /* does the server have all of them? */
bool nodes_are_alone(struct keel_mod *mod, const char *nodes, int32_t share); /* is one of them for itself? */
/* With the other vnodes of its hosts, where these are to be for itself. Borrowed, as long as `nodes`. */
const char *nodes_and_hosts(struct keel_mod *mod, char *nodes, int32_t share);
uint32_t nodes_count(const char *nodes); /* how many vnodes it names */
void vnodes_clear(struct keel_mod *mod); /* the start: no vnode is resv-exclusive without a reason */
void vnodes_await(struct keel_mod *mod); /* the start: hosts that are not there yet have a while to come back */
/* Calls fn for each reservation on that vnode, the newest first. fn must not change which they are. */
void vnode_each(struct keel_mod *mod, const char *vnode, void (*fn)(struct keel_mod *, struct keel_obj *resv, void *), void *arg);
bool vnode_is_broken(struct keel_mod *mod, const char *vnode);
void judge_forget(struct keel_mod *mod, struct resv *r); /* it goes */
keel_verdict on_node_state(struct keel_call *c, const struct keel_ev_node_state *ev);
/* Is one of the vnodes of the i-th time unavailable now? Those of KEEL_RESV_WHATEVER never are. */
bool span_is_broken(struct keel_mod *mod, struct keel_obj *resv, uint32_t i);

/* ---- queue.c ------------------------------------------------------------------------------------------------------------------- */
#define QUEUE_WHO "pbs_server" /* @host: who makes and changes queues of reservations */
struct keel_obj *queue_of(struct keel_mod *mod, struct keel_obj *resv); /* NULL: it has none */
int32_t queue_make(struct keel_mod *mod, struct keel_obj *resv, struct keel_err *err);
void queue_enable(struct keel_mod *mod, struct keel_obj *resv, bool on);
void queue_start(struct keel_mod *mod, struct keel_obj *resv, bool on);
bool queue_is_started(struct keel_mod *mod, struct keel_obj *resv);
void queue_lists(struct keel_mod *mod, struct keel_obj *resv); /* acl_* follow Authorized_* */
bool queue_is_empty(struct keel_mod *mod, struct keel_obj *resv);
void queue_remove(struct keel_mod *mod, struct keel_obj *resv);
keel_verdict queue_management(struct keel_call *c, const struct keel_ev_management *ev); /* 15027 */

/* ---- submit.c: request resv_submit, service make() ------------------------------------------------------------------------------- */
void on_resv_submit(struct keel_mod *mod, struct keel_req *req);
void resv_make(struct keel_mod *mod, const struct keel_resv_new *new, struct keel_mod *me, keel_resv_done *done, void *arg);

/* ---- wish.c: what a submission says ------------------------------------------------------------------------------------------- */
struct wish {
	const struct keel_session *who;
	struct keel_req *req; /* NULL: a module makes it */
	const struct keel_attrop *attrs;
	uint32_t n;
};
bool wish_has(const struct wish *wish, const char *attr);
/* Attributes, times, occurrences, its owner. 0, or a PBSE code with *err: the set is to be discarded. */
int32_t wish_apply(struct keel_mod *mod, const struct wish *wish, struct keel_changes *ch, struct keel_obj *draft,
		   struct keel_err *err);

int32_t wish_put_times(struct keel_changes *ch, struct keel_obj *draft, const struct times *t, struct keel_err *err);
/* When it begins, or its rule does, and how long each time is; nothing is made. 0, or a PBSE code with *err. submit.c */
int32_t submit_times(struct keel_mod *mod, const struct wish *wish, struct times *ret, struct keel_err *err);

/* ---- again.c: what taps change of a new one ---------------------------------------------------------------------------------------------- */
/* The set is complete; a tap that changes times or Resource_List makes it be completed again, or, `fixed`, be refused. Fails with 15010 and
 * *err. */
int32_t again_expect(struct keel_mod *mod, struct keel_changes *set, struct keel_obj *resv, bool fixed, struct keel_err *err);
void again_over(struct resv *r); /* NULL, and one of which nothing is expected, is fine */
keel_verdict again_submit(struct keel_call *c, const struct keel_ev_resv_submit *ev);

/* ---- repeat.c: one for each time of a rule ---------------------------------------------------------------------------------------------- */
void repeat_submit(struct keel_mod *mod, const struct wish *wish, const struct keel_resv_kind_def *kind);

/* ---- asker.c: requests that wait ---------------------------------------------------------------------------------------------------- */
/* Answers now with `<id> <word>`, or later, as `interactive` seconds say (0: now). */
void asker_wait(struct keel_mod *mod, struct keel_obj *resv, struct keel_req *req, int64_t seconds, bool alters,
		const char *word_now);
void askers_answer(struct keel_mod *mod, struct keel_obj *resv, const char *word); /* CONFIRMED, DENIED, FAILED, BEING DELETED */
void askers_drop(struct keel_mod *mod, struct resv *r); /* it goes: those that still wait get an error */
void on_resv_wait(struct keel_mod *mod, struct keel_req *req); /* sent again after a restart */

/* ---- keep.c: of a running reservation --------------------------------------------------------------------------------- */
struct slot {
	const char *text; /* of schedselect, without its count; `len` long */
	size_t len;
	const struct keel_chunk *chunk;
	char *kept;	  /* the group that fills it; NULL: to be searched */
	char *vnode;	  /* where that is, if it is one vnode */
};
struct keep {
	struct keel_select *parsed;
	struct slot *slot;
	uint32_t n;
	char *select; /* what is to be found; "": nothing */
	char *beside; /* what it keeps; "" when it is altered: then all is to be found, jobs where they are */
};
/* NULL, or why it has no place. In any case the caller calls keep_fini(). */
const char *keep_make(struct keel_mod *mod, struct keel_obj *resv, const char *nodes, bool altered, struct keep *ret);
char *keep_merge(const struct keep *k, const char *found); /* the caller's; NULL: it does not fit, or no memory */
bool keep_loses_jobs(struct keel_mod *mod, struct keel_obj *resv, const char *before, const char *after);
void keep_fini(struct keep *k);

/* ---- confirm.c ------------------------------------------------------------------------------------------------------------------------- */
/* It has these vnodes for its times (n of them, the soonest first): first confirmation, confirmed anew, or altered. State, queue,
 * log, record Y with `who`, mail, askers, points, the clock. */
void resv_confirmed(struct keel_mod *mod, struct keel_obj *resv, const char *who, const char *const *nodes, uint32_t n);
void resv_denied(struct keel_mod *mod, struct keel_obj *resv, const char *why); /* it is deleted: record K */
void on_resv_confirm(struct keel_mod *mod, struct keel_req *req); /* request of pbs_confirmresv */

/* ---- search.c: in a cycle ----------------------------------------------------------------------------------------------------------------- */
void search_begin(struct keel_mod *mod); /* on_cycle of service sched: unconfirmed, altered, and those to be reconfirmed whose time has come */
void search_forget(struct keel_mod *mod, struct keel_obj *resv);
void search_drop(struct keel_mod *mod); /* the module ends */

/* ---- retry.c: degraded, in conflict ----------------------------------------------------------------------------------------------------------- */
/* Some vnode of one of its times is unavailable, or all are back: state, substate, reserve_retry, log. */
void resv_judge(struct keel_mod *mod, struct keel_obj *resv);
void retry_set(struct keel_mod *mod, struct keel_obj *resv, int64_t when); /* reserve_retry and its log line */
int64_t retry_time(struct keel_mod *mod, struct keel_obj *resv); /* now + reserve_retry_time, or the start when that is nearer */
bool retry_is_due(struct keel_mod *mod, struct keel_obj *resv);
void reconfirm_failed(struct keel_mod *mod, struct keel_obj *resv, const char *why);
void retry_clear(struct keel_obj *resv); /* reserve_retry and reserve_why: it has its vnodes */
void why_set(struct keel_obj *resv, const char *why); /* reserve_why: why the last search found nothing */
bool resv_lose(struct keel_mod *mod, struct keel_obj *resv, const struct keel_resv_loss *loss); /* service resv */
const char *moment_text(int64_t when, char *buf, size_t len); /* Sat Nov 28 16:00:00 2026; returns buf */
void resv_retry(struct keel_mod *mod, const char *id);

/* ---- clock.c ---------------------------------------------------------------------------------------------------------------------------------------- */
/* Sets the alarm for the next thing that its times bring; call it whenever one of them changed. */
void clock_set(struct keel_mod *mod, struct keel_obj *resv);
void clock_end_others(struct keel_mod *mod); /* those whose end has come */

/* ---- begin.c, end.c ----------------------------------------------------------------------------------------------------------------------------------- */
void resv_begin(struct keel_mod *mod, struct keel_obj *resv);
void resv_end(struct keel_mod *mod, struct keel_obj *resv); /* a time is over: the next one, or BD */
void resv_missed(struct keel_mod *mod, struct keel_obj *resv); /* its time is over and did not begin: the next one, or the end */
void resv_idle(struct keel_mod *mod, struct keel_obj *resv); /* without jobs for delete_idle_time: its time ends early */
void resv_sweep(struct keel_mod *mod, struct keel_obj *resv, bool running_only); /* its jobs are deleted; job_left() follows */
void resv_sweep_soon(struct keel_mod *mod, struct keel_obj *resv); /* a host of it is back: of one that waits for its jobs */
void sweeps_drop(struct keel_mod *mod);			     /* the module ends */
void job_left(struct keel_mod *mod, struct keel_obj *resv); /* a job of its queue is over or moved */

/* ---- remove.c ----------------------------------------------------------------------------------------------------------------------------------------------- */
void on_resv_delete(struct keel_mod *mod, struct keel_req *req);
/* It goes: at once, or BD until its jobs are gone. Record k or K by `who`; log, mail, point resv_end. */
void resv_remove(struct keel_mod *mod, struct keel_obj *resv, const char *who);
void resv_close(struct keel_mod *mod, struct keel_obj *resv, const char *who); /* no jobs any more: BD until those that it has are gone */
void resv_gone(struct keel_mod *mod, struct keel_obj *resv);  /* object, queue and all that is promised to it, now */

/* ---- alter.c, altered.c -------------------------------------------------------------------------------------------------------------------------------------------- */
void on_resv_alter(struct keel_mod *mod, struct keel_req *req);
/* subset.c: no kind of chunk is in `small` more often than in `large`. 0, or 15183. */
int32_t subset_check(const char *small, const char *large, struct keel_err *err);
keel_verdict on_resv_modify(struct keel_call *c, const struct keel_ev_resv_modify *ev);
/* The new values are in its attributes: 11, until one of these. */
void alter_begin(struct keel_mod *mod, struct keel_obj *resv, const struct times *new, bool force);
void alter_confirm(struct keel_mod *mod, struct keel_obj *resv, const char *who); /* with what it has; NULL: Scheduler@host */
void alter_over(struct keel_mod *mod, struct keel_obj *resv); /* it ran for longer already than it is to */
void alter_denied(struct keel_mod *mod, struct keel_obj *resv, const char *why); /* nothing found */
void alter_late(struct keel_mod *mod, struct keel_obj *resv);
void alter_revert(struct keel_mod *mod, struct keel_obj *resv); /* the server was restarted */
void alter_before(struct keel_obj *resv, int64_t *ret_from, int64_t *ret_till); /* the time that it had, while it is altered */
void alter_next(struct keel_mod *mod, struct keel_obj *resv); /* its next time is the soonest now, and has its old values */
void alter_done(struct keel_mod *mod, struct keel_obj *resv, const char *const *nodes, uint32_t n);

/* ---- jobs.c: jobs in reservations ------------------------------------------------------------------------------------------------------------------------------------- */
keel_verdict on_job_submit(struct keel_call *c, const struct keel_ev_job_submit *ev);
keel_verdict on_job_modify(struct keel_call *c, const struct keel_ev_job_modify *ev);
keel_verdict on_job_move(struct keel_call *c, const struct keel_ev_job_move *ev);
keel_verdict on_start_now(struct keel_call *c, const struct keel_ev_start_now *ev);
void job_follows(struct keel_mod *mod, struct keel_obj *job); /* it is in another queue: reserve_ID */
const char *holder_of(struct keel_mod *mod, const char *job_id); /* on_holder() of service node */

/* ---- specific.c: --job, qmove, create_resv_from_job ------------------------------------------------------------------------------------------------------------------------ */
int32_t specific_prepare(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *draft, const struct wish *wish,
			 struct keel_err *err); /* reserve_job, qmove: fills the draft from the job; 0 also for others */
int32_t specific_check(struct keel_mod *mod, struct keel_obj *draft); /* --job: its job is still as it was; 0 also for others */
int32_t specific_made(struct keel_mod *mod, struct keel_obj *resv); /* --job: confirmed at once, the job is put there; 0, or a PBSE code */
bool specific_moves(struct keel_obj *resv); /* qmove: its job is still to be moved, and who waits is answered after that */
void specific_confirmed(struct keel_mod *mod, struct keel_obj *resv); /* qmove: the job is moved into its queue */
void specific_again(struct keel_mod *mod, struct keel_obj *resv); /* the start: what specific_confirmed() began */
void specific_started(struct keel_mod *mod, struct keel_obj *job); /* create_resv_from_job */

/* ---- record.c, letter.c, explain.c ------------------------------------------------------------------------------------------------------------------------------------------- */
enum { RECORD_TERMS = 16 };
extern const struct keel_term_def record_terms[RECORD_TERMS]; /* words for keelson-accounting(5) */
void record_submit(struct keel_mod *mod, struct keel_obj *resv);   /* U */
void record_confirm(struct keel_mod *mod, struct keel_obj *resv, const char *who); /* Y */
void record_begin(struct keel_mod *mod, struct keel_obj *resv);	   /* B, once per time */
void record_remove(struct keel_mod *mod, struct keel_obj *resv, const char *who); /* k or K */
void letter_send(struct keel_mod *mod, struct keel_obj *resv, char point, const char *text); /* a b c e, if Mail_Points has it */

extern const struct keel_request_def explain_row; /* `keelson resv R12` */
void denied_remember(struct keel_mod *mod, const char *id, const char *why);
void denied_forget(struct keel_mod *mod); /* the module ends */

/* ---- replay.c -------------------------------------------------------------------------------------------------------------------------------------------------------------- */
int32_t resv_replay(struct keel_mod *mod, struct keel_err *err); /* start(): spec 11 section 7.3, spec 12 section 9 */

void resv_slot_fini(struct keel_mod *mod, void *slot); /* its private memory goes */

extern const struct keel_service_def resv_service;

/* The code, with its text of the table in *err. */
static inline int32_t fails(struct keel_err *err, int32_t code)
{
	return keel_error(err, code, "%s", keel_pbse_text(code));
}
#endif
