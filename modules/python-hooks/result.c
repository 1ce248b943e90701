/* SPDX-License-Identifier: Apache-2.0
 *
 * result.c - what a script answers: changes, read and written; how it ended, read and in words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

/* ---- changes --------------------------------------------------------------------------------------------- */
void changes_free(struct change *changes, uint32_t n)
{
	for (uint32_t i = 0; changes && i < n; i++) {
		free(changes[i].target);
		free(changes[i].attr);
		free(changes[i].key);
		free(changes[i].text);
	}
	free(changes);
}

static bool change_copy(struct change *to, const struct change *from)
{
	*to = (struct change){ .target = strdup(from->target), .attr = strdup(from->attr), .key = from->key ? strdup(from->key) : NULL,
			       .text = from->text ? strdup(from->text) : NULL };
	return to->target && to->attr && (to->key || !from->key) && (to->text || !from->text);
}

struct change *changes_copy(const struct change *changes, uint32_t n)
{
	struct change *copy = calloc(n ? n : 1, sizeof(*copy));

	for (uint32_t i = 0; copy && i < n; i++)
		if (!change_copy(&copy[i], &changes[i])) {
			changes_free(copy, i + 1);
			return NULL;
		}
	return copy;
}

struct change *changes_move(struct change *changes, uint32_t n)
{
	struct change *taken = calloc(n ? n : 1, sizeof(*taken));

	for (uint32_t i = 0; taken && i < n; i++) {
		taken[i] = changes[i];
		changes[i] = (struct change){ .target = NULL };
	}
	return taken;
}

static bool text_take(const struct value *list, uint32_t n, bool may_be_nothing, char **ret)
{
	struct value v;

	if (!value_nth(list, n, &v))
		return false;
	*ret = value_text(&v);
	return *ret || (may_be_nothing && v.kind == 'n');
}

struct change *changes_read(const struct value *list, uint32_t *ret_n)
{
	struct change *changes = list->kind == 'l' ? calloc(list->count > 0 ? list->count : 1, sizeof(*changes)) : NULL;
	const char *at = list->at;
	struct value one;
	uint32_t n = 0;

	while (changes && value_next(list, &at, &one)) {
		struct change *c = &changes[n++];

		if (!text_take(&one, 0, false, &c->target) || !text_take(&one, 1, false, &c->attr) ||
		    !text_take(&one, 2, true, &c->key) || !text_take(&one, 3, true, &c->text)) {
			changes_free(changes, n);
			return NULL;
		}
	}
	*ret_n = n;
	return changes;
}

void change_pack(struct pack *p, const char *target, const struct change *c)
{
	uint32_t open = pack_open_list(p);

	pack_text(p, target);
	pack_text(p, c->attr);
	pack_text(p, c->key);
	pack_text(p, c->text);
	pack_close(p, open, 4);
}

/* ---- results --------------------------------------------------------------------------------------------- */
void result_fini(struct result *r)
{
	changes_free(r->changes, r->n_changes);
	free(r->text);
	free(r->trace);
	free(r->reboot);
	*r = (struct result){ .how = ACCEPTED };
}

static char *text_of(const struct value *map, const char *key)
{
	struct value v;

	return value_find(map, key, &v) ? value_text(&v) : NULL;
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
	if (value_find(map, "changes", &changes) && !(ret->changes = changes_read(&changes, &ret->n_changes)))
		return false;
	ret->text = text_of(map, "text");
	ret->trace = text_of(map, "trace");
	ret->reboot = text_of(map, "reboot");
	ret->rerun = value_int(map, "rerun", 0) != 0;
	ret->remove = value_int(map, "delete", 0) != 0;
	ret->restart_cycle = value_int(map, "restart_cycle", 0) != 0;
	return true;
}

static bool is_c1(unsigned char c)
{
	return c >= 0x80 && c < 0xa0;
}

/* What a terminal would obey; lines and tabs are a script's to write. */
static bool is_control(const char *text, uint32_t i)
{
	unsigned char c = (unsigned char)text[i], before = i > 0 ? (unsigned char)text[i - 1] : 0;

	return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f || (c == 0xc2 && is_c1((unsigned char)text[i + 1])) ||
	       (is_c1(c) && before < 0x80);
}

/* As much as there is room for, in whole characters; blanks for controls. */
int32_t words_of_script(const char *text, char *buf, uint32_t len)
{
	uint32_t n = (uint32_t)strnlen(text, len - 1);

	for (int i = 0; i < 3 && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; i++)
		n--;
	memcpy(buf, text, n);
	buf[n] = '\0';
	for (uint32_t i = 0; i < n; i++)
		if (is_control(buf, i))
			buf[i] = ' ';
	return (int32_t)n;
}

int32_t result_text(const struct run *r, const struct result *result, char *buf, uint32_t len)
{
	switch (result->how) {
	case ACCEPTED:
		return snprintf(buf, len, "%s", "");
	case REJECTED:
		if (result->text && result->text[0])
			return words_of_script(result->text, buf, len);
		return snprintf(buf, len, "%s request rejected by '%s'", r->event->name, r->name);
	case ALARM:
		return snprintf(buf, len, "request rejected as filter hook '%s' got an alarm call. Please inform Admin", r->name);
	default:
		return snprintf(buf, len, "request rejected as filter hook '%s' encountered an exception. Please inform Admin", r->name);
	}
}
