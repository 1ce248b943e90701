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

int set_add(struct set *s, struct module *m)
{
	struct module **at = s->n < s->room ? s->at : reallocarray(s->at, s->room + 16, sizeof(*at));

	if (at == NULL)
		return -ENOMEM;
	s->room += s->n < s->room ? 0 : 16;
	s->at = at;
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

void set_fini(struct set *s)
{
	free(s->at);
	*s = (struct set){ 0 };
}
