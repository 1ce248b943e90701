/* SPDX-License-Identifier: Apache-2.0
 *
 * records.c - what goes over the link: records in batches, one message per turn and peer.
 *
 *	| op 1 | id 8 | length 4 | bytes |   big-endian
 */
#include "client-relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 13, BATCH_KEEP = 1 << 20 };

/* ---- out --------------------------------------------------------------------------------------------------- */
void number_write(unsigned char *at, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(number >> (24 - 8 * i));
}

uint32_t number_read(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void batch_flush(struct batch *b)
{
	struct keel_out *out = b->len > 0 && !b->failed ? keel_out(b->mod) : NULL;
	bool sent = b->len == 0 && !b->failed;

	if (out != NULL) {
		keel_put_bytes(out, "records", b->bytes, (uint32_t)b->len);
		sent = keel_link_stream(b->mod, b->peer, b->message, out) == 0;
	}
	b->len = 0;
	b->failed = false;
	if (b->size > BATCH_KEEP) {
		free(b->bytes);
		b->bytes = NULL;
		b->size = 0;
	}
	if (!sent)
		b->lost(b);
}

static void flush_turn(struct keel_mod *mod, void *arg)
{
	struct batch *b = arg;

	(void)mod;
	b->flushing = false;
	batch_flush(b);
}

static unsigned char *batch_room(struct batch *b, size_t more)
{
	size_t size = b->size > 0 ? b->size : 4096;
	char *bytes;

	if (b->len > 0 && b->len + more > BATCH_MOST)
		batch_flush(b);
	while (size - b->len < more)
		size *= 2;
	bytes = size == b->size ? b->bytes : realloc(b->bytes, size);
	if (bytes == NULL)
		return NULL;
	b->bytes = bytes;
	b->size = size;
	return (unsigned char *)bytes + b->len;
}

/* What was added is gone. */
static void batch_fail(struct batch *b)
{
	b->len = 0;
	b->failed = false;
	b->lost(b);
}

/* Without memory for one the other side would wait for it: then all are lost, as with the link. */
void batch_add(struct batch *b, enum op op, uint64_t id, const void *data, uint32_t len)
{
	unsigned char *at = batch_room(b, HEAD + (size_t)len);

	if (!b->flushing)
		b->flushing = keel_defer(b->mod, flush_turn, b) == 0;
	if (!b->flushing) {
		batch_fail(b);
		return;
	}
	if (at == NULL) {
		b->failed = true;
		return;
	}
	at[0] = (unsigned char)op;
	number_write(at + 1, (uint32_t)(id >> 32));
	number_write(at + 5, (uint32_t)id);
	number_write(at + 9, len);
	if (len > 0)
		memcpy(at + HEAD, data, len);
	b->len += HEAD + (size_t)len;
}

void batch_add_number(struct batch *b, enum op op, uint64_t id, uint32_t number)
{
	unsigned char bytes[4];

	number_write(bytes, number);
	batch_add(b, op, id, bytes, sizeof(bytes));
}

void batch_fini(struct batch *b)
{
	free(b->bytes);
	b->bytes = NULL;
	b->len = b->size = 0;
}

/* ---- in ---------------------------------------------------------------------------------------------------- */
bool record_next(const unsigned char **at, const unsigned char *end, struct record *ret, bool *ret_bad)
{
	size_t left = (size_t)(end - *at);

	*ret_bad = left > 0 && (left < HEAD || left - HEAD < number_read(*at + 9));
	if (left == 0 || *ret_bad)
		return false;
	ret->op = (enum op)(*at)[0];
	ret->id = (uint64_t)number_read(*at + 1) << 32 | number_read(*at + 5);
	ret->len = number_read(*at + 9);
	ret->data = *at + HEAD;
	*at += HEAD + (size_t)ret->len;
	return true;
}

/* Letters of names: nothing that a list, an address or a log line is cut at. */
static bool is_name(const char *text, size_t most, bool list)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c <= ' ' || c == 0x7f || c == '@' || c == ':' || (c == ',' && !list))
			return false;
	}
	return n <= most;
}

int opening_read(const struct record *r, struct opening *ret)
{
	const char *text[3], *at = (const char *)r->data + 4, *end = (const char *)r->data + r->len;

	if (r->len < 4)
		return -EPROTO;
	for (int i = 0; i < 3; i++) {
		const char *nul = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;

		if (nul == NULL || !is_name(at, i == 2 ? GROUPS_MOST : NAME_MOST, i == 2))
			return -EPROTO;
		text[i] = at;
		at = nul + 1;
	}
	if (at != end || text[0][0] == '\0')
		return -EPROTO;
	*ret = (struct opening){ .length = number_read(r->data), .user = text[0],
				 .group = text[1][0] != '\0' ? text[1] : NULL, .groups = text[2][0] != '\0' ? text[2] : NULL };
	return 0;
}
