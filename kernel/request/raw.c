/* SPDX-License-Identifier: Apache-2.0
 *
 * raw.c - requests that no row of this daemon names, and a module carries elsewhere: their bodies stay as they came,
 * for reading a message changes its bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "request/inside.h"
#include "wire/pack.h"

static void word_copy(char *to, size_t size, const struct pack_value *v)
{
	size_t len = v->kind == PACK_STR && v->n < size ? v->n : 0;

	memcpy(to, v->text, len);
	to[len] = '\0';
}

bool raw_wanted(struct router *r, const char *body, size_t len)
{
	struct pack_reader at = { .at = (const unsigned char *)body, .end = (const unsigned char *)body + len };
	char key[8] = "", name[128] = "", verb[64] = "";
	struct pack_value map, v;

	if (r->others == NULL || pack_check(body, len) < 0)
		return false;
	map = pack_next(&at);
	for (uint32_t i = 0; map.kind == PACK_MAP && i < map.n && !at.bad; i++) {
		v = pack_next(&at);
		word_copy(key, sizeof(key), &v);
		pack_skip(&at, &v);
		v = pack_next(&at);
		if (strcmp(key, "req") == 0)
			word_copy(name, sizeof(name), &v);
		else if (strcmp(key, "verb") == 0)
			word_copy(verb, sizeof(verb), &v);
		pack_skip(&at, &v);
	}
	return name[0] != '\0' && route_of(r, name, verb[0] != '\0' ? verb : NULL) == NULL;
}

bool raw_take(struct keel_req *q, struct client *c, const struct frame *f)
{
	char *memory = f->len > c->router->limits.queued_small ? frame_take(&c->reader, f) : NULL;

	q->raw_at = f->body;
	if (memory == NULL) {
		memory = malloc(f->len);
		q->raw_at = memory != NULL ? memcpy(memory, f->body, f->len) : NULL;
	}
	q->raw = memory;
	return memory != NULL;
}
