/* SPDX-License-Identifier: Apache-2.0
 *
 * hookfile.c - names, versions and content of the files of hooks.
 */
#include "hookfile.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ends[] = { [HOOKFILE_ATTRS] = ".HK", [HOOKFILE_CONFIG] = ".CF", [HOOKFILE_SCRIPT] = ".PY" };
static const char tables_name[] = "tables";

static bool name_is_fine(const char *name, size_t len)
{
	if (len == 0 || len + 4 > HOOKFILE_NAME || *name == '.')
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)name[i] <= ' ' || name[i] == '/' || name[i] == 127)
			return false;
	return true;
}

bool hookfile_parse(const char *file, enum hookfile_kind *ret, char hook[HOOKFILE_NAME])
{
	size_t len = strlen(file);

	hook[0] = '\0';
	*ret = HOOKFILE_TABLES;
	if (strcmp(file, tables_name) == 0)
		return true;
	if (len < 4 || !name_is_fine(file, len - 3))
		return false;
	for (uint32_t i = 0; i < KEEL_COUNT(ends); i++)
		if (strcmp(file + len - 3, ends[i]) == 0) {
			*ret = (enum hookfile_kind)i;
			snprintf(hook, HOOKFILE_NAME, "%.*s", (int)len - 3, file);
			return true;
		}
	return false;
}

void hookfile_name(const char *hook, enum hookfile_kind kind, char file[HOOKFILE_NAME])
{
	if (kind == HOOKFILE_TABLES)
		snprintf(file, HOOKFILE_NAME, "%s", tables_name);
	else
		snprintf(file, HOOKFILE_NAME, "%.*s%s", HOOKFILE_NAME - 4, hook, ends[kind]);
}

void hookfile_version(const void *bytes, uint32_t len, char version[HOOKFILE_VERSION])
{
	const unsigned char *at = bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	snprintf(version, HOOKFILE_VERSION, "%" PRIx32 "-%016" PRIx64, len, hash);
}

/* ---- .HK ------------------------------------------------------------------------------------------------------------------ */
char *hookfile_attrs(const struct hook *h)
{
	struct keel_text text;
	char value[1024], *ret;

	keel_text_init(&text);
	for (uint32_t i = 0; hook_attrs[i]; i++) {
		int32_t n = hook_text(h, hook_attrs[i], value, sizeof(value));

		if (n >= 0 && (size_t)n < sizeof(value))
			keel_text_printf(&text, "%s=%s\n", hook_attrs[i], value);
		else if (n >= 0)
			text.failed = true;
	}
	keel_text_printf(&text, "place=%lld\n", (long long)h->place);
	if (h->suffix)
		keel_text_printf(&text, "suffix=%s\n", h->suffix);
	ret = text.failed ? NULL : strdup(text.data);
	keel_text_fini(&text);
	return ret;
}

/* What is no attribute of qmgr's. 1: `name` is none of them. */
static int32_t own_set(struct hook *h, const char *name, const char *value)
{
	char *end, *copy;
	long long place;

	if (strcmp(name, "place") == 0) {
		errno = 0;
		place = strtoll(value, &end, 10);
		if (errno || end == value || *end)
			return -EINVAL;
		h->place = place;
		return 0;
	}
	if (strcmp(name, "suffix") != 0)
		return 1;
	if (strlen(value) > 16 || strchr(value, '/'))
		return -EINVAL;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	free(h->suffix);
	h->suffix = copy;
	return 0;
}

static int32_t line_read(struct hook *h, char *line, struct keel_err *err)
{
	char *value = strchr(line, '=');
	int32_t r;

	if (!value)
		return keel_error(err, -EINVAL, "\"%.80s\" is no line \"name=value\"", line);
	*value++ = '\0';
	r = own_set(h, line, value);
	if (r <= 0)
		return r == 0 ? 0 : keel_error(err, r, "\"%.80s\" is no value of %.80s", value, line);
	r = hook_set(h, line, KEEL_SET, value, err);
	return r == 0 ? 0 : -EINVAL;
}

/* In the order of hook_attrs, and back: what depends on another is unset before it. */
static void defaults_set(struct hook *h)
{
	uint32_t n = 0;

	while (hook_attrs[n])
		n++;
	while (n > 0)
		hook_set(h, hook_attrs[--n], KEEL_UNSET, "", NULL);
	h->place = 0;
	free(h->suffix);
	h->suffix = NULL;
}

int32_t hookfile_attrs_read(struct hook *h, const char *text, struct keel_err *err)
{
	char *copy = strdup(text), *rest = copy, *line;
	int32_t r = 0;

	if (!copy)
		return keel_error(err, -ENOMEM, "no memory");
	defaults_set(h);
	while (r == 0 && (line = strsep(&rest, "\n")))
		if (*line)
			r = line_read(h, line, err);
	free(copy);
	return r;
}
