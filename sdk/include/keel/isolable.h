/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/isolable.h - what a module in a process of its own may not need, tap or contribute: what would make the daemon
 * wait for the process, and what its process does not offer. The process and keelson-module report it with the same text.
 * Header only.
 *
 * keel_isolable_*() return true if it may not; `why` is the error, a sentence without its end.
 */
#ifndef KEEL_ISOLABLE_H
#define KEEL_ISOLABLE_H

#include <stdio.h>
#include <string.h>

#include "keel/hooks.h"
#include "keel/module.h"

#define KEEL_ISOLABLE_WHY 256

static inline bool keel_isolable_no(char *why, const char *fmt, const char *name) KEEL_PRINTF(2, 0);
static inline bool keel_isolable_no(char *why, const char *fmt, const char *name)
{
	snprintf(why, KEEL_ISOLABLE_WHY, fmt, name);
	return true;
}

/* Is this one of the API groups that such a process offers? */
static inline bool keel_isolable_group(const char *group)
{
	static const char *const groups[] = { "core", "object", "call", "hook" };

	for (uint32_t i = 0; i < KEEL_COUNT(groups); i++)
		if (strcmp(groups[i], group) == 0)
			return true;
	return false;
}

static inline bool keel_isolable_bars_flags(uint32_t flags, char why[KEEL_ISOLABLE_WHY])
{
	return (flags & KEEL_MOD_NO_PROCESS) != 0 && keel_isolable_no(why, "it says so itself (%s)", "KEEL_MOD_NO_PROCESS");
}

static inline bool keel_isolable_bars_need(const char *group, bool is_optional, char why[KEEL_ISOLABLE_WHY])
{
	return !is_optional && !keel_isolable_group(group) &&
	       keel_isolable_no(why, "it needs the service %.63s, which only code inside the daemon can use", group);
}

/* `kind` and `daemon` as in hook_points.def. */
static inline bool keel_isolable_bars_tap(const char *point, uint32_t kind, uint32_t daemon, char why[KEEL_ISOLABLE_WHY])
{
	if (kind == KEEL_FOLD)
		return keel_isolable_no(why, "it taps %.63s, a FOLD: whoever adds up cannot wait", point);
	return (daemon & KEEL_INLINE) != 0 && keel_isolable_no(why, "it taps %.63s, which is asked too often to wait", point);
}

/* `has_functions`: of an ATTR. */
static inline bool keel_isolable_bars_row(const char *kind, const char *name, bool has_functions, char why[KEEL_ISOLABLE_WHY])
{
	if (strcmp(kind, "ATTR") == 0)
		return has_functions && keel_isolable_no(why, "its attribute %.63s has a function, which the daemon would have "
							      "to wait for", name);
	return keel_isolable_no(why, "it contributes a row of kind %.63s; from there only ATTR rows without functions can be "
				     "offered", kind);
}

#endif
