/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/renew.h - other values, and another set of modules, for the daemon that runs.
 *
 * A module says KEEL_USE_OPT(renew): the group is not in a simulation and not in keel/mock.h. A set is a directory:
 *
 *	conf/keelson.conf, conf/modules.d/        the text of the configuration
 *	conf/overrides                            assignments, a line each, which take precedence over it; may be missing
 *	modules/NAME.so                           the file of each module; one that is missing is used from its own place
 *
 * Values alone change in the running daemon: a draft, and keel_renew_apply(). Everything else is another image of this
 * process, keel_renew_go(), which runs with a set. `keelsond --check --set DIR` looks at one: it prints a line per
 * module, name and version with a tab between, or fails with a sentence on standard error. The directory that
 * `keelsond --last-good` runs with is sets/served, in server_priv or mom_priv.
 */
#ifndef KEEL_RENEW_H
#define KEEL_RENEW_H

#include "keel/api.h"
#include "keel/use.h"

KEEL_SERVICE(renew);

/* What this image of the daemon runs with. */
static inline void keel_renew_image(struct keel_mod *mod, struct keel_image *ret)
{
	KEEL_USE_renew->image(mod, ret);
}

/* The words with which this daemon is called, NULL-terminated; the program is /proc/self/exe. The caller frees the array.
 * NULL without memory. */
static inline const char **keel_renew_command(struct keel_mod *mod)
{
	return KEEL_USE_renew->command(mod);
}

/* Reads the configuration of a set and compares it with what runs. *ret is good until keel_renew_apply(),
 * keel_renew_drop() or the next draft: there is one at a time. Fails with *err, file:line:key. */
static inline int32_t keel_renew_draft(struct keel_mod *mod, const char *set, const struct keel_draft **ret,
				       struct keel_err *err)
{
	return KEEL_USE_renew->draft(mod, set, ret, err);
}

/* The values of the draft, all or, with *err, none of them. It ends. */
static inline int32_t keel_renew_apply(struct keel_mod *mod, struct keel_err *err)
{
	return KEEL_USE_renew->apply(mod, err);
}

/* The draft, if there is one, ends, and nothing is changed. */
static inline void keel_renew_drop(struct keel_mod *mod)
{
	KEEL_USE_renew->drop(mod);
}

/* May the daemon run that file of a module? -EPERM with *err: other users could have written it. Any thread. */
static inline int32_t keel_renew_trust(const char *path, struct keel_err *err)
{
	return KEEL_USE_renew->trust(path, err);
}

/* Could no user but root and the daemon's have written that file or directory, or does it not exist? -EPERM with *err, which
 * says how it is mended. Any thread. */
static inline int32_t keel_renew_guard(const char *path, struct keel_err *err)
{
	return KEEL_USE_renew->guard(path, err);
}

/* Of two that run: can `name` not do without `other`? */
static inline bool keel_renew_needs(struct keel_mod *mod, const char *name, const char *other)
{
	return KEEL_USE_renew->needs(mod, name, other);
}

/* What busy() of one that runs says. */
static inline int32_t keel_renew_busy(struct keel_mod *mod, const char *name, struct keel_err *err)
{
	return KEEL_USE_renew->busy(mod, name, err);
}

/* Requests end, clients and hosts get a goodbye, modules are stopped, and this process executes itself with the set `next`;
 * with `back`, when that crashes, hangs or fails before it is ready. Both are copied. */
static inline int32_t keel_renew_go(struct keel_mod *mod, const char *next, const char *back, struct keel_err *err)
{
	return KEEL_USE_renew->go(mod, next, back, err);
}

/* Calls fn at each SIGHUP, until the module stops. A signal after keel_renew_go() is for the next image. -EBUSY: another
 * module does it. */
static inline int32_t keel_renew_on_hup(struct keel_mod *mod, keel_fn *fn, void *arg)
{
	return KEEL_USE_renew->on_hup(mod, fn, arg);
}

#endif
