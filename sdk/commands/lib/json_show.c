/* SPDX-License-Identifier: Apache-2.0
 *
 * json_show.c - the attributes of one object as members of a JSON object.
 */
#include "json_show.h"

#include <stdlib.h>
#include <string.h>

void json_show_init(struct json_show *j, struct json_out *json, struct show *show)
{
	*j = (struct json_show){ .json = json, .show = show };
	names_init(&j->keys, false);
	names_init(&j->odd_keys, true);
	names_init(&j->groups, false);
}

void json_show_fini(struct json_show *j)
{
	names_fini(&j->keys);
	names_fini(&j->odd_keys);
	names_fini(&j->groups);
	free(j->joined);
	j->joined = NULL;
}

static bool has_resource(const struct attrl *a)
{
	return a->resource && *a->resource;
}

static bool same_entry(const struct attrl *a, const struct attrl *b)
{
	/* the first letters differ nearly always */
	if (*a->name != *b->name || has_resource(a) != has_resource(b))
		return false;
	if (has_resource(a) && *a->resource != *b->resource)
		return false;
	if (strcmp(a->name, b->name) != 0)
		return false;
	return !has_resource(a) || strcmp(a->resource, b->resource) == 0;
}

static char *room_for(struct json_show *j, size_t size)
{
	char *more;

	if (size > j->joined_size) {
		more = realloc(j->joined, size);
		if (!more)
			return NULL;
		j->joined = more;
		j->joined_size = size;
	}
	return j->joined;
}

/* Length of the item at `at`, as the job's environment is read: a comma ends it, but not behind a
 * backslash or in quotes. *ret_plain: nothing in it has to be taken off. */
static size_t item_len(const char *at, bool *ret_plain)
{
	size_t n = strcspn(at, ",\\\"'");
	char quote = '\0';

	*ret_plain = at[n] == ',' || at[n] == '\0';
	for (; at[n] != '\0' && (quote != '\0' || at[n] != ','); n++)
		if (at[n] == '\\' && at[n + 1] != '\0')
			n++;
		else if (at[n] == quote)
			quote = '\0';
		else if (quote == '\0' && (at[n] == '"' || at[n] == '\''))
			quote = at[n];
	return n;
}

/* The value as the job sees it. */
static void put_unescaped(struct json_show *j, const char *text, size_t len)
{
	char *to = room_for(j, len), quote = '\0';
	size_t i, n = 0;

	for (i = 0; to && i < len; i++)
		if (text[i] == '\\' && i + 1 < len)
			to[n++] = text[++i];
		else if (text[i] == quote)
			quote = '\0';
		else if (quote == '\0' && (text[i] == '"' || text[i] == '\''))
			quote = text[i];
		else
			to[n++] = text[i];
	jout_string(j->json, to ? to : text, to ? n : len);
}

/* Returns whether the key is new. Keys that differ only in bytes which are not UTF-8 are written alike. */
static bool is_new_key(struct json_show *j, const char *key, size_t len)
{
	char *written;
	size_t i;

	for (i = 0; i < len && (unsigned char)key[i] < 0x80; i++)
		;
	if (i == len)
		return names_add(&j->keys, key, len) == 1;
	written = room_for(j, JOUT_REPLACED * len);
	return written && names_add(&j->odd_keys, written, jout_replaced(key, len, written)) == 1;
}

static void put_variable(struct json_show *j, const char *item, size_t len, bool plain)
{
	const char *equals = memchr(item, '=', len);
	size_t name_len = equals ? (size_t)(equals - item) : len;

	if (len == 0 || !is_new_key(j, item, name_len))
		return;
	jout_key(j->json, item, name_len);
	if (!equals)
		jout_string(j->json, "", 0);
	else if (plain)
		jout_string(j->json, equals + 1, len - name_len - 1);
	else
		put_unescaped(j, equals + 1, len - name_len - 1);
}

static void put_variables(struct json_show *j, const char *name, const char *text)
{
	bool plain;
	size_t len;

	jout_open(j->json, name);
	names_clear(&j->keys);
	names_clear(&j->odd_keys);
	for (;; text += len + 1) {
		len = item_len(text, &plain);
		put_variable(j, text, len, plain);
		if (text[len] == '\0')
			break;
	}
	jout_close(j->json);
}

/* Joins the entries of one list, from `a` on, to one string; returns the last of them. */
static const struct attrl *put_joined(struct json_show *j, const struct attrl *a)
{
	const struct attrl *last = a, *b;
	size_t size = 0, n = 0;
	char *to;

	for (b = a; b && same_entry(a, b); b = b->next) {
		size += strlen(b->value ? b->value : "") + 1;
		last = b;
	}
	to = room_for(j, size);
	for (b = a; to; b = b->next) {
		size_t len = strlen(b->value ? b->value : "");

		memcpy(to + n, b->value ? b->value : "", len);
		n += len;
		if (b == last)
			break;
		to[n++] = ',';
	}
	jout_string(j->json, to ? to : "", n);
	return last;
}

/* Writes one member; returns the last entry of it. */
static const struct attrl *put_member(struct json_show *j, const struct attrl *a, const char *key)
{
	enum trait kind;
	size_t len;
	const char *text = show_value(j->show, a, &len, &kind);

	if (kind == TRAIT_LIST) {
		put_variables(j, key, text);
		return a;
	}
	jout_key(j->json, key, strlen(key));
	if (a->next && same_entry(a, a->next))
		return put_joined(j, a);
	if (kind == TRAIT_NUMBER || (kind == TRAIT_TIME && !j->show->dates))
		jout_number(j->json, text, len);
	else if (kind == TRAIT_UNKNOWN)
		jout_guess(j->json, text, len);
	else
		jout_string(j->json, text, len);
	return a;
}

/* Writes every resource of the attribute, wherever it is in the list; nothing if the group was written before. */
static void put_group(struct json_show *j, const struct attrl *first, json_special_fn special)
{
	const struct attrl *a;

	if (names_add(&j->groups, first->name, strlen(first->name)) != 1)
		return;
	jout_open(j->json, first->name);
	for (a = first; a; a = a->next) {
		if (!has_resource(a) || *a->name != *first->name ||
		    strcmp(a->name, first->name) != 0)
			continue;
		if (special && special(j, a))
			continue;
		a = put_member(j, a, a->resource);
	}
	jout_close(j->json);
}

void json_show_attributes(struct json_show *j, const struct attrl *list, json_special_fn special)
{
	const struct attrl *a, *before = NULL;

	names_clear(&j->groups);
	for (a = list; a; before = a, a = a->next) {
		if (has_resource(a)) {
			if (!before || !has_resource(before) || strcmp(before->name, a->name) != 0)
				put_group(j, a, special);
			continue;
		}
		if (special && special(j, a))
			continue;
		a = put_member(j, a, a->name);
	}
}
