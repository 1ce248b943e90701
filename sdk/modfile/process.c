/* SPDX-License-Identifier: Apache-2.0
 *
 * process.c - what an isolated module may not need, tap or contribute: what would make the daemon wait for the
 * process, and what keelson-modhost does not offer.
 */
#include "modfile/process.h"

#include <stdio.h>
#include <string.h>

#include "keel/hooks.h"
#include "keel/module.h"

static bool bars(char why[PROCESS_WHY_MAX], const char *fmt, const char *name, const char *rest)
{
	snprintf(why, PROCESS_WHY_MAX, fmt, name, rest);
	return true;
}

bool process_has_group(const char *group)
{
	static const char *const groups[] = { "core", "object", "call", "hook", "msg", "request" };

	for (uint32_t i = 0; i < KEEL_COUNT(groups); i++)
		if (strcmp(groups[i], group) == 0)
			return true;
	return false;
}

bool process_bars_flags(uint32_t flags, char why[PROCESS_WHY_MAX])
{
	return (flags & KEEL_MOD_NO_PROCESS) != 0 && bars(why, "it says so itself (%s)%s", "KEEL_MOD_NO_PROCESS", "");
}

bool process_bars_need(const char *group, bool is_optional, char why[PROCESS_WHY_MAX])
{
	return !is_optional && !process_has_group(group) &&
	       bars(why, "it needs the service %.63s, which only code inside the daemon can use%s", group, "");
}

bool process_bars_tap(const char *point, uint32_t kind, uint32_t daemon, char why[PROCESS_WHY_MAX])
{
	if (kind == KEEL_FOLD)
		return bars(why, "it taps %.63s, %s", point, "a FOLD: whoever adds up cannot wait");
	return (daemon & KEEL_INLINE) != 0 && bars(why, "it taps %.63s, %s", point, "which is asked too often to wait");
}

bool process_bars_row(const char *kind, const char *name, bool has_functions, char why[PROCESS_WHY_MAX])
{
	if (strcmp(kind, "ATTR") == 0)
		return has_functions && bars(why, "its attribute %.63s has a function%s", name,
					     ", which the daemon would have to wait for");
	return strcmp(kind, "REQUEST") != 0 &&
	       bars(why, "it contributes a row of kind %.63s%s", kind,
		    "; from there only ATTR rows without functions and REQUEST rows can be offered");
}
