/* SPDX-License-Identifier: Apache-2.0
 *
 * process.h - what a module in a process of its own may not need, tap or contribute. The daemon and keelson-module
 * report it with the same text.
 *
 * process_bars_*() return true if it may not; `why` is the error, a sentence without its end.
 */
#ifndef KEELSON_MODFILE_PROCESS_H
#define KEELSON_MODFILE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

enum { PROCESS_WHY_MAX = 256 };

/* Is this one of the API groups that keelson-modhost offers? */
bool process_has_group(const char *group);

bool process_bars_flags(uint32_t flags, char why[PROCESS_WHY_MAX]);
bool process_bars_need(const char *group, bool is_optional, char why[PROCESS_WHY_MAX]);
/* `kind` and `daemon` as in hook_points.def. */
bool process_bars_tap(const char *point, uint32_t kind, uint32_t daemon, char why[PROCESS_WHY_MAX]);
/* `has_functions`: of an ATTR. */
bool process_bars_row(const char *kind, const char *name, bool has_functions, char why[PROCESS_WHY_MAX]);

#endif
