/* SPDX-License-Identifier: Apache-2.0
 *
 * loader_row.c - LOADER rows: modules that load others, by a key of their groups, instead of mapping the file.
 *
 * The modules with such rows, and those they require, are started before other files are opened. Their files are read, not
 * mapped, to find them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "modfile/descriptor.h"
#include "module/inside.h"
#include "registry/registry.h"
#include "util/err.h"

/* ---- rows -------------------------------------------------------------------------------------------------- */
static int row_add(void *arg, struct owner *owner, const void *def, struct keel_err *err)
{
	struct modules *all = arg;
	struct loader_row *row = calloc(1, sizeof(*row));

	if (row == NULL)
		return err_set(err, -ENOMEM, "no memory");
	row->owner = owner;
	row->def = def;
	DL_APPEND(all->loaders, row);
	return 0;
}

static void row_remove(void *arg, struct owner *owner, const void *def)
{
	struct modules *all = arg;
	struct loader_row *row, *next;

	(void)owner;
	DL_FOREACH_SAFE(all->loaders, row, next) {
		if (row->def != def)
			continue;
		DL_DELETE(all->loaders, row);
		free(row);
	}
}

int loaders_offer(struct modules *all)
{
	return registry_kind(all->parts->registry, &(struct registry_kind){ .name = "LOADER", .add = row_add, .remove = row_remove,
									    .arg = all, .row_size = sizeof(struct keel_loader_def) });
}

bool loader_key(const void *modules, const char *key)
{
	const struct modules *all = modules;
	const struct loader_row *row;

	DL_FOREACH(all->loaders, row) {
		if (strcmp(row->def->name, key) == 0 || (row->def->group != NULL && strcmp(row->def->group, key) == 0))
			return true;
	}
	return false;
}

/* ---- which loader a module's group names ------------------------------------------------------------------- */
struct choice {
	int32_t choice;
};

/* The others are looked at when the module is opened. */
static bool any_key(const void *arg, const char *key)
{
	(void)arg, (void)key;
	return true;
}

static int how_read(const struct loader_row *row, const struct conf *conf, const char *name, struct how *ret,
		    struct keel_err *err)
{
	const struct keel_loader_def *d = row->def;
	const struct keel_conf_rule rule = { .size = sizeof(rule), .type = KEEL_CONF_ENUM, .key = d->name,
					     .choices = d->choices, .doc = d->doc };
	struct conf_data *data;
	int code = conf_fill(conf, name, &rule, 1, sizeof(struct choice), any_key, NULL, &data, err);

	if (code < 0)
		return code;
	ret->choice = ((const struct choice *)conf_data(data))->choice;
	conf_data_destroy(data);
	ret->row = row;
	if (d->group == NULL)
		return 0;
	return conf_fill_member(conf, name, d->group, d->conf, d->n_conf, d->conf_size, &ret->values, err);
}

static void how_fini(struct how *how)
{
	conf_data_destroy(how->values);
	*how = (struct how){ 0 };
}

int how_find(const struct modules *all, const struct conf *conf, const char *name, struct how *ret, struct keel_err *err)
{
	const struct loader_row *row;
	int code;

	*ret = (struct how){ 0 };
	DL_FOREACH(all->loaders, row) {
		code = how_read(row, conf, name, ret, err);
		if (code == 0 && ret->choice != 0)
			return 0;
		how_fini(ret);
		if (code < 0)
			return code;
	}
	return 0;
}

bool how_differs(const struct module *m, const struct conf *conf)
{
	struct how now;
	bool differs;

	if (how_find(modules_of(m), conf, m->desc.name, &now, NULL) < 0)
		return true; /* the check of the set reports it */
	differs = now.row != m->how.row || now.choice != m->how.choice ||
		  (now.row != NULL && now.values != NULL &&
		   conf_differs(now.row->def->conf, now.row->def->n_conf, m->how.values, now.values, 0) != NULL);
	how_fini(&now);
	return differs;
}

/* ---- a module ---------------------------------------------------------------------------------------------- */
int loader_open(struct module *m, const char *name, struct keel_err *err)
{
	const struct loader_row *row = m->how.row;
	const struct keel_load load = { .size = sizeof(load), .choice = (uint32_t)m->how.choice, .name = name,
					.path = m->image.path, .mod = &m->owner.pub,
					.values = m->how.values != NULL ? conf_data(m->how.values) : NULL };
	struct keel_err why = { 0 };

	m->image.raw = row->def->open(&row->owner->pub, &load, &why);
	return m->image.raw != NULL ? 0 : err_set(err, -ECHILD, "%s", why.text);
}

void loader_close(struct module *m)
{
	if (m->how.row == NULL) {
		free(m->owner.pub.state);
	} else if (m->image.raw != NULL) {
		m->how.row->def->close(&m->how.row->owner->pub, &m->owner.pub);
		m->image.raw = NULL;
		m->desc.name = m->owner.pub.name = "that was lent"; /* its texts are gone */
	}
	m->owner.pub.state = NULL;
	how_fini(&m->how);
}

/* ---- those that load others are there first ------------------------------------------------------------------ */
/* An error in a file is reported when it is opened. */
static struct modfile_module *file_read(const struct modules *all, const struct conf_module *said)
{
	char why[MODFILE_WHY_MAX], *path = module_copy(all, said->name);
	struct modfile_module *file;

	if (path == NULL)
		path = module_path(all->dir, said);
	file = path != NULL ? modfile_read(path, why) : NULL;
	free(path);
	return file;
}

/* Mark said[i], which others require, and those it requires itself. */
static void first_mark(const struct modules *all, const struct conf_module *said, uint32_t n, uint32_t i, bool *first)
{
	struct modfile_module *file;

	if (first[i] || !said[i].enabled)
		return;
	first[i] = true;
	file = file_read(all, &said[i]);
	for (const char **name = file != NULL ? file->requires_modules : NULL; name != NULL && *name != NULL; name++)
		for (uint32_t k = 0; k < n; k++)
			if (strcmp(said[k].name, *name) == 0)
				first_mark(all, said, n, k, first);
	modfile_module_free(file);
}

void loaders_find(const struct modules *all, const struct conf_module *said, uint32_t n, bool *first)
{
	for (uint32_t i = 0; i < n; i++) {
		struct modfile_module *file = said[i].enabled && !first[i] ? file_read(all, &said[i]) : NULL;
		bool loads = false;

		for (uint32_t k = 0; file != NULL && k < file->head.n_contribs; k++)
			loads = loads || strcmp(file->contribs[k].kind, "LOADER") == 0;
		modfile_module_free(file);
		if (loads)
			first_mark(all, said, n, i, first);
	}
}

int loaders_lint(const struct set *s, struct keel_err *err)
{
	const struct module *m;

	SET_EACH(s, m) {
		for (uint32_t i = 0; i < m->desc.n_contribs; i++)
			if (strcmp(m->desc.contribs[i].kind, "CLASS") == 0)
				return err_set(err, -EINVAL, "module %s loads others and so cannot bring a class", m->desc.name);
		if (m->desc.n_taps > 0)
			return err_set(err, -EINVAL, "module %s loads others and so cannot tap points", m->desc.name);
	}
	return 0;
}
