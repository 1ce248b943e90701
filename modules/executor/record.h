/* SPDX-License-Identifier: Apache-2.0
 *
 * record.h - what a task's diary says, and its files.
 */
#ifndef EXECUTOR_RECORD_H
#define EXECUTOR_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "keel/keel.h"
#include "proc.h"

struct task;
struct usage;
struct elsewhere;

/* record.c: files of a task in mom_priv/jobs. <id>.US is what it has used so far, written over each time. */
struct diary { /* what <id>.TK says */
	int64_t run, began, walltime, cput, ncpus;
	int64_t stopped, stopped_at; /* seconds in all; since 1970, 0 running */
	int64_t up, up_stopped, up_stopped_at, up_over; /* the same by proc_up_ms(): its begin, stops, its end */
	pid_t shepherd, session;
	uint64_t shepherd_start;
	uid_t uid; /* -1: an older build wrote the diary */
	int32_t limit, refused;
	int placed; /* which output could not be placed; -1: its shepherd did not come to that */
	bool started; /* the program runs; a sister is set up */
	bool settled; /* task_epilogue was raised */
	bool ended; /* the shepherd has seen the end: */
	int32_t status;
	uint64_t cpu_us;
	char why[256], notice[200], freezer[1024], bound[1024], world[96], user[256], output[4096], error[4096];
	struct { /* stdout, stderr that could not be placed: where it is now, where it was to go, why; "": its place is not here */
		char at[1024], dest[1024], why[512];
	} kept[2];
	char unrun[400]; /* why its program could not be executed, though it counts as begun */
};
/* Returns 0; fails with -errno when the file cannot be opened, -EPROTO when it names no run or no shepherd. */
int record_read(const char *jobs_dir, const char *id, struct diary *ret);
void record_note(struct keel_mod *mod, const struct task *t, const char *fmt, ...) KEEL_PRINTF(3, 4);
void record_remove(struct keel_mod *mod, const char *id);
bool record_is_file(const char *name); /* "ID.XX" of a task */
void record_usage(struct keel_mod *mod, const struct task *t);
/* The same of another host. */
void record_elsewhere(struct keel_mod *mod, const struct task *t, const struct elsewhere *e);
void record_elsewhere_read(const char *jobs_dir, const struct task *t);
void record_usage_read(const char *jobs_dir, const struct task *t, struct usage *ret); /* unchanged: there is none */

/* kept.c: output that could not be placed. */
void kept_take(struct keel_mod *mod, struct task *t, const struct diary *d); /* host: into the log, and for its report */
void kept_remark(struct keel_mod *mod, struct task *t, const struct diary *d);
void kept_put(const struct task *t, struct keel_out *out);
void kept_tell(struct keel_mod *mod, const char *peer, struct keel_obj *job, const struct keel_msg *m); /* server */

#endif
