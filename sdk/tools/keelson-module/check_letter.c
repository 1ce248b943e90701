/* SPDX-License-Identifier: Apache-2.0
 *
 * check_letter.c - the type of job_state: 'R', and 'S' for a job that runs and is suspended.
 *
 * As a plain number it took no letter: no job of the stage ever ran, and what a module does with jobs that do was not
 * looked at.
 */
#include "check_letter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUSPENDED = 256, BAD_VALUE = 15014 };

static int32_t letter_parse(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key, const char *text,
			    union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	(void)m, (void)a, (void)op, (void)key;
	if (text[0] < 'A' || text[0] > 'Z' || text[1] != '\0') {
		snprintf(err->text, sizeof(err->text), "'%.40s' is no letter", text);
		return BAD_VALUE;
	}
	slot->i = text[0] == 'S' ? 'R' | SUSPENDED : text[0];
	*is_set = true;
	return 0;
}

static char shown(const union keel_slot *slot)
{
	return slot->i & SUSPENDED ? 'S' : (char)(slot->i & 0x7f);
}

static void letter_format(struct keel_mod *m, const union keel_slot *slot, const char *key, const struct keel_emit *e)
{
	const char letter = shown(slot);

	(void)m, (void)key;
	e->fn(e->arg, NULL, &letter, 1);
}

static int32_t letter_match(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op, const char *key,
			    const char *text, struct keel_err *err)
{
	const bool found = is_set && strchr(text, shown(slot)) != NULL;

	(void)m, (void)key, (void)err;
	return op == KEEL_NE ? !found : found;
}

static int32_t letter_copy(struct keel_mod *m, const union keel_slot *from, union keel_slot *to)
{
	(void)m;
	*to = *from;
	return 0;
}

static void letter_fini(struct keel_mod *m, union keel_slot *slot)
{
	(void)m, (void)slot;
}

static const struct keel_type_def type = { .size = sizeof(type), .flags = KEEL_TYPE_INT, .name = LETTER_TYPE,
					   .doc = "the letter of a job's state", .parse = letter_parse,
					   .format = letter_format, .match = letter_match, .copy = letter_copy,
					   .fini = letter_fini };
static const struct keel_contrib rows[] = { { "TYPE", &type } };
/* The mock host takes types from modules only. */
static const struct keel_module bringer = { .magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR,
					    .abi_minor = KEEL_ABI_MINOR, .size = sizeof(bringer),
					    .name = "keelson-check", .version = "1", .summary = "brings " LETTER_TYPE,
					    .roles = KEEL_ANY, .contribs = rows, .n_contribs = KEEL_COUNT(rows) };

void letter_give(struct keel_mock *mock)
{
	struct keel_err err;

	if (keel_mock_load(mock, &bringer, NULL, &err) != NULL)
		return;
	fprintf(stderr, "keelson-module: %s\n", err.text);
	exit(2);
}
