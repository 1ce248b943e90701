/* SPDX-License-Identifier: Apache-2.0
 *
 * talk.c - frames between the daemon and keelson-pyhost, written and read. Linked into both.
 */
#include "talk.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_MAX (64u * 1024u * 1024u) /* nothing that is made here is longer */

/* ---- writing ------------------------------------------------------------------------------------------ */
void pack_fini(struct pack *p)
{
	free(p->data);
	*p = (struct pack){ .data = NULL };
}

static bool is_roomy(struct pack *p, uint32_t len)
{
	uint32_t size = p->size > 0 ? p->size : 512;
	char *more;

	if (p->failed || len > FRAME_MAX - p->len) {
		p->failed = true;
		return false;
	}
	while (size - p->len < len)
		size *= 2;
	if (size == p->size)
		return true;
	more = realloc(p->data, size);
	if (!more) {
		p->failed = true;
		return false;
	}
	p->data = more;
	p->size = size;
	return true;
}

static void put(struct pack *p, const void *bytes, uint32_t len)
{
	if (len == 0 || !is_roomy(p, len))
		return;
	memcpy(p->data + p->len, bytes, len);
	p->len += len;
}

static void put_counted(struct pack *p, char kind, uint32_t count)
{
	char head[1 + sizeof(count)];

	head[0] = kind;
	memcpy(head + 1, &count, sizeof(count));
	put(p, head, sizeof(head));
}

void pack_nothing(struct pack *p)
{
	put(p, "n", 1);
}

void pack_int(struct pack *p, int64_t value)
{
	char all[1 + sizeof(value)];

	all[0] = 'i';
	memcpy(all + 1, &value, sizeof(value));
	put(p, all, sizeof(all));
}

void pack_bytes(struct pack *p, const void *text, uint32_t len)
{
	put_counted(p, 's', len);
	put(p, text, len);
}

void pack_text(struct pack *p, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (!text)
		pack_nothing(p);
	else if (len > FRAME_MAX)
		p->failed = true;
	else
		pack_bytes(p, text, (uint32_t)len);
}

uint32_t pack_open_list(struct pack *p)
{
	put_counted(p, 'l', 0);
	return p->len;
}

uint32_t pack_open_map(struct pack *p)
{
	put_counted(p, 'm', 0);
	return p->len;
}

void pack_close(struct pack *p, uint32_t open, uint32_t count)
{
	if (!p->failed)
		memcpy(p->data + open - sizeof(count), &count, sizeof(count));
}

void pack_key(struct pack *p, const char *key)
{
	pack_text(p, key ? key : "");
}

void pack_pair_text(struct pack *p, const char *key, const char *text)
{
	pack_key(p, key);
	pack_text(p, text);
}

void pack_pair_int(struct pack *p, const char *key, int64_t value)
{
	pack_key(p, key);
	pack_int(p, value);
}

void pack_plain(struct pack *p, const void *bytes, uint32_t len)
{
	put(p, bytes, len);
}

void pack_raw(struct pack *p, const struct pack *value)
{
	if (value->failed || value->len == 0)
		p->failed = true;
	put(p, value->data, value->len);
}

/* ---- reading ------------------------------------------------------------------------------------------ */
static const char *take(const char *at, const char *end, void *to, uint32_t len)
{
	if ((size_t)(end - at) < len)
		return NULL;
	memcpy(to, at, len);
	return at + len;
}

/* The head of a value: for one that holds others, *at is the first of them then. NULL: there is none. */
static const char *head(const char *at, const char *end, struct value *v)
{
	*v = (struct value){ .kind = 0 };
	if (at >= end)
		return NULL;
	v->kind = *at++;
	switch (v->kind) {
	case 'n':
		return at;
	case 'i':
		return take(at, end, &v->i, sizeof(v->i));
	case 's':
		at = take(at, end, &v->len, sizeof(v->len));
		if (!at || (size_t)(end - at) < v->len)
			return NULL;
		v->s = at;
		return at + v->len;
	case 'l':
	case 'm':
		v->at = take(at, end, &v->count, sizeof(v->count));
		v->end = end;
		return v->at;
	default:
		return NULL;
	}
}

/* Behind the whole value; NULL: it is none. `depth`: so many levels may follow below it. */
static const char *skip(const char *at, const char *end, int depth, bool is_key, struct value *ret)
{
	struct value inner;
	uint64_t n;

	at = head(at, end, ret);
	if (!at || (is_key && ret->kind != 's'))
		return NULL;
	if (ret->kind != 'l' && ret->kind != 'm')
		return at;
	n = ret->kind == 'm' ? 2 * (uint64_t)ret->count : ret->count;
	if (depth == 0 || n > (uint64_t)(end - at)) /* each takes a byte at least */
		return NULL;
	for (uint64_t i = 0; at && i < n; i++)
		at = skip(at, end, depth - 1, ret->kind == 'm' && i % 2 == 0, &inner);
	ret->end = at;
	return at;
}

bool value_read(const void *frame, uint32_t len, struct value *ret)
{
	const char *at = frame;

	if (frame && len > 0 && skip(at, at + len, TALK_DEPTH, false, ret) == at + len)
		return true;
	*ret = (struct value){ .kind = 0 };
	return false;
}

bool value_next(const struct value *of, const char **at, struct value *ret)
{
	const char *next;

	*ret = (struct value){ .kind = 0 };
	if ((of->kind != 'l' && of->kind != 'm') || *at >= of->end)
		return false;
	next = skip(*at, of->end, TALK_DEPTH, false, ret);
	if (!next)
		return false;
	*at = next;
	return true;
}

/* `ret` may be what is looked into, here and below. */
bool value_nth(const struct value *list, uint32_t n, struct value *ret)
{
	const struct value of = *list;
	const char *at = of.at;

	*ret = (struct value){ .kind = 0 };
	if (of.kind != 'l' || n >= of.count)
		return false;
	for (uint32_t i = 0; i <= n; i++)
		if (!value_next(&of, &at, ret))
			return false;
	return true;
}

bool value_find(const struct value *map, const char *key, struct value *ret)
{
	const struct value of = *map;
	const char *at = of.at;
	struct value name;

	*ret = (struct value){ .kind = 0 };
	if (of.kind != 'm')
		return false;
	while (value_next(&of, &at, &name) && value_next(&of, &at, ret))
		if (value_is(&name, key))
			return true;
	*ret = (struct value){ .kind = 0 };
	return false;
}

bool value_is(const struct value *v, const char *text)
{
	return v->kind == 's' && strlen(text) == v->len && memcmp(v->s, text, v->len) == 0;
}

int64_t value_int(const struct value *map, const char *key, int64_t otherwise)
{
	struct value v;

	return value_find(map, key, &v) && v.kind == 'i' ? v.i : otherwise;
}

char *value_text(const struct value *v)
{
	return v->kind == 's' ? strndup(v->s, v->len) : NULL;
}

char *value_nth_text(const struct value *list, uint32_t n)
{
	struct value v;

	return value_nth(list, n, &v) ? value_text(&v) : NULL;
}
