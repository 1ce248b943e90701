/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - who must be there before whom.
 *
 * A module comes after those that offer what it needs and after those it requires; else modules keep
 * the order of the configuration. An optional need counts as long as it leads to no loop.
 */
#include <errno.h>
#include <string.h>
#include <utlist.h>

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
	for (uint32_t i = 0; i < m->desc.n_needs; i++) {
		const struct keel_need *need = &m->desc.needs[i];

		if ((optional || !need->optional) && offer_of(other, need->group) != NULL)
			return true;
	}
	return false;
}

/* ---- sorting --------------------------------------------------------------------------------------- */
static const struct module *unplaced_before(const struct module *m, const struct module *list,
					    bool optional)
{
	const struct module *other;

	DL_FOREACH(list, other) {
		if (!other->placed && module_follows(m, other, optional))
			break;
	}
	return other;
}

static struct module *next_free(struct module *list, bool optional)
{
	struct module *m;

	DL_FOREACH(list, m) {
		if (!m->placed && unplaced_before(m, list, optional) == NULL)
			break;
	}
	return m;
}

static const struct module *first_unplaced(const struct module *list)
{
	const struct module *m;

	DL_FOREACH(list, m) {
		if (!m->placed)
			break;
	}
	return m;
}

/* Everybody left waits for somebody left: after as many steps as there are modules we are in a loop. */
static int refuse_loop(const struct module *list, struct keel_err *err)
{
	const struct module *m, *at = first_unplaced(list), *start;
	struct buf text;

	DL_FOREACH(list, m)
		at = unplaced_before(at, list, false);
	buf_init(&text);
	start = at;
	do {
		buf_printf(&text, "%s needs ", at->desc.name);
		at = unplaced_before(at, list, false);
	} while (at != start);
	buf_str(&text, start->desc.name);
	err_set(err, -ELOOP, "modules need each other: %s; disable one of them",
		text.failed ? "there is a loop" : text.data);
	buf_fini(&text);
	return -ELOOP;
}

/* ---- what is missing ------------------------------------------------------------------------------- */
static int need_lint(struct modules *all, const struct module *list, const struct module *m,
		     const struct keel_need *need, struct keel_err *err)
{
	const struct keel_service_def *def = NULL;
	const struct module *other;
	struct keel_err why = { 0 };
	struct owner *owner;

	DL_FOREACH(list, other) {
		def = offer_of(other, need->group);
		if (def != NULL)
			break;
	}
	if (def != NULL && def->version >= need->minor)
		return 0;
	if (def != NULL)
		return err_set(err, -EPROTO,
			       "module %s needs service '%s' of version %u, module %s offers %u; "
			       "upgrade %s",
			       m->desc.name, need->group, need->minor, other->desc.name,
			       def->version, other->desc.name);
	if (registry_service(all->parts->registry, need->group, need->minor, &owner, &why) != NULL) {
		if (owner == NULL || !((const struct module *)owner)->leaves)
			return 0;
		err_set(&why, 0, "module %s, which offers the service '%s', is being disabled",
			owner->pub.name, need->group);
	}
	return err_set(err, -ENOENT, "module %s cannot be loaded: %s", m->desc.name, why.text);
}

static int needs_lint(struct modules *all, const struct module *list, struct keel_err *err)
{
	const struct module *m;
	int ret = 0;

	DL_FOREACH(list, m) {
		for (uint32_t i = 0; i < m->desc.n_needs && ret == 0; i++) {
			if (!m->desc.needs[i].optional)
				ret = need_lint(all, list, m, &m->desc.needs[i], err);
		}
		if (ret < 0)
			break;
	}
	return ret;
}

int modules_order(struct modules *all, struct module **list, struct keel_err *err)
{
	struct module *first = NULL, **end = &first, *m, *next;
	int ret = needs_lint(all, *list, err);

	if (ret < 0)
		return ret;
	DL_FOREACH(*list, m)
		m->placed = false;
	while (first_unplaced(*list) != NULL) {
		m = next_free(*list, true);
		if (m == NULL)
			m = next_free(*list, false);
		if (m == NULL)
			return refuse_loop(*list, err);
		m->placed = true;
		m->order_next = NULL;
		*end = m;
		end = &m->order_next;
	}
	*list = NULL;
	for (m = first; m != NULL; m = next) {
		next = m->order_next;
		DL_APPEND(*list, m);
	}
	return 0;
}

/* ---- requires, conflicts --------------------------------------------------------------------------- */
const struct conf_module *conf_enabled(const struct conf *conf, const char *name)
{
	uint32_t n;
	const struct conf_module *said = conf_modules(conf, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (said[i].enabled && strcmp(said[i].name, name) == 0)
			return &said[i];
	}
	return NULL;
}

static int relation_lint(const struct module *m, const struct conf *conf, struct keel_err *err)
{
	const char *const *name;

	for (name = m->desc.requires_modules; name != NULL && *name != NULL; name++) {
		if (conf_enabled(conf, *name) == NULL)
			return err_set(err, -ENOENT,
				       "module %s requires module %s; enable it, or disable %s",
				       m->desc.name, *name, m->desc.name);
	}
	for (name = m->desc.conflicts; name != NULL && *name != NULL; name++) {
		if (conf_enabled(conf, *name) != NULL)
			return err_set(err, -EEXIST,
				       "modules %s and %s cannot run together; disable one of them",
				       m->desc.name, *name);
	}
	return 0;
}

/* A required module that this daemon does not run, being for another one, is there. */
int modules_relations(const struct module *list, const struct conf *conf, struct keel_err *err)
{
	const struct module *m;
	int ret = 0;

	DL_FOREACH(list, m) {
		ret = relation_lint(m, conf, err);
		if (ret < 0)
			break;
	}
	return ret;
}
