/* SPDX-License-Identifier: Apache-2.0
 *
 * names.c - a set of names with open addressing. A slot of an older round is empty, so clearing is
 * counting.
 */
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 256

void names_init(struct names *s, bool copy)
{
	*s = (struct names){ .round = 1, .copy = copy };
}

static void drop_copies(struct names *s)
{
	while (s->n_copies > 0)
		free(s->copies[--s->n_copies]);
}

void names_fini(struct names *s)
{
	drop_copies(s);
	free(s->copies);
	free(s->slots);
	*s = (struct names){ 0 };
}

void names_clear(struct names *s)
{
	drop_copies(s);
	s->n = 0;
	if (++s->round == 0) { /* every four thousand million objects */
		memset(s->slots, 0, s->size * sizeof(*s->slots));
		s->round = 1;
	}
}

static struct name_slot *find(const struct names *s, const char *name, size_t len)
{
	uint64_t h = UINT64_C(14695981039346656037);
	struct name_slot *slot;
	size_t i;

	for (i = 0; i < len; i++) /* FNV-1a */
		h = (h ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
	for (i = (size_t)(h ^ (h >> 32));; i++) {
		slot = &s->slots[i & (s->size - 1)];
		if (slot->round != s->round)
			return slot;
		if (slot->len == len && memcmp(slot->name, name, len) == 0)
			return slot;
	}
}

static int grow(struct names *s)
{
	struct names bigger = *s;
	size_t i;

	bigger.size = s->size ? s->size * 2 : FIRST_SIZE;
	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (i = 0; i < s->size; i++)
		if (s->slots[i].round == s->round)
			*find(&bigger, s->slots[i].name, s->slots[i].len) = s->slots[i];
	free(s->slots);
	*s = bigger;
	return 0;
}

static const char *keep(struct names *s, const char *name, size_t len)
{
	char **more = realloc(s->copies, (s->n_copies + 1) * sizeof(*more));
	char *copy = more ? malloc(len + 1) : NULL;

	if (more)
		s->copies = more;
	if (!copy)
		return NULL;
	memcpy(copy, name, len);
	copy[len] = '\0';
	s->copies[s->n_copies++] = copy;
	return copy;
}

int names_add(struct names *s, const char *name, size_t len)
{
	struct name_slot *slot;

	if (s->n * 2 >= s->size && grow(s) < 0)
		return -ENOMEM;
	slot = find(s, name, len);
	if (slot->round == s->round)
		return 0;
	if (s->copy) {
		name = keep(s, name, len);
		if (!name)
			return -ENOMEM;
	}
	*slot = (struct name_slot){ name, len, s->round };
	s->n++;
	return 1;
}
