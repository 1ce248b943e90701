/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/inspect.h - what runs in this daemon, and what it has cost; for those who report it. Points are listed by
 * keel_point_about().
 *
 * A module says KEEL_USE(inspect).
 */
#ifndef KEEL_INSPECT_H
#define KEEL_INSPECT_H

#include "keel/api.h"
#include "keel/use.h"

KEEL_SERVICE(inspect);

/* Calls fn with each module of this daemon, in order of needs. */
static inline void keel_inspect_modules(struct keel_mod *mod, void (*fn)(void *arg, const struct keel_about_module *),
					void *arg)
{
	KEEL_USE_inspect->modules(mod, fn, arg);
}

/* Calls fn with each module that the configuration names and that does not run, and why, in words for people. The texts are
 * borrowed until fn returns. */
static inline void keel_inspect_off(struct keel_mod *mod, void (*fn)(void *arg, const char *name, const char *why), void *arg)
{
	KEEL_USE_inspect->off(mod, fn, arg);
}

/* Calls fn with each tap: point after point, the taps of one in the order in which they are called. */
static inline void keel_inspect_taps(struct keel_mod *mod, void (*fn)(void *arg, const struct keel_about_tap *), void *arg)
{
	KEEL_USE_inspect->taps(mod, fn, arg);
}

/* Calls fn with each hold of the operations that wait. */
static inline void keel_inspect_holds(struct keel_mod *mod, void (*fn)(void *arg, const struct keel_about_hold *),
				      void *arg)
{
	KEEL_USE_inspect->holds(mod, fn, arg);
}

/* The taps of this name ("module.tap") are called again if they were benched, and their strikes are forgotten. `who`: at
 * whose request, for the log. Returns how many there are, or -ENOENT. */
static inline int32_t keel_unbench(struct keel_mod *mod, const char *tap, const char *who)
{
	return KEEL_USE_inspect->unbench(mod, tap, who);
}

/* Counts and times of all taps begin again; strikes stay. */
static inline void keel_reset_times(struct keel_mod *mod)
{
	KEEL_USE_inspect->reset(mod);
}

/* Fills *ret, whose `size` is set: `which` is of enum keel_account_of. */
static inline void keel_account(struct keel_mod *mod, uint32_t which, struct keel_account *ret)
{
	KEEL_USE_inspect->account(mod, which, ret);
}

/* Why the store refuses changes now; NULL: it does not. Borrowed until the callback returns. */
static inline const char *keel_store_trouble(struct keel_mod *mod)
{
	return KEEL_USE_inspect->trouble(mod);
}

#endif
