/* SPDX-License-Identifier: Apache-2.0
 *
 * isolable.c - may a module run in a process of its own? The rules are those of the daemon (keel/isolable.h).
 */
#include "isolable.h"

#include <assert.h>
#include <string.h>

#include "keel/isolable.h"

static_assert(WORDS_MAX >= KEEL_ISOLABLE_WHY, "a reason fits");

const char *why_inside(const struct modfile_module *m, char buf[WORDS_MAX])
{
	bool barred = keel_isolable_bars_flags(m->head.flags, buf);

	for (uint32_t i = 0; i < m->n_needs && !barred; i++)
		barred = m->needs[i].klass == NULL && keel_isolable_bars_need(m->needs[i].name, m->needs[i].optional, buf);
	for (uint32_t i = 0; i < m->head.n_contribs && !barred; i++) {
		const struct modfile_contrib *c = &m->contribs[i];
		const struct keel_attr_def *a = c->def; /* when it is an ATTR */
		bool is_attr = strcmp(c->kind, "ATTR") == 0;

		barred = keel_isolable_bars_row(c->kind, is_attr ? contrib_title(c) : "",
						is_attr && (a->check != NULL || a->derive != NULL || a->changed != NULL), buf);
	}
	for (uint32_t i = 0; i < m->head.n_taps && !barred; i++) {
		const struct point *p = point_find(m->taps[i].point);

		barred = p != NULL && keel_isolable_bars_tap(p->name, p->kind, p->daemon, buf);
	}
	return barred ? buf : NULL;
}
