/* SPDX-License-Identifier: Apache-2.0
 *
 * staging.h - what the files of this module share.
 */
#ifndef STAGING_STAGING_H
#define STAGING_STAGING_H

#include "items.h"
#include "keel/keel.h"

#define PBSE_BADATVAL 15014

struct conf {
	int64_t copy_limit;
	const char *scp;
};

struct state {
	struct stage *stages; /* mom: under way */
	char *jobdir_root;    /* of mom_priv/config; NULL: homes */
	bool server_stages;   /* mom: the server has this module, so it says of each job which files it wants */
	char **scp;	      /* the program for other hosts and its arguments, NULL-terminated */
};

/* What a mom reports ("staging.note"). */
#define NOTE_IN "in"		  /* files are staged in */
#define NOTE_IN_FAILED "in.failed" /* and with it the start */
#define NOTE_OUT "out"		  /* files are staged out */
#define NOTE_OUT_FAILED "out.failed"

/* server.c */
extern const struct keel_attr_def stagein_attr, stageout_attr;
void on_note(struct keel_mod *mod, const char *peer, const struct keel_msg *msg);

/* mom.c */
extern const struct keel_mom_directive_def jobdir_row;
keel_verdict on_prologue(struct keel_call *c, const struct keel_ev_task_prologue *ev);
keel_verdict on_epilogue(struct keel_call *c, const struct keel_ev_task_epilogue *ev);
void on_here(struct keel_mod *mod, const char *peer, const struct keel_msg *msg);
int32_t mom_init(struct keel_mod *mod, struct keel_err *err);
void mom_fini(struct keel_mod *mod);

/* where.c: which copies a job needs, and by which program. */
struct copy {
	bool spooled;	   /* its output: `local` is a file of the spool */
	bool done;
	char *local, *host, *path; /* host "": this one */
};
struct copies {
	struct copy *at;
	uint32_t n;
};
/* Of the attribute stagein or stageout, with the output for other hosts when `status` is that of its end (NULL: not wanted).
 * 0; fails with -ENOMEM or -EINVAL. The caller frees them. */
int32_t copies_find(struct keel_mod *mod, const char *id, const char *attr, const int64_t *status, struct copies *ret);
void copies_free(struct copies *copies);
/* The words of a program with its arguments; the caller calls keel_strings_free(). NULL: no memory. */
char **words_split(const char *text);
/* The program for other hosts: ours, PBS_SCP of pbs.conf, or scp. */
char **scp_find(const char *ours);

#endif
