/* SPDX-License-Identifier: Apache-2.0
 *
 * supervise.h - what the files of this folder share.
 */
#ifndef SUPERVISE_H
#define SUPERVISE_H

#include <sys/types.h>

#include "keel/keel.h"
#include "keel/sized.h"
#include "keel/service/supervise.h"
#include "tree/tree.h"

struct tree;

struct state {
	struct keel_mod *mod;
	struct tree *trees; /* those that run, and those that are not reaped */
	struct keel_supervised *all;
	struct keel_run *runs;
	struct keel_timer *reaping;
	bool unbounded; /* it was logged that this host makes no cgroups */
};

/* tree.c: a keelson-tree with its program. */
/* It is over, and everything that the program started is gone: how. Called once, from the loop or tree_wait(), after which
 * the caller of tree_start() must not use the tree. */
typedef void tree_fn(void *arg, const char *why, int32_t status);
struct tree_opts {
	struct tree_order order;
	const char *const *argv, *const *env;
	int data, input; /* fds of the program, -1: none; they stay the caller's */
	tree_fn *over;
	void *arg;
};
/* Fails with -errno and *err: the caller's `over` is not called. */
int32_t tree_start(struct state *st, const struct tree_opts *o, struct tree **ret_tree, struct keel_err *err);
pid_t tree_pid(const struct tree *t); /* of the program; 0: not known yet */
void tree_kill(struct tree *t);		     /* over() comes soon */
void tree_forget(struct tree *t);	     /* Killed, over() is not called. */
void tree_wait(struct tree *t, int timeout_ms); /* for over(), if it comes so soon */
void trees_end(struct state *st);	     /* the module ends */
int socket_pair(int ret_ends[2]); /* both above the numbers that a program finds open; fails with -errno */

/* process.c: start() and what goes with it. */
struct keel_supervised *process_start(struct keel_mod *self, struct keel_mod *mod, const struct keel_supervise_opts *theirs,
				      struct keel_err *err);
int32_t process_send(struct keel_supervised *p, const void *bytes, uint32_t len);
void process_owes(struct keel_supervised *p);
void process_paid(struct keel_supervised *p);
void process_up(struct keel_supervised *p);
void process_look(struct keel_supervised *p);
int32_t process_wait(struct keel_supervised *p, bool (*done)(void *arg), void *arg, int64_t timeout_ms);
void process_give_up(struct keel_supervised *p, const char *why);
void process_end(struct keel_supervised *p); /* its program ends; the handle stays the caller's, until process_stop() */
void process_stop(struct keel_supervised *p);
void process_drop(struct keel_supervised *p); /* the same, without waiting for its end */
int32_t process_text(const struct keel_supervised *p, char *buf, uint32_t len);

/* run.c */
struct keel_run *run_start(struct keel_mod *self, struct keel_mod *mod, const struct keel_run_opts *theirs, keel_run_fn *done,
			   void *arg, struct keel_err *err);
void run_cancel(struct keel_run *r);

#endif
