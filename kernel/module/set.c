/* SPDX-License-Identifier: Apache-2.0
 *
 * set.c - some modules, in an order. The modules are not the set's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module/inside.h"

struct module *set_named(const struct set *s, const char *name)
{
	struct module *m;

	SET_EACH(s, m) {
		if (strcmp(m->desc.name, name) == 0)
			return m;
	}
	return NULL;
}

int set_reserve(struct set *s, uint32_t more)
{
	struct module **at;

	if (s->n + more <= s->room)
		return 0;
	at = reallocarray(s->at, s->n + more, sizeof(*at));
	if (at == NULL)
		return -ENOMEM;
	s->at = at;
	s->room = s->n + more;
	return 0;
}

int set_add(struct set *s, struct module *m)
{
	if (set_reserve(s, 1) < 0)
		return -ENOMEM;
	s->at[s->n++] = m;
	return 0;
}

void set_drop(struct set *s, const struct module *m)
{
	uint32_t i = 0;

	while (i < s->n && s->at[i] != m)
		i++;
	if (i == s->n)
		return;
	s->n--;
	memmove(&s->at[i], &s->at[i + 1], (s->n - i) * sizeof(s->at[0]));
}

bool set_has(const struct set *s, const struct module *m)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->at[i] == m)
			return true;
	}
	return false;
}

void set_fini(struct set *s)
{
	free(s->at);
	*s = (struct set){ 0 };
}
