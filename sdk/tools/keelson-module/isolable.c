/* SPDX-License-Identifier: Apache-2.0
 *
 * isolable.c - may a module run in a process of its own? The rules are those of the daemon (keel/isolable.h).
 */
#include "isolable.h"

#include <assert.h>
#include <string.h>

#include "keel/isolable.h"

static_assert(WORDS_MAX >= KEEL_ISOLABLE_WHY, "a reason fits");

static bool needs_more(const struct modfile_module *m, char why[WORDS_MAX])
{
	for (uint32_t i = 0; i < m->n_needs; i++)
		if (m->needs[i].klass == NULL && keel_isolable_bars_need(m->needs[i].name, m->needs[i].optional, why))
			return true;
	return false;
}

static bool cannot_wait(const struct modfile_module *m, char why[WORDS_MAX])
{
	for (uint32_t i = 0; i < m->head.n_taps; i++) {
		const struct point *p = point_find(m->taps[i].point);

		if (p != NULL && keel_isolable_bars_tap(p->name, p->kind, p->daemon, why))
			return true;
	}
	return false;
}

static bool adds_more(const struct modfile_module *m, char why[WORDS_MAX])
{
	for (uint32_t i = 0; i < m->head.n_contribs; i++) {
		const struct modfile_contrib *c = &m->contribs[i];
		const struct keel_attr_def *a = c->def; /* when it is an ATTR */
		bool is_attr = strcmp(c->kind, "ATTR") == 0;

		if (keel_isolable_bars_row(c->kind, is_attr ? contrib_title(c) : "",
				     is_attr && (a->check != NULL || a->derive != NULL || a->changed != NULL), why))
			return true;
	}
	return false;
}

const char *why_inside(const struct modfile_module *m, char buf[WORDS_MAX])
{
	return keel_isolable_bars_flags(m->head.flags, buf) || needs_more(m, buf) || cannot_wait(m, buf) || adds_more(m, buf) ?
		       buf : NULL;
}
