/* SPDX-License-Identifier: Apache-2.0
 *
 * nodes.h - what the files of this module share.
 */
#ifndef NODES_H
#define NODES_H

#include "keel/keel.h"
#include "keel/service/node.h"
#include "keel/service/resource.h"
#include "keel/service/task.h"
#include "pbs_error.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Bits an administrator sets and clears by `state`; the others belong to the system. */
#define SETTABLE (KEEL_NODE_OFFLINE | KEEL_NODE_DOWN | KEEL_NODE_SLEEP | KEEL_NODE_OFFLINE_BY_MOM)
/* Bits that survive a restart of the server; the others follow from what hosts report. */
#define LASTING (KEEL_NODE_OFFLINE | KEEL_NODE_SLEEP | KEEL_NODE_OFFLINE_BY_MOM)

/* A word of `state`: base ones and NODE_STATE rows, sorted by place. */
struct word {
	uint32_t bit;
	int32_t place;
	uint32_t closes; /* enum keel_node_state_flag; 0: it does not keep work away */
	const char *name;
	struct word *next;
};

/* A job on a vnode: its slots. */
struct tenant {
	bool exclusive;
	bool guest; /* runs on another vnode of this host and has the host exclusively: no slots, not listed */
	char *given_back; /* owned; suspended, some resources kept: names of those released; no slots then */
	bool shrinks, stays; /* shrink.c: while its job shrinks */
	uint32_t n_slots, n_kept;
	uint32_t *slot; /* owned; in the order of its parts */
	struct holder *holder; /* counted; what it is charged to; NULL: none */
	struct tenant *next;
	char job_id[];
};

/* What has amounts of vnodes for the jobs inside it; lives while it has some, or jobs that are there. */
struct holder {
	uint32_t refs;
	struct hold *holds; /* owned by their vnodes */
	UT_hash_handle hh;
	char id[];
};

/* A holder on a vnode. */
struct hold {
	struct holder *of; /* counted */
	struct keel_obj *node;
	struct keel_reslist *held, *inside; /* owned: what it holds; what its jobs use */
	struct keel_reslist *next;	    /* owned; what it is about to hold, while node_hold() runs */
	struct hold *on_vnode;		    /* the next of this vnode */
	struct hold *later, *sooner;	    /* of this holder */
};

/* Private memory on each node object. */
struct vnode {
	bool sick;	   /* its host reported an error: this module set KEEL_NODE_OFFLINE_BY_MOM */
	uint32_t failures; /* starts in a row that its host refused for lack of resources */
	uint32_t notified; /* state bits of the last point node_state */
	bool known;    /* its first state is set */
	bool awaited;  /* it counts as up since a restart, and its host has not reported yet */
	bool met;      /* node_complete() ran: at replay, at its host's report, or by the newcomers' timer */
	struct tenant *tenants; /* owned; in order of arrival */
	struct hold *holds;	/* owned */
	/* Owned; what jobs use, while there are holds. NULL: it is resources_assigned. */
	struct keel_reslist *used;
	/* changes.c */
	struct keel_obj *obj; /* NULL: not in the list of changes */
	uint64_t changed;
	struct vnode *newer, *older;
};

/* A vnode in the list that is sorted by host. */
struct neighbour {
	char *host; /* owned */
	struct keel_obj *node;
	uint32_t place;
};

/* A vnode that was created. */
struct newcomer {
	char *id; /* owned */
	struct newcomer *next;
};

/* The vnode of a part, looked up once per operation. Both are NULL if the vnode does not exist. */
struct spot {
	struct keel_obj *node;
	struct vnode *vnode;
};

struct parts {
	uint32_t n;
	const struct keel_exec_part *part;
	struct spot *at; /* of each */
};

struct conf {
	bool auto_create;
	int64_t offline_after;
	int64_t vnodes_per_host;
};

struct state {
	struct word *words; /* base ones and NODE_STATE rows, in printing order */
	bool words_filled;
	uint64_t generation, shape;
	uint64_t members; /* incremented when a vnode is created or destroyed */
	struct vnode *newest; /* the one that changed last */
	struct holder *holders; /* by id */
	struct keel_mod *lodger; /* on_holder() of service node */
	const char *(*lodging)(struct keel_mod *me, const char *job_id);
	struct newcomer *newcomers;
	struct keel_timer *newcomer_timer;
	struct neighbour *neighbour;
	uint32_t n_neighbour;
	uint64_t neighbours_of; /* `members` when the list was built */
};

/* state.c */
extern const struct keel_type_def state_type;
extern const struct keel_kind_def node_state_kind;
int32_t words_fill(struct state *st); /* fails with -1 without memory */
void words_free(struct state *st);
uint32_t node_state(struct keel_mod *mod, struct keel_obj *node);
const char *node_word(struct keel_mod *mod, uint32_t i, uint32_t *ret_bit);
void node_set_state(struct keel_mod *mod, struct keel_obj *node, uint32_t bits, bool on);
/* The host of a vnode that counted as up since a restart has reported: its state may not have changed, but it can be reached
 * again, which the point node_state notes as the end of "unknown". */
void node_arrived(struct keel_mod *mod, struct keel_obj *node);
bool node_unavailable(struct keel_mod *mod, struct keel_obj *node);
bool node_closed_inside(struct keel_mod *mod, struct keel_obj *node);
/* A request or the store changed the bits: notifies and sets last_state_change_time. */
void state_changed(struct keel_mod *mod, struct keel_obj *node, const struct keel_attr *attr);
void node_known(struct keel_mod *mod, struct keel_obj *node);
int64_t node_lost_at(struct keel_mod *mod, struct keel_obj *node);
void node_lost(struct keel_mod *mod, struct keel_obj *node); /* the time of the first call since it was up stays */

/* slots.c */
/* Takes the slots. The caller frees *ret_exec_host. Fails with 15062 (no such vnode), another PBSE code when there is not
 * enough, or 15010, and *err: then the job has what it had before. */
int32_t node_assign(struct keel_mod *mod, const char *job_id, const char *exec_vnode, int32_t share,
		    char **ret_exec_host, struct keel_err *err);
void node_release(struct keel_mod *mod, const char *job_id, const char *exec_vnode, const char *only,
		  bool ended);
int32_t node_assign_again(struct keel_mod *mod, const char *job_id, const char *exec_vnode, int32_t share,
			  const char *exec_host, struct keel_err *err);
bool node_in_use(struct keel_mod *mod, struct keel_obj *node);
uint32_t node_jobs_on(struct keel_mod *mod, struct keel_obj *node);
int32_t node_sharing(struct keel_mod *mod, struct keel_obj *node, int32_t place_share);
void derive_jobs(struct keel_mod *mod, struct keel_obj *node, const struct keel_emit *emit);
void vnode_fini(struct keel_mod *mod, void *slot);
/* Sets or clears job-busy and job-exclusive according to the tenants. */
void occupancy_update(struct keel_mod *mod, struct keel_obj *node);

struct spot spot_find(struct keel_mod *mod, const char *vnode);
/* Looks up the vnodes of the parts; the caller frees p->at. Fails with PBSE_SYSTEM and *err. */
int32_t parts_find(struct keel_mod *mod, const struct keel_exec *exec, struct parts *p, struct keel_err *err);
/* The slots that a part takes: a very large number for any above the bound. */
uint32_t part_cpus(const struct keel_exec_part *part);
/* Returns the link to the job's tenant, or the one at the end of the list. */
struct tenant **tenant_at(struct vnode *v, const char *job_id);
/* Creates it if it is missing. NULL without memory: the caller fails. */
struct tenant *tenant_get(struct vnode *v, const char *job_id);
void tenant_free(struct keel_mod *mod, struct tenant *t);

/* shrink.c: service node, shrink() */
int32_t node_shrink(struct keel_mod *mod, const char *job_id, const char *before, const char *after, int32_t share,
		    struct keel_err *err);

/* whole.c */
/* Adds (1) or subtracts (-1) what a job has there; `only`: comma list of resources, NULL all. */
void parts_charge(struct keel_mod *mod, const struct parts *p, struct holder *holder, int32_t sign, const char *only);
/* Who has a vnode besides its parts: a job that has whole hosts. */
enum guests { GUESTS_COME, GUESTS_LEAVE, GUESTS_FOLLOW /* to another holder */ };
void parts_guests(struct keel_mod *mod, const struct parts *p, const char *job_id, struct holder *holder, int32_t share,
		  enum guests what);

/* holders.c */
int32_t node_hold(struct keel_mod *mod, const char *id, const char *exec_vnode, struct keel_err *err);
int32_t node_lodge(struct keel_mod *mod, const char *job_id, const char *exec_vnode, struct keel_err *err);
void node_on_holder(struct keel_mod *mod, struct keel_mod *me, const char *(*fn)(struct keel_mod *, const char *));
const struct keel_reslist *node_used(struct keel_mod *mod, struct keel_obj *node);
const struct keel_reslist *node_used_inside(struct keel_mod *mod, struct keel_obj *node, const char *holder,
					    uint32_t *ret_jobs, bool *ret_alone);
/* The holder of a job: that of its tenants, or as on_holder() says; NULL: it has none. The caller calls holder_leave().
 * Fails with -1 without memory. */
int32_t holder_of(struct keel_mod *mod, const struct parts *p, const char *job_id, struct holder **ret);
struct holder *holder_known(const struct parts *p, const char *job_id); /* that of its tenants alone; borrowed */
struct holder *holder_join(struct holder *h); /* NULL is fine, here and there */
void holder_leave(struct keel_mod *mod, struct holder *h);
void tenant_lodge(struct keel_mod *mod, struct tenant *t, struct holder *h);
/* Makes room, so that parts_charge() of these needs no memory for it. Fails with -1. */
int32_t holders_prepare(struct keel_mod *mod, const struct parts *p, struct holder *h);
/* A part of a job, on a vnode with holds. `first`: of the job. */
void held_charge(struct keel_mod *mod, const struct spot *at, const struct keel_exec_part *part, bool first,
		 struct holder *h, int32_t sign, const char *only);
void holds_drop(struct keel_mod *mod, struct vnode *v); /* the vnode is destroyed */

/* shared.c */
/* Returns the parts to charge where vnodes share amounts; the caller frees them. NULL: charge `p` itself. */
struct parts *parts_charged(struct keel_mod *mod, const struct parts *p);

/* changes.c */
/* Its tenants, its state or what is assigned changed. */
void node_touch(struct keel_mod *mod, struct keel_obj *node);
/* Anything else that placement depends on changed: amounts, queue, priority, the set of vnodes. */
void node_reshape(struct keel_mod *mod);
void changes_forget(struct keel_mod *mod, struct vnode *v); /* before it is destroyed */
void node_changed_since(struct keel_mod *mod, uint64_t since,
			void (*fn)(void *arg, struct keel_obj *node), void *arg);
uint64_t node_shape(struct keel_mod *mod);
void node_tenants(struct keel_mod *mod, struct keel_obj *node,
		  void (*fn)(void *arg, const char *job_id, bool suspended), void *arg);
void neighbours_free(struct state *st);
void each_vnode_of(struct keel_mod *mod, const char *host,
		   void (*fn)(struct keel_mod *, struct keel_obj *, void *), void *arg);

/* report.c */
bool node_name_is_good(const char *name);
bool report_is_good(struct keel_mod *mod, const char *host, const char *const *facts, uint32_t n); /* false: logged */

/* hosts.c */
const char *node_host_of(struct keel_mod *mod, const char *vnode); /* NULL: there is no such vnode */
const char *node_mom(struct keel_obj *node);
void host_up(struct keel_mod *mod, const char *host, const char *const *facts, uint32_t n);
void host_down(struct keel_mod *mod, const char *host, const char *why);

/* sick.c */
void host_start(struct keel_mod *mod, const char *host, const char *why);
void sick_forgiven(struct keel_obj *node);
void host_health(struct keel_mod *mod, const char *host, const char *why);
/* Sets what every vnode has: Mom, host, vnode, zero amounts in resources_assigned. */
void node_complete(struct keel_mod *mod, struct keel_obj *node);
/* A vnode was created. From a timer, unless `met` by then: completes it and requests a report from its host. */
void newcomer_expect(struct keel_mod *mod, const char *id);
void newcomers_free(struct state *st);

#endif
