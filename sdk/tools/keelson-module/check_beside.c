/* SPDX-License-Identifier: Apache-2.0
 *
 * check_beside.c - the modules beside the one under test: those of --with, and of the installed ones those that bring the
 * classes of the stage, or a service that is needed.
 *
 * Installed modules are loaded without their taps: the kit raises the points itself, about jobs that were never submitted.
 */
#include "check_beside.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "check_host.h"
#include "check_lifecycle.h"
#include "check_static.h"
#include "modfile/descriptor.h"

enum { MODULES_MAX = 256, ATTRS_MAX = 2048, DEPTH_MAX = 32 };

struct beside {
	struct keel_module m;
	const char *conf; /* keys that must be given */
	bool spare;	  /* it offers what the subject may do without */
};

/* What is here stays until the program ends. */
static struct {
	const struct keel_module *given[MODULES_MAX], *installed[MODULES_MAX];
	struct beside chosen[MODULES_MAX]; /* each after those that it needs */
	struct keel_attr_def attrs[ATTRS_MAX];
	unsigned n_given, n_installed, n_chosen, n_attrs;
	const struct keel_module *subject;
	struct keel_mock *kernel; /* while they are chosen: offers what every module may need */
} all;

/* ---- files ------------------------------------------------------------------------------------------- */
/* NULL: the error is in *ret_why. Nothing of a file runs before it was read. */
static const struct keel_module *opened(const char *path, const char **ret_why)
{
	static char why[MODFILE_WHY_MAX];
	struct modfile_module *file = modfile_read(path, why);

	*ret_why = why;
	if (file == NULL)
		return NULL;
	modfile_module_free(file);
	return module_open(path, ret_why);
}

bool beside_open(const char *path, const char **ret_why)
{
	const struct keel_module *m;

	*ret_why = "there are too many";
	m = all.n_given < MODULES_MAX ? opened(path, ret_why) : NULL;
	if (m != NULL)
		all.given[all.n_given++] = m;
	return m != NULL;
}

static void installed_open(const char *dir, const struct keel_module *but)
{
	struct dirent **names = NULL;
	int n = scandir(dir, &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *end = strrchr(names[i]->d_name, '.'), *why;
		const struct keel_module *m = NULL;
		unsigned given = 0;
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		if (end != NULL && strcmp(end, ".so") == 0 && all.n_installed < MODULES_MAX)
			m = opened(path, &why);
		while (m != NULL && given < all.n_given && strcmp(all.given[given]->name, m->name) != 0)
			given++;
		if (m != NULL && strcmp(m->name, but->name) != 0 && given == all.n_given)
			all.installed[all.n_installed++] = m;
		free(names[i]);
	}
	free(names);
}

/* ---- what a module brings ------------------------------------------------------------------------------ */
static bool brings_attr(const struct keel_module *m, const char *klass, const char *name)
{
	for (uint32_t c = 0; c < m->n_contribs; c++) {
		const struct keel_attr_def *a = m->contribs[c].def;

		if (strcmp(m->contribs[c].kind, "ATTR") == 0 && strcmp(a->klass, klass) == 0 && strcasecmp(a->name, name) == 0)
			return true;
	}
	return false;
}

/* Rows of CLASS and of SERVICE begin alike: two numbers, the name. */
static bool brings(const struct keel_module *m, const char *kind, const char *name)
{
	for (uint32_t i = 0; i < m->n_contribs; i++)
		if (strcmp(m->contribs[i].kind, kind) == 0 &&
		    strcmp(((const struct keel_class_def *)m->contribs[i].def)->name, name) == 0)
			return true;
	return false;
}

bool beside_has_class(const char *name)
{
	for (unsigned i = 0; i < all.n_installed; i++)
		if (brings(all.installed[i], "CLASS", name))
			return true;
	return brings(all.subject, "CLASS", name);
}

const char *beside_owner(const struct keel_attr_def *a)
{
	for (unsigned i = 0; i < all.n_installed; i++)
		if (brings_attr(all.installed[i], a->klass, a->name))
			return all.installed[i]->name;
	return NULL;
}

/* ---- those that the module rests on ---------------------------------------------------------------------- */
bool beside_is(const char *name)
{
	for (unsigned i = 0; i < all.n_chosen; i++)
		if (strcmp(all.chosen[i].m.name, name) == 0)
			return true;
	return false;
}

/* What the subject brings (`depth` 0) is not there for the modules beside it: they are loaded first. */
static bool is_there(const char *kind, const char *name, int depth)
{
	for (unsigned i = 0; i < all.n_chosen; i++)
		if (brings(&all.chosen[i].m, kind, name))
			return true;
	return (depth == 0 && brings(all.subject, kind, name)) ||
	       (strcmp(kind, "SERVICE") == 0 && keel_mock_group(all.kernel, name) != NULL);
}

/* All but those of replay. */
static void taps_drop(struct keel_module *m)
{
	struct keel_tap *left = calloc(m->n_taps + 1, sizeof(*left));
	uint32_t n = 0;

	for (uint32_t i = 0; left != NULL && i < m->n_taps; i++) {
		const struct keel_tap t = tap_row(m, i);

		if (t.point == KEEL_POINT_job_known || t.point == KEEL_POINT_node_known || t.point == KEEL_POINT_resv_known)
			left[n++] = t;
	}
	if (n == 0) {
		free(left);
		left = NULL;
	}
	m->taps = left;
	m->n_taps = n;
}

static void take(const struct keel_module *m, bool taps)
{
	struct beside *b = &all.chosen[all.n_chosen++];

	*b = (struct beside){ .m = *m, .conf = config_required(m) };
	for (const struct keel_need *n = all.subject->needs; n < all.subject->needs_end; n++)
		b->spare = b->spare || (n->optional && n->klass == NULL && brings(m, "SERVICE", n->name));
	b->m.requires_modules = b->m.conflicts = NULL;
	if (!taps)
		taps_drop(&b->m);
	for (uint32_t i = 0; i < m->n_contribs && all.n_attrs < ATTRS_MAX; i++) {
		const struct keel_attr_def *a = m->contribs[i].def;

		if (strcmp(m->contribs[i].kind, "ATTR") == 0)
			memcpy(&all.attrs[all.n_attrs++], a, a->size < sizeof(*a) ? a->size : sizeof(*a));
	}
}

static bool need_find(const struct keel_need *n, int depth);
static bool required_find(const struct keel_module *m, int depth);

/* Take m, and before it what it rests on; false: something of that is not there. */
static bool add(const struct keel_module *m, bool taps, int depth)
{
	if (beside_is(m->name))
		return true;
	if (all.n_chosen == MODULES_MAX || depth > DEPTH_MAX || (m->roles & all.subject->roles) == 0)
		return false;
	for (uint32_t i = 0; i < m->n_contribs; i++) { /* the subject, or the kit (host_offer()), is made to take its place */
		const char *kind = m->contribs[i].kind, *name = ((const struct keel_class_def *)m->contribs[i].def)->name;
		bool service = strcmp(kind, "SERVICE") == 0;

		if (((service || strcmp(kind, "CLASS") == 0) && brings(all.subject, kind, name)) ||
		    (service && keel_mock_group(all.kernel, name) != NULL))
			return false;
	}
	for (const struct keel_need *n = m->needs; n < m->needs_end; n++)
		if (!n->optional && !(n->klass != NULL && brings_attr(m, n->klass, n->name)) && !need_find(n, depth + 1))
			return false;
	if (!required_find(m, depth + 1))
		return false;
	if (!beside_is(m->name))
		take(m, taps);
	return true;
}

/* Returns whether a module is there that brings it, after taking one if there was none. */
static bool find(const char *kind, const char *name, int depth)
{
	for (unsigned i = 0; i < all.n_given && !is_there(kind, name, depth); i++)
		if (brings(all.given[i], kind, name))
			(void)add(all.given[i], true, depth);
	for (unsigned i = 0; i < all.n_installed && !is_there(kind, name, depth); i++)
		if (brings(all.installed[i], kind, name))
			(void)add(all.installed[i], false, depth);
	return is_there(kind, name, depth);
}

/* A service, or an attribute. */
static bool need_find(const struct keel_need *n, int depth)
{
	bool found = n->klass != NULL && brings_attr(all.subject, n->klass, n->name);

	if (n->klass == NULL)
		return find("SERVICE", n->name, depth);
	for (unsigned i = 0; i < all.n_chosen && !found; i++)
		found = brings_attr(&all.chosen[i].m, n->klass, n->name);
	for (unsigned i = 0; i < all.n_installed && !found; i++)
		found = brings_attr(all.installed[i], n->klass, n->name) && add(all.installed[i], false, depth);
	return found;
}

static bool required_find(const struct keel_module *m, int depth)
{
	bool all_there = true;

	for (const char *const *name = m->requires_modules; name != NULL && *name != NULL; name++) {
		for (unsigned i = 0; i < all.n_installed && !beside_is(*name); i++)
			if (strcmp(all.installed[i]->name, *name) == 0)
				(void)add(all.installed[i], false, depth);
		all_there = all_there && beside_is(*name);
	}
	return all_there;
}

const char *beside_choose(const char *dir, const struct keel_module *subject)
{
	static const char *const classes[] = { "resource", "queue", "node", "server", "job", "sched" };
	const char *missing = NULL;

	all.subject = subject;
	all.kernel = keel_mock_new(subject->roles);
	if (!brings(subject, "SERVICE", "task"))
		host_offer(all.kernel);
	installed_open(dir, subject);
	for (size_t i = 0; i < KEEL_COUNT(classes); i++)
		(void)find("CLASS", classes[i], 0);
	(void)required_find(subject, 0);
	for (const struct keel_need *n = subject->needs; n < subject->needs_end; n++)
		if (!need_find(n, 0) && !n->optional && n->klass == NULL && missing == NULL)
			missing = n->name;
	for (unsigned i = 0; i < all.n_given; i++)
		if (!add(all.given[i], true, 0))
			take(all.given[i], true); /* loading it says what it lacks */
	keel_mock_free(all.kernel);
	return missing;
}

bool beside_has_spare(void)
{
	for (unsigned i = 0; i < all.n_chosen; i++)
		if (all.chosen[i].spare)
			return true;
	return false;
}

const struct keel_attr_def *beside_attr(unsigned i)
{
	return i < all.n_attrs ? &all.attrs[i] : NULL;
}

/* What rests on a spare one stays away with it. */
bool beside_load(struct keel_mock *mock, bool optional, struct keel_err *err)
{
	if (!brings(all.subject, "SERVICE", "task"))
		host_offer(mock);
	for (unsigned i = 0; i < all.n_chosen; i++)
		if ((optional || !all.chosen[i].spare) &&
		    keel_mock_load(mock, &all.chosen[i].m, all.chosen[i].conf, err) == NULL && optional)
			return false;
	return true;
}
