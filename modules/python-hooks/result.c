/* SPDX-License-Identifier: Apache-2.0
 *
 * result.c - what a script answers, read and in words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

void result_fini(struct result *r)
{
	for (uint32_t i = 0; i < r->n_changes; i++) {
		free(r->changes[i].target);
		free(r->changes[i].attr);
		free(r->changes[i].key);
		free(r->changes[i].text);
	}
	free(r->changes);
	free(r->text);
	free(r->trace);
	free(r->reboot);
	*r = (struct result){ .how = ACCEPTED };
}

static bool text_take(const struct value *list, uint32_t n, bool may_be_nothing, char **ret)
{
	struct value v;

	if (!value_nth(list, n, &v))
		return false;
	*ret = value_text(&v);
	return *ret || (may_be_nothing && v.kind == 'n');
}

static bool changes_read(const struct value *list, struct result *ret)
{
	const char *at = list->at;
	struct value one;

	if (list->kind != 'l')
		return false;
	ret->changes = calloc(list->count > 0 ? list->count : 1, sizeof(*ret->changes));
	if (!ret->changes)
		return false;
	while (value_next(list, &at, &one)) {
		struct change *c = &ret->changes[ret->n_changes++];

		if (!text_take(&one, 0, false, &c->target) || !text_take(&one, 1, false, &c->attr) ||
		    !text_take(&one, 2, true, &c->key) || !text_take(&one, 3, true, &c->text))
			return false;
	}
	return true;
}

static char *text_of(const struct value *map, const char *key)
{
	struct value v;

	return value_find(map, key, &v) ? value_text(&v) : NULL;
}

/* Of a text that people read: it moves no terminal. C1, too, in UTF-8. */
static char *plain(char *text)
{
	for (unsigned char *at = (unsigned char *)text; at && *at; at++) {
		if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
			at[0] = at[1] = '?';
		else if ((at[0] < 0x20 && at[0] != '\n' && at[0] != '\t') || at[0] == 0x7f)
			at[0] = '?';
	}
	return text;
}

static bool how_read(const struct value *map, enum how *ret)
{
	struct value v;

	value_find(map, "how", &v);
	*ret = value_is(&v, "accept") ? ACCEPTED : value_is(&v, "reject") ? REJECTED : EXCEPTION;
	return *ret != EXCEPTION || value_is(&v, "exception");
}

bool result_read(const struct value *map, struct result *ret, bool *ret_retire)
{
	struct value changes;

	*ret = (struct result){ .how = EXCEPTION };
	*ret_retire = value_int(map, "retire", 0) != 0;
	if (map->kind != 'm' || !how_read(map, &ret->how))
		return false;
	if (value_find(map, "changes", &changes) && !changes_read(&changes, ret)) {
		result_fini(ret);
		return false;
	}
	ret->text = plain(text_of(map, "text"));
	ret->trace = text_of(map, "trace");
	ret->reboot = text_of(map, "reboot");
	ret->rerun = value_int(map, "rerun", 0) != 0;
	ret->remove = value_int(map, "delete", 0) != 0;
	ret->restart_cycle = value_int(map, "restart_cycle", 0) != 0;
	return true;
}

int32_t result_text(const struct run *r, const struct result *result, char *buf, uint32_t len)
{
	switch (result->how) {
	case ACCEPTED:
		return snprintf(buf, len, "%s", "");
	case REJECTED:
		if (result->text && result->text[0])
			return snprintf(buf, len, "%s", result->text);
		return snprintf(buf, len, "%s request rejected by '%s'", r->event->name, r->name);
	case ALARM:
		return snprintf(buf, len, "request rejected as filter hook '%s' got an alarm call. Please inform Admin", r->name);
	default:
		return snprintf(buf, len, "request rejected as filter hook '%s' encountered an exception. Please inform Admin", r->name);
	}
}
