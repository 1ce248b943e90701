/* SPDX-License-Identifier: Apache-2.0
 *
 * names.c - a comma list of resource names: stored as given, compared ignoring case.
 *
 * `=` drops only the blanks around names, `+=` appends, also a name that is there, `-=` removes every copy. An empty
 * list is no value. Lists are short: NAMES_MAX bytes.
 */
#include "release-restriction.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "keel/type.h"

#define NAMES_MAX 20000
#define TOO_LONG "Illegal attribute or resource value: a list of resources is at most 20000 bytes long"

const char *name_next(const char *list, struct name *ret)
{
	const char *end;

	while (*list == ',' || *list == ' ' || *list == '\t')
		list++;
	if (!*list)
		return NULL;
	end = list + strcspn(list, ",");
	ret->text = list;
	list = end;
	while (end > ret->text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	ret->len = (size_t)(end - ret->text);
	return list;
}

bool name_is(const struct name *n, const char *text)
{
	return strlen(text) == n->len && strncasecmp(n->text, text, n->len) == 0;
}

static bool listed(const char *list, const struct name *wanted)
{
	struct name n;

	while ((list = name_next(list, &n)))
		if (n.len == wanted->len && strncasecmp(n.text, wanted->text, n.len) == 0)
			return true;
	return false;
}

bool names_have(const char *list, const char *text)
{
	return listed(list, &(struct name){ text, strlen(text) });
}

/* ---- the type of the attribute -------------------------------------------------------------------- */

/* Appends the names of `list` that are not in `but`. */
static void append(struct keel_text *out, const char *list, const char *but)
{
	struct name n;

	while ((list = name_next(list, &n)))
		if (!listed(but, &n))
			keel_text_printf(out, "%s%.*s", out->len ? "," : "", (int)n.len, n.text);
}

static int32_t refuse(struct keel_err *err, int32_t code, const char *why)
{
	if (err)
		*err = (struct keel_err){ .code = code };
	if (err)
		snprintf(err->text, sizeof(err->text), "%s", why);
	return code;
}

static int32_t parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op, const char *key,
		     const char *text, union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	const char *old = *is_set && op != KEEL_SET ? slot->p : "";
	struct keel_text out;
	char *list;

	(void)mod, (void)attr, (void)key;
	text = text ? text : "";
	keel_text_init(&out);
	append(&out, old, op == KEEL_DECR ? text : "");
	if (op != KEEL_DECR)
		append(&out, text, "");
	list = out.failed ? NULL : strdup(out.data);
	keel_text_fini(&out);
	if (!list)
		return refuse(err, PBSE_SYSTEM, "System error: out of memory");
	if (strlen(list) > NAMES_MAX || strlen(text) > NAMES_MAX) {
		free(list);
		return refuse(err, PBSE_BADATVAL, TOO_LONG);
	}
	keel_type_take(slot, is_set, list);
	return 0;
}

static int32_t match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op,
		     const char *key, const char *text, struct keel_err *err)
{
	bool has = is_set && text && names_have(slot->p, text);

	(void)mod, (void)key, (void)err;
	return op == KEEL_NE ? !has : has;
}

const struct keel_type_def names_type = {
	.size = sizeof(struct keel_type_def), .name = "resource_names", .doc = "a comma list of resource names",
	KEEL_TYPE_OF_TEXT, .parse = parse, .match = match,
};
