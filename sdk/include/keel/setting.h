/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/setting.h - settings that a site may have in the scheduler's own configuration, which then goes
 * before the module's. The module says KEEL_USE_OPT(sched).
 */
#ifndef KEEL_SETTING_H
#define KEEL_SETTING_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/service/sched.h"

/* Its text as the scheduler has it, else ours (NULL: ""), however long; to be freed. NULL: no memory. */
static inline char *keel_setting(const char *name, const char *ours)
{
	char first[128], *text;
	int32_t len = -1;

	if (keel_has(sched))
		len = keel_sched_setting(name, first, sizeof(first));
	if (len < 0)
		len = (int32_t)strlen(ours ? ours : "");
	else
		ours = NULL;
	text = (char *)calloc(1, (size_t)len + 1);
	if (text && ours)
		memcpy(text, ours, (size_t)len);
	else if (text && len)
		keel_sched_setting(name, text, (uint32_t)len + 1);
	return text;
}

/* t, y, 1 and words that begin so are true. */
static inline bool keel_setting_true(const char *name, bool ours)
{
	char word[16] = "";

	if (!keel_has(sched) || keel_sched_setting(name, word, sizeof(word)) < 0)
		return ours;
	return word[0] && strchr("tTyY1", word[0]);
}

/* Seconds of `1:30:00`, `90:00`, `5400`; 0 when it is none of these. */
static inline int64_t keel_setting_seconds(const char *word)
{
	int64_t seconds = 0;
	char *end;

	for (;;) {
		long n = strtol(word, &end, 10);

		if (end == word || n < 0 || n > 100000000 || seconds > 100000000)
			return 0;
		seconds = seconds * 60 + n;
		if (*end != ':')
			return seconds;
		word = end + 1;
	}
}

#endif
