/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - sets of modules: which can be there together, and which must be there before others.
 *
 * A module comes after those that offer what it needs and after those it requires; else modules keep
 * the order they are given in. An optional need counts as long as it leads to no loop. So do the classes and
 * types of its attributes. And those that bring classes come before those that bring none, for their init() looks
 * attributes up that no row of theirs names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module/inside.h"
#include "registry/registry.h"
#include "util/err.h"

/* ---- sets -------------------------------------------------------------------------------------------- */
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

/* ---- what a module brings, and which come after others ---------------------------------------------------- */
/* Its row of that kind and name (NULL: any). Rows of SERVICE, CLASS, TYPE and SCOPE begin alike: size, a number, name. */
const void *module_row(const struct module *m, const char *kind, const char *name)
{
	for (uint32_t i = 0; i < m->desc.n_contribs; i++) {
		const struct keel_contrib *c = &m->desc.contribs[i];
		const struct keel_class_def *def = c->def;

		if (c->kind != NULL && def != NULL && strcmp(c->kind, kind) == 0 &&
		    def->size >= offsetof(struct keel_class_def, doc) &&
		    (name == NULL || (def->name != NULL && strcmp(def->name, name) == 0)))
			return def;
	}
	return NULL;
}

/* Has `m` attributes of a class or a type that `other` brings? */
static bool speaks_of(const struct module *m, const struct module *other)
{
	for (uint32_t i = 0; m != other && i < m->desc.n_contribs; i++) {
		const struct keel_contrib *c = &m->desc.contribs[i];
		const struct keel_attr_def *def = c->def;

		if (c->kind == NULL || def == NULL || strcmp(c->kind, "ATTR") != 0)
			continue;
		if ((def->klass != NULL && module_row(other, "CLASS", def->klass) != NULL) ||
		    (def->type != NULL && module_row(other, "TYPE", def->type) != NULL))
			return true;
	}
	return false;
}

bool module_follows(const struct module *m, const struct module *other, bool wishes)
{
	if (m == other)
		return false;
	for (const char *const *name = m->desc.requires_modules; name != NULL && *name != NULL; name++)
		if (strcmp(*name, other->desc.name) == 0)
			return true;
	NEED_EACH(&m->desc, need)
		if (need->klass == NULL && (wishes || !need->optional) && module_row(other, "SERVICE", need->name) != NULL)
			return true;
	return wishes && speaks_of(m, other);
}

/* ---- what is missing ------------------------------------------------------------------------------- */
const struct module *set_bringer(const struct set *s, const char *kind, const char *name)
{
	const struct module *m;

	SET_EACH(s, m)
		if (module_row(m, kind, name) != NULL)
			return m;
	return NULL;
}

static int need_lint(struct modules *all, const struct set *s, const struct module *m,
		     const struct keel_need *need, struct keel_err *err)
{
	const struct module *other = set_bringer(s, "SERVICE", need->name);
	const struct keel_service_def *def = other != NULL ? module_row(other, "SERVICE", need->name) : NULL;
	struct keel_err why = { 0 };

	if (def != NULL && def->version >= need->minor)
		return 0;
	if (def != NULL)
		return err_set(err, -EPROTO, "module %s needs service '%s' of version %u, module %s offers %u; "
			       "upgrade %s", m->desc.name, need->name, need->minor, other->desc.name,
			       def->version, other->desc.name);
	if (registry_service(all->parts->registry, need->name, need->minor, NULL, &why) != NULL)
		return 0;
	return err_set(err, -ENOENT, "module %s cannot be loaded: %s", m->desc.name, why.text);
}

/* A required module that this daemon does not run, being for another one, is there: the configuration
 * says so. */
int relations_lint(const struct set *s, const struct module *m, const struct conf *conf, struct keel_err *err)
{
	const char *const *name;

	for (name = m->desc.requires_modules; name != NULL && *name != NULL; name++) {
		const struct conf_module *other = conf_module(conf, *name);

		if (set_named(s, *name) == NULL && (other == NULL || !other->enabled))
			return err_set(err, -ENOENT, "module %s requires module %s; enable it, or disable %s",
				       m->desc.name, *name, m->desc.name);
	}
	for (name = m->desc.conflicts; name != NULL && *name != NULL; name++) {
		if (set_named(s, *name) != NULL)
			return err_set(err, -EEXIST, "modules %s and %s cannot run together; disable one of them",
				       m->desc.name, *name);
	}
	return 0;
}

/* ---- sorting --------------------------------------------------------------------------------------- */
static const struct module *unplaced_before(const struct module *m, const struct set *s, bool wishes)
{
	const struct module *other;

	SET_EACH(s, other)
		if (!other->placed && module_follows(m, other, wishes))
			return other;
	return NULL;
}

/* A module that brings a class is early, and all that must be there before it. */
static void mark_early(const struct set *s, struct module *m)
{
	struct module *other;

	m->early = true;
	SET_EACH(s, other)
		if (!other->early && module_follows(m, other, true))
			mark_early(s, other);
}

/* Of the early ones first; wishes count where that leads to no loop. */
static struct module *next_of(const struct set *s)
{
	struct module *m;

	for (int round = 0; round < 4; round++)
		SET_EACH(s, m)
			if (!m->placed && (m->early || round >= 2) && unplaced_before(m, s, round % 2 == 0) == NULL)
				return m;
	return NULL;
}

/* Each that is left waits for another one: after as many steps as there are modules we are in a loop. */
static int refuse_loop(const struct set *s, struct keel_err *err)
{
	const struct module *at = s->at[0], *start;
	struct buf text;

	for (uint32_t i = 0; at->placed; i++)
		at = s->at[i];
	for (uint32_t i = 0; i < s->n; i++)
		at = unplaced_before(at, s, false);
	buf_init(&text);
	start = at;
	do {
		buf_printf(&text, "%s needs ", at->desc.name);
		at = unplaced_before(at, s, false);
	} while (at != start);
	buf_str(&text, start->desc.name);
	err_set(err, -ELOOP, "modules need each other: %s; disable one of them",
		text.failed ? "there is a loop" : text.data);
	buf_fini(&text);
	return -ELOOP;
}

static int set_sort(struct set *s, struct keel_err *err)
{
	struct set sorted = { 0 };

	struct module *m;

	SET_EACH(s, m)
		m->placed = m->early = false;
	SET_EACH(s, m)
		if (!m->early && module_row(m, "CLASS", NULL) != NULL)
			mark_early(s, m);
	while (sorted.n < s->n) {
		m = next_of(s);
		if (m == NULL) {
			set_fini(&sorted);
			return refuse_loop(s, err);
		}
		m->placed = true;
		if (set_add(&sorted, m) < 0) {
			set_fini(&sorted);
			return err_set(err, -ENOMEM, "no memory to order modules");
		}
	}
	set_fini(s);
	*s = sorted;
	return 0;
}

int set_order(struct modules *all, struct set *s, const struct conf *conf, struct module **ret_bad,
	      struct keel_err *err)
{
	struct module *m;
	int ret;

	SET_EACH(s, m) {
		*ret_bad = m;
		ret = relations_lint(s, m, conf, err);
		NEED_EACH(&m->desc, need)
			if (ret == 0 && need->klass == NULL && !need->optional)
				ret = need_lint(all, s, m, need, err);
		if (ret < 0)
			return ret;
	}
	*ret_bad = NULL;
	return set_sort(s, err);
}
