/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_rows.c - any bytes as the body of a stored row: refused, or an object whose own row reads as the same
 * object again, also when a row of an attribute comes late.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "object/objects.h"
#include "registry/registry.h"
#include "types/types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct keel_class_def klass = { sizeof(klass), 0, "job", "", 0, 0 };
/* Short names: inputs find them. */
#define ROW(name, type) KEEL_ATTR_DEF("job", name, type, .flags = KEEL_ATTR_SAVE, .read_roles = KEEL_EVERYBODY)
static const struct keel_attr_def attrs[] = { ROW("a", "long"), ROW("b", "string"), ROW("c", "size"), ROW("d", "time"),
					      ROW("Q", "float"), ROW("id", "string_array"), ROW("req", "bool") };
static const struct keel_attr_def late = ROW("select", "string");

static struct parts parts;
static struct owner owner = { .pub.name = "fuzz", .parts = &parts }, guest = { .pub.name = "guest", .parts = &parts };

static void dirty(void *arg, struct keel_obj *o)
{
	(void)arg, (void)o;
}

static void add(struct owner *who, const char *kind, const void *def)
{
	const struct keel_contrib row = { kind, def };

	if (registry_add(parts.registry, who, &row, 1, NULL) < 0)
		abort();
}

static void begin(void)
{
	if (registry_create(&parts.registry) < 0 || objects_create(parts.registry, dirty, NULL, &parts.objects) < 0)
		abort();
	add(&owner, "CLASS", &klass);
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		add(&owner, "ATTR", &attrs[i]);
}

static void end(void)
{
	objects_destroy(parts.objects);
	registry_destroy(parts.registry);
	owner.live = guest.live = 0;
}

struct row {
	unsigned char *bytes; /* owned */
	uint32_t len;
};

static struct row row_of(const char *id)
{
	struct row row = { NULL, 0 };
	struct keel_store_row stored;

	if (objects_encode(objects_find(parts.objects, "job", id), &stored) < 0)
		abort();
	row.len = stored.len;
	row.bytes = malloc(row.len); /* exact, so that a sanitizer sees overreads */
	if (row.bytes == NULL)
		abort();
	memcpy(row.bytes, stored.bytes, row.len);
	return row;
}

static void expect_same(struct row a, struct row b)
{
	if (a.len != b.len || memcmp(a.bytes, b.bytes, a.len) != 0)
		abort();
	free(a.bytes);
	free(b.bytes);
}

static void read_again(const struct row *row, const char *id)
{
	if (objects_decode(parts.objects, "job", id, row->bytes, row->len, NULL) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct row first;

	begin();
	if (objects_decode(parts.objects, "job", "1", data, (uint32_t)size, NULL) == 0) {
		first = row_of("1");
		read_again(&first, "2");
		free(first.bytes);
		first = row_of("2"); /* what was there twice is there once now */
		read_again(&first, "3");
		expect_same(first, row_of("3"));
		add(&guest, "ATTR", &late);
		objects_find(parts.objects, "job", "1");
		first = row_of("1");
		read_again(&first, "4");
		free(first.bytes);
	}
	end();
	return 0;
}
