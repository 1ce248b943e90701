/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_python_hooks.c - any bytes as a frame of a process of python-hooks: refused, or a value that can be walked to its end and
 * that is the same when it is written again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "python-hooks/talk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void copy(struct pack *p, const struct value *v)
{
	const char *at = v->at;
	struct value inner;
	uint32_t open, n = 0;

	if (v->kind == 'n') {
		pack_nothing(p);
	} else if (v->kind == 'i') {
		pack_int(p, v->i);
	} else if (v->kind == 's') {
		pack_bytes(p, v->s, v->len);
	} else {
		open = v->kind == 'l' ? pack_open_list(p) : pack_open_map(p);
		for (; value_next(v, &at, &inner); n++)
			copy(p, &inner);
		pack_close(p, open, v->kind == 'l' ? n : n / 2);
	}
}

static void look(const struct value *v)
{
	struct value inner;

	value_find(v, "how", &inner);
	value_nth(v, 2, &inner);
	value_int(v, "us", 0);
	free(value_text(&inner));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *exact = malloc(size > 0 ? size : 1); /* so that a sanitizer sees what is read behind it */
	struct pack again = { .data = NULL };
	struct value v;

	if (!exact)
		abort();
	if (size > 0)
		memcpy(exact, data, size);
	if (value_read(exact, (uint32_t)size, &v)) {
		look(&v);
		copy(&again, &v);
		if (again.len != size || memcmp(again.data, exact, size) != 0)
			abort();
	}
	pack_fini(&again);
	free(exact);
	return 0;
}
