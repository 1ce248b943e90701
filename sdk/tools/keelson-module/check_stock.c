/* SPDX-License-Identifier: Apache-2.0
 *
 * check_stock.c - rows of the modules that are installed, read from their files: nothing of them runs. An
 * attribute that its module would compute is stored here, and one of a type of its own becomes a plain one.
 */
#include "check_stock.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "check_letter.h"
#include "check_with.h"
#include "modfile/descriptor.h"

enum { ATTRS_MAX = 1024, TYPES_MAX = 64, MODULES_MAX = 128 };

static struct {
	struct keel_attr_def attrs[ATTRS_MAX];
	const struct keel_type_def *types[TYPES_MAX];
	struct modfile_module *modules[MODULES_MAX]; /* stay: rows point into them */
	unsigned n_attrs, n_types, n_modules;
} stock;

static void module_read(const char *dir, const char *file, const struct keel_module *but)
{
	char path[4096], why[MODFILE_WHY_MAX];
	struct modfile_module *m;
	size_t len = strlen(file);

	if (len < 4 || strcmp(file + len - 3, ".so") != 0 || stock.n_modules == MODULES_MAX)
		return;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	m = modfile_read(path, why);
	if (m != NULL && strcmp(m->head.name, but->name) != 0 && !with_is(m->head.name))
		stock.modules[stock.n_modules++] = m;
	else
		modfile_module_free(m);
}

static void types_read(const struct modfile_module *m)
{
	for (uint32_t i = 0; i < m->head.n_contribs && stock.n_types < TYPES_MAX; i++)
		if (strcmp(m->contribs[i].kind, "TYPE") == 0)
			stock.types[stock.n_types++] = m->contribs[i].def;
}

/* What a value of this type is to the mock. */
static const char *plain_type(const char *name)
{
	for (unsigned i = 0; i < stock.n_types; i++) {
		const struct keel_type_def *t = stock.types[i];

		if (strcmp(t->name, name) == 0)
			return strcmp(name, LETTER_FOR) == 0 ? LETTER_TYPE : t->flags & KEEL_TYPE_INT ? "long" : t->flags & KEEL_TYPE_KEYED ? "resource_list" : "string";
	}
	return name;
}

static bool brings(const struct keel_module *m, const struct keel_attr_def *a)
{
	for (uint32_t i = 0; i < m->n_contribs; i++) {
		const struct keel_attr_def *own = m->contribs[i].def;

		if (strcmp(m->contribs[i].kind, "ATTR") == 0 && strcmp(own->klass, a->klass) == 0 &&
		    strcasecmp(own->name, a->name) == 0)
			return true;
	}
	return false;
}

/* Classes of the mock. */
static bool is_class(const char *name)
{
	static const char *const classes[] = { "job", "queue", "node", "server", "sched", "resource" };

	for (size_t i = 0; i < KEEL_COUNT(classes); i++)
		if (strcmp(classes[i], name) == 0)
			return true;
	return false;
}

const char *stock_owner(const struct keel_attr_def *a)
{
	for (unsigned i = 0; i < stock.n_modules; i++)
		for (uint32_t c = 0; c < stock.modules[i]->head.n_contribs; c++) {
			const struct modfile_contrib *row = &stock.modules[i]->contribs[c];
			const struct keel_attr_def *theirs = row->def;

			if (strcmp(row->kind, "ATTR") == 0 && strcmp(theirs->klass, a->klass) == 0 &&
			    strcasecmp(theirs->name, a->name) == 0)
				return stock.modules[i]->head.name;
		}
	return NULL;
}

bool stock_has_class(const char *name, const struct keel_module *own)
{
	bool found = is_class(name);

	for (uint32_t i = 0; i < own->n_contribs && !found; i++)
		found = strcmp(own->contribs[i].kind, "CLASS") == 0 &&
			strcmp(((const struct keel_class_def *)own->contribs[i].def)->name, name) == 0;
	for (unsigned i = 0; i < stock.n_modules; i++)
		for (uint32_t c = 0; c < stock.modules[i]->head.n_contribs && !found; c++) {
			const struct modfile_contrib *row = &stock.modules[i]->contribs[c];

			found = strcmp(row->kind, "CLASS") == 0 &&
				strcmp(((const struct keel_class_def *)row->def)->name, name) == 0;
		}
	return found;
}

static void attrs_read(const struct modfile_module *m, const struct keel_module *but)
{
	for (uint32_t i = 0; i < m->head.n_contribs && stock.n_attrs < ATTRS_MAX; i++) {
		const struct keel_attr_def *a = m->contribs[i].def;
		struct keel_attr_def *to = &stock.attrs[stock.n_attrs];

		if (strcmp(m->contribs[i].kind, "ATTR") != 0 || !is_class(a->klass) || brings(but, a))
			continue;
		memset(to, 0, sizeof(*to));
		memcpy(to, a, a->size < sizeof(*to) ? a->size : sizeof(*to));
		to->size = sizeof(*to);
		to->type = plain_type(a->type);
		to->fallback = to->type == a->type ? to->fallback : NULL;
		to->check = NULL;
		to->derive = NULL;
		to->changed = NULL;
		stock.n_attrs++;
	}
}

void stock_read(const char *dir, const struct keel_module *but)
{
	DIR *d = dir == NULL ? NULL : opendir(dir);

	for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
		module_read(dir, e->d_name, but);
	if (d != NULL)
		closedir(d);
	for (unsigned i = 0; i < stock.n_modules; i++)
		types_read(stock.modules[i]);
	for (unsigned i = 0; i < stock.n_modules; i++)
		attrs_read(stock.modules[i], but);
}

void stock_give(struct keel_mock *mock)
{
	letter_give(mock);
	for (unsigned i = 0; i < stock.n_attrs; i++)
		keel_mock_attr_def(mock, &stock.attrs[i]);
}

const struct keel_attr_def *stock_attr(unsigned i)
{
	return i < stock.n_attrs ? &stock.attrs[i] : NULL;
}
