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

#include "keel/api.h"
#include "keel/module.h"
#include "wire/buf.h"
#include "util/owner.h"

struct conf;
struct modules;

/* `dir` is where <name>.so is looked for. `set`: a directory with private copies, modules/<name>.so, which are mapped instead
 * where they exist; or NULL. Both are borrowed. */
int modules_create(struct parts *parts, const char *dir, const char *set, struct modules **ret_modules);
void modules_destroy(struct modules *m);

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
void modules_stop(struct modules *m); /* and fini; those that have work under way are closed with the set */

/* ---- another configuration ------------------------------------------------------------------------------
 * In what `conf` differs from what runs, with the values that it brings: one at a time, until modules_draft_drop(). `conf`
 * stays until then. Returns 0, or an error with *err. */
int modules_draft(struct modules *m, const struct conf *conf, struct keel_draft *ret, struct keel_err *err);
void modules_draft_drop(struct modules *m, struct keel_draft *draft);
/* Its values are in force, or, after an error, none of them. */
int modules_apply(struct modules *m, struct keel_err *err);
/* Of two that run: can `name` not do without `other`? */
bool modules_need(struct keel_mod *mod, const char *name, const char *other);
/* May it leave? 0; -ENOTEMPTY: something would be lost without it; -EBUSY: it is at something that ends. */
int modules_busy(const struct modules *m, const char *name, struct keel_err *err);
/* A line per module: name and version, separated by a tab. */
void modules_report(const struct modules *m, struct buf *out);

/* One line per module: name, version, build-id, file. */
void modules_identify(struct modules *all, struct buf *out);

#endif
