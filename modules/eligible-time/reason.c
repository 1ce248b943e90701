/* SPDX-License-Identifier: Apache-2.0
 *
 * reason.c - which reasons not to start are the job's own doing: limits of its user, group, project.
 */
#include "eligible-time.h"

#include <string.h>

#include "keel/sched_reason.h"

static const struct {
	int32_t code;
	const char *text; /* %s stands for any words */
} texts[] = {
#define SCHED_REASON(code, name, text) { code, text },
#include "keel/sched_reason.def"
#undef SCHED_REASON
};

/* From, to. */
static const int32_t own[][2] = { { 16308, 16311 }, { 16324, 16327 }, { 16348, 16355 }, { 16369, 16376 } };

/* Does `text` follow `pattern`, in which each %s is any text? */
static bool follows(const char *text, const char *pattern)
{
	const char *hole = strstr(pattern, "%s");
	size_t head = hole ? (size_t)(hole - pattern) : strlen(pattern);

	if (strncmp(text, pattern, head) != 0)
		return false;
	if (!hole)
		return text[head] == '\0';
	for (text += head; *text; text++)
		if (follows(text, hole + 2))
			return true;
	return follows(text, hole + 2);
}

bool reason_is_own_limit(const char *comment)
{
	static const char prefix[] = "Not Running: ";

	if (strncmp(comment, prefix, sizeof(prefix) - 1) != 0)
		return false;
	comment += sizeof(prefix) - 1;
	for (size_t i = 0; i < KEEL_COUNT(texts); i++)
		for (size_t k = 0; k < KEEL_COUNT(own); k++)
			if (texts[i].code >= own[k][0] && texts[i].code <= own[k][1] && follows(comment, texts[i].text))
				return true;
	return false;
}
