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
static void visit(const struct pack_value *o, const char *from, size_t size, int depth)
{
	if (depth > WIRE_DEPTH_MAX)
		abort();
	switch (o->kind) {
	case PACK_STR:
	case PACK_BIN:
		if (o->n > 0 &&
		    (o->text < from || o->text + o->n > from + size))
			abort();
		break;
	case PACK_ARRAY:
		for (uint32_t i = 0; i < o->n; i++)
			visit(&o->at[i], from, size, depth + 1);
		break;
	case PACK_MAP:
		for (uint32_t i = 0; i < 2 * o->n; i++)
			visit(&o->at[i], from, size, depth + 1);
		break;
	default:
		break;
	}
}

static void reads(const struct pack_value *root)
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
