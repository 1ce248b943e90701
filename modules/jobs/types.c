/* SPDX-License-Identifier: Apache-2.0
 *
 * types.c - attribute types of a batch job: owner, state letter, hold letters.
 */
#include "jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keel/type.h"

/* ---- job_owner: user@host; equal to any of a comma list of user[@host] ------------------------------ */

static int32_t owner_parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op,
			   const char *key, const char *text, union keel_slot *slot, bool *is_set,
			   struct keel_err *err)
{
	char *copy = strdup(text);

	(void)mod, (void)attr, (void)op, (void)key, (void)err;
	if (!copy)
		return PBSE_SYSTEM;
	if (*is_set)
		free(slot->p);
	slot->p = copy;
	*is_set = true;
	return 0;
}

static int32_t owner_match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op,
			   const char *key, const char *text, struct keel_err *err)
{
	bool found = false;

	(void)mod, (void)key, (void)err;
	while (is_set && *text && !found) {
		const char *owner = slot->p, *at;
		size_t len = strcspn(text, ","), user = strcspn(text, "@,");

		at = user < len ? text + user : NULL;
		found = strncmp(owner, text, user) == 0 && owner[user] == '@' &&
			(!at || (strlen(owner) == len && memcmp(owner, text, len) == 0) ||
			 (len == user + 2 && at[1] == '*'));
		text += len + (text[len] == ',');
	}
	return op == KEEL_NE ? !found : found;
}

const struct keel_type_def owner_type = {
	.size = sizeof(struct keel_type_def),
	.name = "job_owner",
	.doc = "user@host",
	KEEL_TYPE_OF_TEXT,
	.parse = owner_parse,
	.match = owner_match,
};

/* ---- job_state: a letter, and whether a running job is shown as S ------------------------------------- */

static int32_t state_parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op,
			   const char *key, const char *text, union keel_slot *slot, bool *is_set,
			   struct keel_err *err)
{
	(void)mod, (void)attr, (void)op, (void)key, (void)err;
	slot->i = text[0] == 'S' ? 'R' | SUSPENDED_BIT : text[0];
	*is_set = true;
	return 0;
}

static char state_shown(const union keel_slot *slot)
{
	return slot->i & SUSPENDED_BIT ? 'S' : (char)(slot->i & 0x7f);
}

static void state_format(struct keel_mod *mod, const union keel_slot *slot, const char *key,
			 const struct keel_emit *emit)
{
	char text[2] = { state_shown(slot), '\0' };

	(void)mod, (void)key;
	keel_emit_text(emit, text);
}

static int32_t state_match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op,
			   const char *key, const char *text, struct keel_err *err)
{
	bool found = is_set && strchr(text, state_shown(slot)) != NULL;

	(void)mod, (void)key, (void)err;
	return op == KEEL_NE ? !found : found;
}

const struct keel_type_def job_state_type = {
	.size = sizeof(struct keel_type_def),
	.flags = KEEL_TYPE_INT,
	.name = "job_state",
	.doc = "one letter of B E F H M Q R S T U W X",
	.parse = state_parse,
	.format = state_format,
	.match = state_match,
	KEEL_TYPE_OF_INT,
};

/* ---- job_holds: a set of letters ------------------------------------------------------------------------ */

static const struct {
	char letter;
	int32_t bit;
} hold_letters[] = {
	{ 's', HOLD_SYSTEM },
	{ 'd', HOLD_DEPENDS },
	{ 'o', HOLD_OTHER },
	{ 'u', HOLD_USER },
	{ 'p', HOLD_PASSWORD },
};

int32_t holds_parse(const char *letters)
{
	int32_t bits = 0;
	size_t i;

	if (strcmp(letters, "n") == 0)
		return 0;
	for (; *letters; letters++) {
		for (i = 0; i < KEEL_COUNT(hold_letters); i++)
			if (hold_letters[i].letter == *letters)
				break;
		if (i == KEEL_COUNT(hold_letters))
			return -1;
		bits |= hold_letters[i].bit;
	}
	return bits;
}

int32_t holds_parse_shown(const char *letters)
{
	int32_t bits = holds_parse(letters);

	if (bits < 0 || (bits & HOLD_DEPENDS))
		return -1;
	return bits & HOLD_SYSTEM ? bits | HOLDS_UNSEEN : bits;
}

int32_t holds_seen(int32_t bits)
{
	return bits & HOLDS_UNSEEN ? (bits & ~HOLDS_UNSEEN) | HOLD_SYSTEM : bits;
}

void holds_text(int32_t bits, char buf[8])
{
	size_t i, n = 0;

	bits = holds_seen(bits);
	for (i = 0; i < KEEL_COUNT(hold_letters); i++)
		if (bits & hold_letters[i].bit)
			buf[n++] = hold_letters[i].letter;
	if (n == 0)
		buf[n++] = 'n';
	buf[n] = '\0';
}

static int32_t holds_type_parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op,
				const char *key, const char *text, union keel_slot *slot, bool *is_set,
				struct keel_err *err)
{
	int32_t bits = holds_parse(text), old = *is_set ? (int32_t)slot->i : 0;

	(void)attr, (void)key, (void)mod;
	if (bits < 0)
		return keel_error(err, PBSE_BADATVAL, "%s Hold_Types",
				  keel_pbse_text(PBSE_BADATVAL));
	slot->i = op == KEEL_INCR ? old | bits : op == KEEL_DECR ? old & ~bits : bits;
	*is_set = true;
	return 0;
}

static void holds_format(struct keel_mod *mod, const union keel_slot *slot, const char *key,
			 const struct keel_emit *emit)
{
	char text[8];

	(void)mod, (void)key;
	holds_text((int32_t)slot->i, text);
	keel_emit_text(emit, text);
}

static int32_t holds_match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op,
			   const char *key, const char *text, struct keel_err *err)
{
	bool same = is_set && holds_seen((int32_t)slot->i) == holds_parse(text);

	(void)mod, (void)key, (void)err;
	return op == KEEL_NE ? !same : same;
}

const struct keel_type_def holds_type = {
	.size = sizeof(struct keel_type_def),
	.flags = KEEL_TYPE_INT,
	.name = "job_holds",
	.doc = "letters s o u p, or n",
	.parse = holds_type_parse,
	.format = holds_format,
	.match = holds_match,
	KEEL_TYPE_OF_INT,
};
