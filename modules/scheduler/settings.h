/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.h - the lines of sched_config: text in, values out.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum setting {
#define SETTING(name, kind) SET_##name,
#include "settings.def"
#undef SETTING
	SETTINGS
};

struct settings {
	/* By time of day: 0 prime, 1 not; NULL: no line. Entries of a LIST are separated by newlines. */
	char *value[SETTINGS][2];
};

/* Called for each line with an error: its number, and why. */
typedef void settings_said(void *arg, uint32_t line, const char *why);
/* Called for each line that has no meaning any more. */
typedef void settings_old(void *arg, const char *name);
/* The caller frees it with settings_free(). Bad lines are reported and left out; it fails, with NULL, only without memory. */
struct settings *settings_read(const char *text, settings_said *said, settings_old *old, void *arg);
void settings_free(struct settings *s); /* NULL is fine */

int setting_of(const char *name); /* enum setting, or -1 */
/* 1, 0, or -1: is no boolean. */
int setting_bool(const char *text);

#endif
