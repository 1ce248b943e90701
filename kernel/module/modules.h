/* SPDX-License-Identifier: Apache-2.0
 *
 * modules.h - find, check, load and start modules; give them other values; say what another set would be.
 *
 * Order of a load: note -> dlopen -> descriptor lint -> config check -> needs -> contributions ->
 * init -> replay -> start -> taps live. The set of a running kernel never changes: another set is another image of the
 * daemon.
 */
#ifndef KEELSON_MODULES_H
#define KEELSON_MODULES_H

#include "keel/module.h"
#include "wire/buf.h"
#include "util/owner.h"

struct conf;
struct modules;

/* `dir` is where <name>.so is looked for. `copies`: a directory with private copies, <name>.so, which are mapped instead
 * where they exist; or NULL. */
int modules_create(struct parts *parts, const char *dir, const char *copies, struct modules **ret_modules);
void modules_destroy(struct modules *m);
/* Copy the file of each enabled module of `conf` that can be used from its place to <to>/<name>.so; where that is gone,
 * the copy in `from` (may be NULL). Returns 0, or an error with *err. */
int modules_copy(const char *dir, const struct conf *conf, const char *to, const char *from, struct keel_err *err);

/* Every enabled module of `conf` for this daemon opens, accepts its configuration, and passes init(). *ret_stores: one
 * of them offers the service "store". `strict`: also those that are not required. */
int modules_check(struct modules *m, const struct conf *conf, bool strict, bool *ret_stores, struct keel_err *err);
/* Load what the configuration enables: up to init of all (in order of needs). */
int modules_load(struct modules *m, const struct conf *conf, bool strict, struct keel_err *err);
/* After the store is loaded: replay, start, taps live. */
int modules_start(struct modules *m, struct keel_err *err);
/* After an error of one of these two: the module, not required, without which a new kernel may start; else NULL. */
const char *modules_bad(const struct modules *m);
void modules_halt(struct modules *m); /* stop() of all, in reverse order */
bool modules_idle(const struct modules *m); /* none is busy with what ends, or has work on a worker thread */
void modules_work_log(const struct modules *m); /* whose is */
void modules_stop(struct modules *m); /* and fini, and unload */

/* ---- changes --------------------------------------------------------------------------------------------
 * One at a time. Values alone change in the running set, all or none; everything else is another set, for which
 * modules_files.renew is called. */
enum modules_change {
	MODULES_CONFIGURE, /* make the running set that of the configuration */
	MODULES_LOAD,      /* one module, with its group of the configuration */
	MODULES_UNLOAD,
	MODULES_RELOAD,    /* one module anew: its file, its configuration, its state */
};
/* ret 0: `text` is a line per change, each with its newline; else a sentence why nothing changed. */
typedef void modules_changed_fn(void *arg, int ret, const char *text);
struct modules_ask {
	enum modules_change change;
	const char *name; /* of the module; copied. NULL for MODULES_CONFIGURE */
	const char *who;  /* for the log; copied */
	const char *token; /* of the request, or NULL; copied */
	modules_changed_fn *done; /* later, once; not when the daemon ends before */
	void *arg;
	void (*drop)(void *arg); /* then this is called; may be NULL */
};
struct modules_files {
	/* Read what `ask` would put in force. *ret_conf stays valid until keep() or drop(), one of which follows.
	 * *ret_other: a kernel's own value differs that is read at start only. */
	int (*read)(struct parts *parts, const struct modules_ask *ask, struct conf **ret_conf, void **ret_kept,
		    const char **ret_other, struct keel_err *err);
	void (*keep)(struct parts *parts, struct conf *conf, void *kept); /* it is in force now */
	void (*drop)(struct parts *parts, struct conf *conf, void *kept);
	/* Begin another image with what read() has read. When it cannot be, modules_renewal_failed() follows. May be
	 * NULL: not in this daemon. */
	int (*renew)(struct parts *parts, const struct modules_ask *ask, const struct conf *conf, struct keel_err *err);
	/* Returns the reply of the change that made this image, when `token` asked for it; else NULL. May be NULL. */
	const char *(*made)(struct parts *parts, const char *token, int *ret);
};
void modules_set_files(struct modules *m, const struct modules_files *files);
/* 0, -EBUSY: too many changes wait, -ENOMEM, -ENOTSUP: this daemon has no files. */
int modules_change(struct modules *m, const struct modules_ask *ask, struct keel_err *err);
/* `report`: what modules_report() wrote about the set that comes. Appends a line per difference to `out`, for the
 * change under way, and logs them. -EBUSY with *err: one that leaves has something that would be lost. */
int modules_agree(struct modules *m, const char *report, struct buf *out, struct keel_err *err);
/* Whom the log of the image that comes names, and for what: object, blank, text. */
void modules_subject(const struct modules *m, struct buf *out);
void modules_renewal_failed(struct modules *m, int ret, const char *why);
void modules_changes_refuse(struct modules *m, int ret, const char *why); /* all of them */
/* A line per module: name, what its file was when it was opened, version, separated by tabs. */
void modules_report(const struct modules *m, struct buf *out);

/* One line per module: name, version, build-id, file. */
void modules_identify(struct modules *all, struct buf *out);

#endif
