/* SPDX-License-Identifier: Apache-2.0
 *
 * modules.h - find, check, load, start, reload and unload modules.
 *
 * Order of a load: note -> dlopen -> descriptor lint -> config check -> needs -> contributions ->
 * init -> replay -> start -> taps live. A failure unwinds exactly what happened before.
 */
#ifndef KEELSON_MODULES_H
#define KEELSON_MODULES_H

#include "keel/module.h"
#include "wire/buf.h"
#include "util/owner.h"

struct conf;
struct modules;

/* `dir` is where <name>.so is looked for. */
int modules_create(struct parts *parts, const char *dir, struct modules **ret_modules);
void modules_destroy(struct modules *m);

/* Phase 1 without effect: every enabled module of `conf` for `daemon` opens, lints and accepts its
 * configuration. *ret_stores: one of them offers the service "store". */
int modules_check(struct modules *m, const struct conf *conf, bool *ret_stores, struct keel_err *err);
/* The same, and the chain that the point `point` would have, appended to `out`. -ENOENT: no such point. */
int modules_preview(struct modules *m, const struct conf *conf, const char *point, struct buf *out,
		    struct keel_err *err);
/* Load what the configuration enables: up to init of all (in order of needs). */
int modules_load(struct modules *m, const struct conf *conf, struct keel_err *err);
/* After the store is loaded: replay, start, taps live. */
int modules_start(struct modules *m, struct keel_err *err);
void modules_stop(struct modules *m); /* stop all, in reverse order; fini and unload */
/* ---- changing the running set ------------------------------------------------------------------
 * One change at a time; others wait for it. Phase 1 has no effect: a refusal there leaves everything as it
 * was. Phase 2 goes through groups of modules that know each other, a group in a turn of the loop; when one
 * cannot come up, what was done is undone. */
enum modules_change {
	MODULES_CONFIGURE, /* make the running set that of the configuration */
	MODULES_LOAD,      /* one module, with its group of the configuration */
	MODULES_UNLOAD,
	MODULES_RELOAD,    /* one module anew: its file, its configuration, its state */
};
/* Where a change finds the configuration. */
struct modules_files {
	/* Read it all again. *ret_conf stays valid until keep() or drop(), one of which follows. */
	int (*read)(struct parts *parts, struct conf **ret_conf, void **ret_kept, struct keel_err *err);
	void (*keep)(struct parts *parts, struct conf *conf, void *kept); /* it is in force now */
	void (*drop)(struct parts *parts, struct conf *conf, void *kept);
	void (*changed)(struct parts *parts); /* the set is another one; may be NULL */
};
void modules_set_files(struct modules *m, const struct modules_files *files);
/* ret 0: `text` is a line per change, each with its newline; else a sentence why nothing changed. */
typedef void modules_changed_fn(void *arg, int ret, const char *text);
struct modules_ask {
	enum modules_change change;
	const char *name; /* of the module; copied. NULL for MODULES_CONFIGURE */
	const char *who;  /* for the log; copied */
	modules_changed_fn *done; /* later, once; not when the daemon ends before */
	void *arg;
};
/* 0, -EBUSY: too many changes wait, -ENOMEM, -ENOTSUP: this daemon has no files. */
int modules_change(struct modules *m, const struct modules_ask *ask, struct keel_err *err);

/* A line of column names, and one per module, cells separated by tabs. */
void modules_table(struct modules *m, struct buf *out);
/* One line per module: name, version, build-id, file. */
void modules_identify(struct modules *all, struct buf *out);

#endif
