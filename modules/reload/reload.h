/* SPDX-License-Identifier: Apache-2.0
 *
 * reload.h - what the files of this module share.
 */
#ifndef RELOAD_H
#define RELOAD_H

#include "keel/keel.h"
#include "keel/rows.h"
#include "keel/text.h"
#include "pbs_error.h"

enum change_kind {
	CHANGE_CONFIGURE, /* make the running set that of the configuration */
	CHANGE_LOAD,	  /* one module, with its group of the configuration */
	CHANGE_UNLOAD,
	CHANGE_RELOAD, /* one module anew: its file, its configuration, its state */
	CHANGE_SERVED, /* none: the set that the daemon runs with is the last that served; one that has none gets one */
};

/* One change, from its request to its end. */
struct change {
	struct change *next; /* which waits for it */
	struct keel_mod *mod;
	enum change_kind kind;
	const char *name, *who, *token; /* name: of a module, or NULL; token: of the request, or NULL; owned */
	struct keel_req *req;	  /* NULL: a signal, or the daemon itself */
	bool working;		  /* on a worker thread */
	bool over;		  /* the daemon ends: freed when the worker is done */
	char *sets, *from;     /* for the worker: copies */
	const char *conf_file; /* likewise; borrowed, valid for ever */
	char *fresh;		       /* the set that is made, or NULL */
	const struct keel_draft *draft;
	pid_t child; /* which checks it; 0: none */
	int child_fd;
	struct keel_watch *child_end;
	struct keel_timer *deadline;
	struct keel_text out; /* a line per difference */
	struct keel_err err;
	int32_t ret;
};

struct state {
	struct keel_row *files; /* of keel_reload_def */
	char *sets, *set;      /* their directory; the one that runs, NULL: none yet */
	struct change *first;  /* under way; those behind it wait */
	bool ready;	       /* the daemon serves */
	bool going;	       /* another image comes */
	bool stopping;	       /* no change begins any more */
	char *answer;	       /* what the image before left; it owns the next five, which are NULL without it */
	const char *token, *object, *kind, *who, *text;
	struct keel_timer *owed; /* until then changes wait for its client: they would leave another answer */
	struct keel_image image;
	int64_t start_us, start_jobs; /* how long the start took, from init(), with so many */
	char *children;	       /* of the images before: pids, or NULL */
	struct keel_timer *reaper;
};

/* reload.c: the lines of `text` are the answer. */
void reply_lines(struct keel_mod *mod, struct keel_req *req, const char *text);

/* files.c: the kind RELOAD. */
extern const struct keel_kind_def files_kind;
int32_t files_read(struct keel_mod *mod, struct keel_err *err); /* all of them, and nothing changes; 0 or -errno with *err */
void files_apply(struct keel_mod *mod);				 /* what was read is in force */

/* change.c */
/* Requests a change of that kind, with name, who, token, req of `like`, which are copied. Fails with *err: too many wait. */
int32_t change_request(struct keel_mod *mod, const struct change *like, struct keel_err *err);
void change_end(struct change *c, int32_t ret);
void changes_refuse(struct keel_mod *mod, const char *why); /* all of them: the daemon stops */
void changes_go_on(struct keel_mod *mod);		   /* nothing is owed any more */
void changes_drop(struct keel_mod *mod);		   /* without an answer */

/* check.c: the set is opened by a child; change_checked() is called, once, when that has ended. */
int32_t check_begin(struct change *c);
void check_cancel(struct change *c);
void change_checked(struct change *c, int32_t ret);

/* describe.c */
bool draft_differs(const struct keel_draft *d); /* in its modules */
bool draft_is_other(const struct keel_draft *d); /* in any way from what runs, but for modules that do not */
/* 0, or -errno with *err. */
int32_t lint_named(const struct change *c, struct keel_err *err);
int32_t lint_leavers(const struct change *c, struct keel_err *err);
int32_t lint_loss(const struct change *c, struct keel_err *err);
void describe_values(struct change *c);
void describe_set(struct change *c, const char *report); /* `report`: of the check */
const char *report_line(const char *report, const char *name); /* of a module; NULL: it has none */

/* sets.c: on disk; any thread. Functions that return int32_t return 0, or -errno with *err. */
char *set_path(const char *set, const char *name); /* the caller frees it; NULL without memory */
int32_t set_create(const char *sets, char **ret_set, struct keel_err *err);
void set_remove(const char *set);
/* Copies the configuration: that of the main file `conf_file`, or, when that is NULL, the text of the set `from`. */
int32_t set_configure(const char *set, const char *conf_file, const char *from, struct keel_err *err);
/* Writes the overrides of the set `from` (may be NULL), with "module.enabled=". */
int32_t set_override(const char *set, const char *from, const char *module, bool enabled, struct keel_err *err);
int32_t set_conf_take(const char *set, const char *fresh); /* `set` gets the configuration of `fresh` */
/* Copies the file of each module that the draft enables; where it is gone, from the set `from` (may be NULL). */
int32_t set_modules(const char *set, const char *from, const struct keel_draft *draft, struct keel_err *err);
int32_t set_served(const char *sets, const char *set); /* it serves: the others are removed */
void sets_tidy(const char *sets);		       /* all but the one that served last are removed */
int32_t text_write(const char *dir, const char *name, const char *text, bool durable);
char *text_read(const char *dir, const char *name); /* the caller frees it; "" when there is none, NULL without memory */

#endif
