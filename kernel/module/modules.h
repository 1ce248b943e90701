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
#include "util/buf.h"
#include "util/owner.h"

struct conf;
struct modules;

/* `dir` is where <name>.so is looked for. */
int modules_create(struct parts *parts, const char *dir, struct modules **ret_modules);
void modules_destroy(struct modules *m);

/* Phase 1 without effect: every enabled module of `conf` for `daemon` opens, lints and accepts its
 * configuration. */
int modules_check(struct modules *m, const struct conf *conf, struct keel_err *err);
/* The same, and the chain that the point `point` would have, appended to `out`. -ENOENT: no such point. */
int modules_preview(struct modules *m, const struct conf *conf, const char *point, struct buf *out,
		    struct keel_err *err);
/* Load what the configuration enables: up to init of all (in order of needs). */
int modules_load(struct modules *m, const struct conf *conf, struct keel_err *err);
/* After the store is loaded: replay, start, taps live. */
int modules_start(struct modules *m, struct keel_err *err);
void modules_stop(struct modules *m); /* stop all, in reverse order; fini and unload */
/* Make the running set that of `conf`: load what is new, unload what is gone (busy: refused with
 * the reasons, nothing changed), swap changed configurations. One line per change to `out`. */
int modules_reload(struct modules *m, const struct conf *conf, struct buf *out, struct keel_err *err);
/* What the verb keelson.reload calls: read the files again, then modules_reload(). NULL: refused. */
typedef int modules_reload_fn(struct parts *parts, struct buf *out, struct keel_err *err);
void modules_set_reload(struct modules *m, modules_reload_fn *fn);
/* One line per module: name, version, build-id, file. */
void modules_identify(struct modules *all, struct buf *out);
/* One line per module: name, version, state, roles, path. */
void modules_describe(struct modules *m, struct buf *out);

#endif
