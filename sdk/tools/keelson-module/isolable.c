/* SPDX-License-Identifier: Apache-2.0
 *
 * isolable.c - may a module run in a process of its own? What it needs, taps and adds decides it: a daemon
 * that asks another process has to wait for the answer.
 */
#include "isolable.h"

#include <stdio.h>
#include <string.h>

static bool says_so(const struct modfile_module *m, char buf[WORDS_MAX])
{
	snprintf(buf, WORDS_MAX, "it says so itself (KEEL_MOD_NO_PROCESS)");
	return (m->head.flags & KEEL_MOD_NO_PROCESS) != 0;
}

static bool needs_more(const struct modfile_module *m, char buf[WORDS_MAX])
{
	static const char *const offered[] = { "core", "object", "call", "hook", "msg", "request" };

	for (uint32_t i = 0; i < m->head.n_needs; i++) {
		bool is_offered = m->needs[i].optional != 0;

		for (size_t g = 0; g < KEEL_COUNT(offered); g++)
			is_offered = is_offered || strcmp(offered[g], m->needs[i].group) == 0;
		if (!is_offered) {
			snprintf(buf, WORDS_MAX, "it needs the service %.63s, which only code inside the daemon can use",
				 m->needs[i].group);
			return true;
		}
	}
	return false;
}

static bool cannot_wait(const struct modfile_module *m, char buf[WORDS_MAX])
{
	for (uint32_t i = 0; i < m->head.n_taps; i++) {
		const struct point_words *p = point_words(m->taps[i].point);

		if (p == NULL || (p->kind != KEEL_FOLD && (p->daemon & KEEL_INLINE) == 0))
			continue;
		snprintf(buf, WORDS_MAX, "it taps %s, %s", p->name,
			 p->kind == KEEL_FOLD ? "a FOLD: whoever adds up cannot wait" :
						"which is asked too often to wait");
		return true;
	}
	return false;
}

/* An attribute whose values would be judged or computed there. */
static bool has_functions(const struct modfile_contrib *c)
{
	const struct keel_attr_def *a = c->def;

	return a->check != NULL || a->derive != NULL || a->changed != NULL;
}

static bool adds_more(const struct modfile_module *m, char buf[WORDS_MAX])
{
	for (uint32_t i = 0; i < m->head.n_contribs; i++) {
		const struct modfile_contrib *c = &m->contribs[i];
		bool is_attr = strcmp(c->kind, "ATTR") == 0;

		if (is_attr && has_functions(c))
			snprintf(buf, WORDS_MAX, "its attribute %.63s has a function, which the daemon would have to wait for",
				 contrib_title(c));
		else if (!is_attr && strcmp(c->kind, "REQUEST") != 0)
			snprintf(buf, WORDS_MAX, "it contributes a row of kind %.63s", c->kind);
		else
			continue;
		return true;
	}
	return false;
}

const char *why_inside(const struct modfile_module *m, char buf[WORDS_MAX])
{
	return says_so(m, buf) || needs_more(m, buf) || cannot_wait(m, buf) || adds_more(m, buf) ? buf : NULL;
}
