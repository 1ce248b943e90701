/* SPDX-License-Identifier: Apache-2.0
 *
 * names.c - ids and operands of arrays, subjobs and ranges: `7[].svr`, `7[3].svr`, `7[1-9:2]`.
 */
#include "arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct array *named_array(struct keel_mod *mod, const char *operand, const char **ret_range,
			  size_t *ret_len)
{
	size_t digits = strspn(operand, "0123456789"), len;
	const char *shut = operand[digits] == '[' ? strchr(operand + digits, ']') : NULL;
	const char *server = shut ? shut + 1 : NULL;
	struct keel_obj *whole;
	char id[512];

	if (!shut || !digits)
		return NULL;
	len = *server == '.' ? strcspn(server + 1, "@") : 0;
	if (*server && *server != '@' && *server != '.')
		return NULL;
	if (snprintf(id, sizeof(id), "%.*s[].%.*s", (int)digits, operand,
		     (int)(len ? len : strlen(keel_server_name(mod))),
		     len ? server + 1 : keel_server_name(mod)) >= (int)sizeof(id))
		return NULL;
	whole = keel_find(mod, "job", id);
	*ret_range = operand + digits + 1;
	*ret_len = (size_t)(shut - *ret_range);
	return whole ? array_of(mod, whole) : NULL;
}

struct array *array_of_part(struct keel_mod *mod, struct keel_obj *part, uint32_t *ret_ordinal)
{
	size_t len;
	const char *range;
	struct array *a = named_array(mod, keel_id(part), &range, &len);
	unsigned long index = a && len > 0 && len < 11 ? strtoul(range, NULL, 10) : UINT32_MAX;

	if (index > INDEX_MAX || !indices_ordinal(&a->x, (uint32_t)index, ret_ordinal))
		return NULL;
	return a;
}

bool is_subjob(struct keel_mod *mod, struct keel_obj *job)
{
	(void)mod;
	return keel_id_is_part(keel_id(job));
}

void part_id(const struct array *a, uint32_t ordinal, char *buf, size_t len)
{
	const char *id = keel_id(a->whole);
	size_t head = strcspn(id, "[") + 1;

	snprintf(buf, len, "%.*s%u%s", (int)head, id, indices_index(&a->x, ordinal), id + head);
}

struct keel_obj *part_find(struct keel_mod *mod, const struct array *a, uint32_t ordinal)
{
	char id[600];

	part_id(a, ordinal, id, sizeof(id));
	return keel_find(mod, "job", id);
}
