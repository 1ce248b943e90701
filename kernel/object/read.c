/* SPDX-License-Identifier: Apache-2.0
 *
 * read.c - values as integers and texts, and comparisons.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "types/types.h"
#include "util/crumb.h"
#include "util/err.h"

bool read_is_set(const struct keel_obj *o, const struct keel_attr *a)
{
	return value_at(o, a) != NULL;
}

/* Returns the number; of a size kilobytes, rounded up. */
int64_t read_int(const struct keel_obj *o, const struct keel_attr *a)
{
	const union keel_slot *slot = value_at(o, a);

	if (!slot)
		return 0;
	if (a->type->def.flags & KEEL_TYPE_INT)
		return slot->i;
	return a->type->def.format == type_size.format ? types_size_kb(slot) : 0;
}

const char *read_str(const struct keel_obj *o, const struct keel_attr *a)
{
	const union keel_slot *slot = value_at(o, a);

	return slot && (a->type->def.flags & KEEL_TYPE_STRING) ? slot->p : NULL;
}

const void *read_ptr(const struct keel_obj *o, const struct keel_attr *a)
{
	const union keel_slot *slot = value_at(o, a);

	if (!slot || a->type->scalar || (a->type->def.flags & KEEL_TYPE_INT))
		return NULL;
	return slot->p;
}

/* ---- as text ------------------------------------------------------------------------------- */

struct printer {
	char *buf;
	size_t size, len;
	uint32_t n;
	bool keys; /* write "key=" too */
};

static void print_bytes(struct printer *p, const char *text, size_t len)
{
	if (p->len < p->size) {
		size_t room = p->size - p->len;

		memcpy(p->buf + p->len, text, len < room ? len : room);
	}
	p->len += len;
}

static void print(void *arg, const char *key, const char *text, uint32_t len)
{
	struct printer *p = arg;

	if (p->n++)
		print_bytes(p, ",", 1);
	if (p->keys && key) {
		print_bytes(p, key, strlen(key));
		print_bytes(p, "=", 1);
	}
	print_bytes(p, text, len);
}

static int32_t print_end(struct printer *p, uint32_t len)
{
	if (p->n == 0)
		return -ENODATA;
	if (len)
		p->buf[p->len < p->size ? p->len : p->size] = '\0';
	return (int32_t)p->len;
}

static struct printer printer(char *buf, uint32_t len, const char *key)
{
	return (struct printer){ .buf = buf, .size = len ? len - 1 : 0, .keys = !key };
}

int text_of(const struct keel_attr *a, const union keel_slot *slot, const char *key, char *buf,
	    uint32_t len)
{
	struct printer p = printer(buf, len, key);

	if (slot)
		type_format(a->type, slot, key, &(struct keel_emit){ print, &p });
	return print_end(&p, len);
}

/* A derived attribute emits all its keys; only the requested one passes. */
struct filter {
	const char *key;
	const struct keel_emit *to;
};

static void pass(void *arg, const char *key, const char *text, uint32_t len)
{
	const struct filter *f = arg;

	if (key && strcmp(key, f->key) == 0)
		f->to->fn(f->to->arg, key, text, len);
}

void read_emit(struct keel_obj *o, const struct keel_attr *a, const char *key,
	       const struct keel_emit *emit)
{
	const union keel_slot *slot;
	struct filter f = { key, emit };

	if (a->def.derive) {
		CRUMB_CALL(a->owner, "derive() of an attribute", a->def.name,
			   a->def.derive(mod_of(a->owner), o, key ? &(struct keel_emit){ pass, &f } : emit));
		return;
	}
	slot = value_at(o, a);
	if (slot)
		type_format(a->type, slot, key, emit);
}

int32_t read_text(struct keel_obj *o, const struct keel_attr *a, const char *key, char *buf,
		  uint32_t len)
{
	struct printer p = printer(buf, len, key);

	read_emit(o, a, key, &(struct keel_emit){ print, &p });
	return print_end(&p, len);
}

/* ---- comparisons --------------------------------------------------------------------------- */

static bool whole_number(const char *text, long long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 10);
	return end != text && !*end && !errno;
}

/* Derived values, and types without a match(), are compared as printed text. */
static int32_t match_printed(struct keel_obj *o, const struct keel_attr *attr, int32_t op,
			     const char *key, const char *text, struct keel_err *err)
{
	char small[256], *is = small;
	int32_t len = read_text(o, attr, key, small, sizeof(small)), rc;
	long long a, b;

	if (len < 0)
		return op == KEEL_NE;
	if ((size_t)len >= sizeof(small)) {
		is = malloc((size_t)len + 1);
		if (!is)
			return -err_no_memory(err);
		(void)read_text(o, attr, key, is, (uint32_t)len + 1);
	}
	if (whole_number(is, &a) && whole_number(text ? text : "", &b))
		rc = types_match((a > b) - (a < b), op);
	else
		rc = types_match(strcmp(is, text ? text : ""), op);
	if (is != small)
		free(is);
	return rc;
}

int32_t read_match(struct keel_obj *o, const struct keel_attr *a, int32_t op, const char *key,
		   const char *text, struct keel_err *err)
{
	const union keel_slot *slot;
	int32_t rc;

	if (a->def.derive || !a->type->def.match)
		return match_printed(o, a, op, key, text, err);
	if (err)
		err->text[0] = '\0';
	slot = value_at(o, a);
	rc = a->type->def.match(mod_of(a->type->owner), slot, slot != NULL, op, key, text, err);
	if (rc < 0 && err && !err->text[0])
		err_set(err, -rc, "%s", pbse_text(-rc));
	return rc;
}
