/* SPDX-License-Identifier: Apache-2.0
 *
 * targets.c - the language of preempt_targets: queue=<name>, Resource_List.<res>=<value>, or None.
 */
#include "targets.h"

#include <string.h>
#include <strings.h>

#define QUEUE "queue="
#define LIST "Resource_List."

static bool begins(const char *at, const char *word, bool any_case)
{
	size_t len = strlen(word);

	return (any_case ? strncasecmp(at, word, len) : strncmp(at, word, len)) == 0;
}

void targets_unquote(char *text)
{
	size_t len = strlen(text);

	if (len < 2 || !strchr("\"'", text[0]) || text[len - 1] != text[0])
		return;
	memmove(text, text + 1, len - 2);
	text[len - 2] = '\0';
}

static int resource_read(const char *at, size_t len, struct target *ret)
{
	const char *equals = memchr(at, '=', len);

	if (!equals)
		return -1;
	ret->kind = TARGET_RESOURCE;
	ret->name = at + strlen(LIST);
	ret->name_len = (size_t)(equals - ret->name);
	ret->value = equals + 1;
	ret->value_len = len - (size_t)(ret->value - at);
	return ret->name_len > 0 && ret->value_len > 0 ? 1 : -1;
}

int target_next(const char **at, struct target *ret)
{
	const char *p = *at;
	size_t len;

	if (!*p)
		return 0;
	p += strspn(p, " ");
	len = strcspn(p, ",");
	*at = p + len;
	if (**at == ',' && !*++*at)
		return -1;
	memset(ret, 0, sizeof(*ret));
	if (memchr(p, '"', len) || memchr(p, '\'', len))
		return -1;
	if (len >= strlen(QUEUE) && begins(p, QUEUE, true)) {
		ret->kind = TARGET_QUEUE;
		ret->name = p + strlen(QUEUE);
		ret->name_len = len - strlen(QUEUE);
		return ret->name_len > 0 ? 1 : -1;
	}
	if (len > strlen(LIST) && begins(p, LIST, false))
		return resource_read(p, len, ret);
	if (len == 4 && begins(p, "None", true))
		return 1;
	return -1;
}

bool targets_are_wrong(const char *text)
{
	const char *at = text;
	struct target t;
	int n = 0, none = 0, more;

	while ((more = target_next(&at, &t)) > 0) {
		n++;
		none += t.kind == TARGET_NONE;
	}
	return more < 0 || n == 0 || (none && n > 1);
}
