/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/type.h - functions of a TYPE row whose values are texts: slot.p is a terminated string of malloc(), or integers.
 *
 *	const struct keel_type_def words = { .size = sizeof(words), .name = "words", .doc = "...", KEEL_TYPE_OF_TEXT,
 *					     .parse = parse, .match = match };
 *
 * Its own parse() ends with keel_type_take(). Header only.
 */
#ifndef KEEL_TYPE_H
#define KEEL_TYPE_H

#include <stdlib.h>
#include <string.h>

#include "keel/contrib.h"

static inline void keel_type_format(struct keel_mod *mod, const union keel_slot *slot, const char *key,
				    const struct keel_emit *emit)
{
	const char *text = (const char *)slot->p;

	(void)mod, (void)key;
	emit->fn(emit->arg, NULL, text, (uint32_t)strlen(text));
}

static inline int32_t keel_type_copy(struct keel_mod *mod, const union keel_slot *from, union keel_slot *to)
{
	size_t size = strlen((const char *)from->p) + 1;
	void *text = malloc(size);

	(void)mod;
	if (!text)
		return 15010; /* PBSE_SYSTEM */
	to->p = memcpy(text, from->p, size);
	return 0;
}

static inline void keel_type_fini(struct keel_mod *mod, union keel_slot *slot)
{
	(void)mod;
	free(slot->p);
	slot->p = NULL;
}

/* The new value, given away; "" is none. */
static inline void keel_type_take(union keel_slot *slot, bool *is_set, char *text)
{
	if (*is_set)
		free(slot->p);
	*is_set = *text != '\0';
	slot->p = *is_set ? text : NULL;
	if (!*is_set)
		free(text);
}

#define KEEL_TYPE_OF_TEXT                                                                          \
	.flags = KEEL_TYPE_STRING, .format = keel_type_format, .copy = keel_type_copy, .fini = keel_type_fini

static inline int32_t keel_type_copy_int(struct keel_mod *mod, const union keel_slot *from, union keel_slot *to)
{
	(void)mod;
	*to = *from;
	return 0;
}

static inline void keel_type_fini_int(struct keel_mod *mod, union keel_slot *slot)
{
	(void)mod, (void)slot;
}

/* Of a row with KEEL_TYPE_INT. */
#define KEEL_TYPE_OF_INT .copy = keel_type_copy_int, .fini = keel_type_fini_int

#endif
