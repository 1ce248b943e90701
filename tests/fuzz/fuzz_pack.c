/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_pack.c - any body: what pack_check() lets pass is decoded within bounds, and the typed reads
 * stand whatever is in it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "keel/wire.h"
#include "pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Visit everything; no string may point outside the input. */
static void visit(const msgpack_object *o, const char *from, size_t size, int depth)
{
	if (depth > WIRE_DEPTH_MAX)
		abort();
	switch (o->type) {
	case MSGPACK_OBJECT_STR:
	case MSGPACK_OBJECT_BIN:
		if (o->via.str.size > 0 &&
		    (o->via.str.ptr < from || o->via.str.ptr + o->via.str.size > from + size))
			abort();
		break;
	case MSGPACK_OBJECT_ARRAY:
		for (uint32_t i = 0; i < o->via.array.size; i++)
			visit(&o->via.array.ptr[i], from, size, depth + 1);
		break;
	case MSGPACK_OBJECT_MAP:
		for (uint32_t i = 0; i < o->via.map.size; i++) {
			visit(&o->via.map.ptr[i].key, from, size, depth + 1);
			visit(&o->via.map.ptr[i].val, from, size, depth + 1);
		}
		break;
	default:
		break;
	}
}

static void reads(const msgpack_object *root)
{
	static const char *const keys[] = { "req", "code", "text", "id", "objects", "" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t len = 0;
		const char *bytes = pack_bytes(root, keys[i], &len);

		free(pack_strdup(pack_get(root, keys[i])));
		if (bytes != NULL && len > 0 && memchr(bytes, 0, len) == bytes + len)
			abort();
		pack_int(root, keys[i], 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size == 0 ? 1 : size); /* exact, so that a sanitizer sees overreads */
	struct pack p;
	int checked;

	if (copy == NULL)
		return 0;
	if (size > 0)
		memcpy(copy, data, size);
	checked = pack_check(copy, size);
	if (pack_open(&p, copy, size) == 0) {
		if (checked != 0)
			abort();
		visit(&p.root, copy, size, 0);
		reads(&p.root);
		pack_fini(&p);
	}
	free(copy);
	return 0;
}
