/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - who can be there together, and who must be there before whom.
 *
 * A module comes after those that offer what it needs and after those it requires; else modules keep
 * the order they are given in. An optional need counts as long as it leads to no loop. So do the classes and
 * types of its attributes. And whoever brings classes comes before those who bring none, for their init() looks
 * attributes up that no row of theirs names.
 */
#include <errno.h>
#include <string.h>

#include "module/inside.h"
#include "registry/registry.h"
#include "util/err.h"

static const struct keel_service_def *offer_of(const struct module *m, const char *group)
{
	for (uint32_t i = 0; i < m->desc.n_contribs; i++) {
		const struct keel_contrib *c = &m->desc.contribs[i];
		const struct keel_service_def *def = c->def;

		if (c->kind != NULL && def != NULL && strcmp(c->kind, "SERVICE") == 0 &&
		    def->size > offsetof(struct keel_service_def, doc) && def->name != NULL && strcmp(def->name, group) == 0)
			return def;
	}
	return NULL;
}

/* Rows of CLASS and of TYPE begin alike: size, flags, name. */
static bool brings(const struct module *m, const char *kind, const char *name)
{
	for (uint32_t i = 0; i < m->desc.n_contribs; i++) {
		const struct keel_contrib *c = &m->desc.contribs[i];
		const struct keel_class_def *def = c->def;

		if (c->kind != NULL && def != NULL && strcmp(c->kind, kind) == 0 &&
		    (name == NULL || (def->name != NULL && strcmp(def->name, name) == 0)))
			return true;
	}
	return false;
}

/* Has `m` attributes of a class or a type that `other` brings? */
static bool speaks_of(const struct module *m, const struct module *other)
{
	for (uint32_t i = 0; m != other && i < m->desc.n_contribs; i++) {
		const struct keel_contrib *c = &m->desc.contribs[i];
		const struct keel_attr_def *def = c->def;

		if (c->kind == NULL || def == NULL || strcmp(c->kind, "ATTR") != 0)
			continue;
		if ((def->klass != NULL && brings(other, "CLASS", def->klass)) ||
		    (def->type != NULL && brings(other, "TYPE", def->type)))
			return true;
	}
	return false;
}

static bool listed(const char *const *names, const char *name)
{
	for (; names != NULL && *names != NULL; names++) {
		if (strcmp(*names, name) == 0)
			return true;
	}
	return false;
}

bool module_follows(const struct module *m, const struct module *other, bool optional)
{
	if (m == other)
		return false;
	if (listed(m->desc.requires_modules, other->desc.name))
		return true;
	NEED_EACH(&m->desc, need)
		if (need->klass == NULL && (optional || !need->optional) && offer_of(other, need->name) != NULL)
			return true;
	return false;
}

/* ---- what is missing ------------------------------------------------------------------------------- */
static const struct module *offerer(const struct set *s, const char *group,
				    const struct keel_service_def **ret_def)
{
	for (uint32_t i = 0; i < s->n; i++) {
		*ret_def = offer_of(s->at[i], group);
		if (*ret_def != NULL)
			return s->at[i];
	}
	return NULL;
}

bool set_offers(const struct set *s, const char *group)
{
	const struct keel_service_def *def;

	return offerer(s, group, &def) != NULL;
}

static int need_lint(struct modules *all, const struct set *s, const struct module *m,
		     const struct keel_need *need, struct keel_err *err)
{
	const struct keel_service_def *def = NULL;
	const struct module *other = offerer(s, need->name, &def);
	struct keel_err why = { 0 };

	if (other != NULL && def->version >= need->minor)
		return 0;
	if (other != NULL)
		return err_set(err, -EPROTO,
			       "module %s needs service '%s' of version %u, module %s offers %u; "
			       "upgrade %s",
			       m->desc.name, need->name, need->minor, other->desc.name,
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
		if (set_named(s, *name) == NULL && conf_enabled(conf, *name) == NULL)
			return err_set(err, -ENOENT,
				       "module %s requires module %s; enable it, or disable %s",
				       m->desc.name, *name, m->desc.name);
	}
	for (name = m->desc.conflicts; name != NULL && *name != NULL; name++) {
		if (set_named(s, *name) != NULL)
			return err_set(err, -EEXIST,
				       "modules %s and %s cannot run together; disable one of them",
				       m->desc.name, *name);
	}
	return 0;
}

static int module_fits(struct modules *all, const struct set *s, const struct module *m,
		       const struct conf *conf, struct keel_err *err)
{
	int ret = relations_lint(s, m, conf, err);

	NEED_EACH(&m->desc, need)
		if (ret == 0 && need->klass == NULL && !need->optional)
			ret = need_lint(all, s, m, need, err);
	return ret;
}

/* ---- sorting --------------------------------------------------------------------------------------- */
/* `wishes` count, too: optional needs, and what is spoken of. */
static bool comes_after(const struct module *m, const struct module *other, bool wishes)
{
	return module_follows(m, other, wishes) || (wishes && speaks_of(m, other));
}

static const struct module *unplaced_before(const struct module *m, const struct set *s, bool wishes)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (!s->at[i]->placed && comes_after(m, s->at[i], wishes))
			return s->at[i];
	}
	return NULL;
}

static struct module *next_free(const struct set *s, bool wishes, bool early)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (!s->at[i]->placed && (s->at[i]->early || !early) &&
		    unplaced_before(s->at[i], s, wishes) == NULL)
			return s->at[i];
	}
	return NULL;
}

/* Whoever brings a class is early, and all that must be there before him. */
static void mark_early(const struct set *s)
{
	bool more = true;

	for (uint32_t i = 0; i < s->n; i++)
		s->at[i]->early = brings(s->at[i], "CLASS", NULL);
	while (more) {
		more = false;
		for (uint32_t i = 0; i < s->n; i++) {
			for (uint32_t k = 0; k < s->n && s->at[i]->early; k++) {
				if (!s->at[k]->early && comes_after(s->at[i], s->at[k], true))
					s->at[k]->early = more = true;
			}
		}
	}
}

static struct module *next_of(const struct set *s)
{
	struct module *m = next_free(s, true, true);

	if (m == NULL)
		m = next_free(s, false, true);
	if (m == NULL)
		m = next_free(s, true, false);
	return m != NULL ? m : next_free(s, false, false);
}

static const struct module *first_unplaced(const struct set *s)
{
	uint32_t i = 0;

	while (s->at[i]->placed)
		i++;
	return s->at[i];
}

/* Everybody left waits for somebody left: after as many steps as there are modules we are in a loop. */
static int refuse_loop(const struct set *s, struct keel_err *err)
{
	const struct module *at = first_unplaced(s), *start;
	struct buf text;

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

	for (uint32_t i = 0; i < s->n; i++)
		s->at[i]->placed = false;
	mark_early(s);
	while (sorted.n < s->n) {
		struct module *m = next_of(s);

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
	*ret_bad = NULL;
	for (uint32_t i = 0; i < s->n; i++) {
		int ret = module_fits(all, s, s->at[i], conf, err);

		if (ret < 0) {
			*ret_bad = s->at[i];
			return ret;
		}
	}
	return set_sort(s, err);
}
