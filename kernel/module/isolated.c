/* SPDX-License-Identifier: Apache-2.0
 *
 * isolated.c - the file of a module that runs in a process of its own: looked at, never mapped here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "isolate/isolate.h"
#include "module/inside.h"
#include "util/err.h"

static struct isolate_limits limits_of(const struct conf_isolation *how)
{
	return (struct isolate_limits){ .memory = how->memory, .deadline_ms = how->deadline_ms,
					.deaths = how->deaths, .within_ms = how->within_ms,
					.user = how->user };
}

static bool same_place(const struct conf_isolation *a, const struct conf_isolation *b)
{
	return a->process == b->process && a->memory == b->memory && a->deadline_ms == b->deadline_ms &&
	       a->deaths == b->deaths && a->within_ms == b->within_ms && strcmp(a->user, b->user) == 0;
}

/* ---- processes that are there before their modules are opened ----------------------------------------- */
struct warm {
	struct warm *prev, *next;
	struct change *change; /* NULL: it was told */
	char *name, *path;
	struct conf_isolation how;
	struct isolate *iso; /* NULL: `err` says why there is none */
	struct keel_err err;
	bool required;
	int ret;
};

static void warm_free(struct warm *w)
{
	isolate_close(w->iso);
	free(w->name);
	free(w->path);
	free(w);
}

/* Who is not required does not keep the others from it: isolated_open() says it. */
static void warm_told(void *arg, int ret, const struct keel_err *err)
{
	struct warm *w = arg;
	struct change *c = w->change;

	w->change = NULL;
	w->ret = ret;
	if (ret < 0) {
		w->err = *err;
		isolate_end_soon(w->iso);
		w->iso = NULL;
	}
	change_prepared(c, w->required ? ret : 0, err);
}

static int warm_begin(struct modules *all, const struct conf_module *said,
		      const struct conf_isolation *how, struct change *c)
{
	const struct isolate_limits limits = limits_of(how);
	struct warm *w = calloc(1, sizeof(*w));
	struct image image = { 0 };
	int ret;

	if (w == NULL)
		return -ENOMEM;
	*w = (struct warm){ .change = c, .how = *how, .required = said->required,
			    .name = strdup(said->name), .path = module_path(all, said) };
	ret = w->name != NULL && w->path != NULL ? image_look(w->path, &image, NULL) : -ENOMEM;
	image_close(&image);
	if (ret < 0) {
		warm_free(w);
		return ret;
	}
	w->ret = isolate_begin(all->parts, w->name, w->path, &limits, warm_told, w, &w->iso, &w->err);
	if (w->ret < 0)
		w->change = NULL;
	DL_APPEND(all->warm, w);
	return w->ret;
}

static bool runs_as_said(const struct modules *all, const struct conf *conf, const struct conf_module *said)
{
	const struct module *m = set_named(&all->there, said->name);

	return m != NULL && !module_differs(m, conf, said);
}

/* What is wrong here is said when the plan is made. */
void isolated_begin(struct modules *all, const struct conf *conf, const char *only, bool again,
		    struct change *c, uint32_t *ret_n)
{
	uint32_t n;
	const struct conf_module *said = conf_modules(conf, &n);

	for (uint32_t i = 0; i < n; i++) {
		struct conf_isolation how;

		if (!said[i].enabled || (only != NULL && strcmp(only, said[i].name) != 0) ||
		    conf_isolation(conf, said[i].name, &how, NULL) < 0 || !how.process ||
		    (!again && runs_as_said(all, conf, &said[i])))
			continue;
		if (warm_begin(all, &said[i], &how, c) == 0)
			++*ret_n;
	}
}

void isolated_end(struct modules *all)
{
	struct warm *w, *next;

	DL_FOREACH_SAFE(all->warm, w, next)
		warm_free(w);
	all->warm = NULL;
}

/* 1: *ret_isolate is its process; 0: there is none; -errno: it could not be opened. */
static int warm_take(struct modules *all, const char *name, const char *path,
		     const struct conf_isolation *how, struct isolate **ret_isolate, struct keel_err *err)
{
	struct warm *w;
	int ret;

	DL_FOREACH(all->warm, w) {
		if (w->change == NULL && strcmp(w->name, name) == 0 && strcmp(w->path, path) == 0 &&
		    same_place(&w->how, how))
			break;
	}
	if (w == NULL)
		return 0;
	DL_DELETE(all->warm, w);
	ret = w->ret < 0 ? w->ret : 1;
	if (err != NULL && ret < 0)
		*err = w->err;
	*ret_isolate = w->iso;
	w->iso = NULL;
	warm_free(w);
	return ret;
}

/* ---- steps that take their time ------------------------------------------------------------------------ */
static int settled(const struct module *m, const struct conf *conf, struct keel_err *err)
{
	const char *what;
	struct keel_err why;
	int ret = m->owner.isolate != NULL ? isolate_settled(m->owner.isolate, &what, &why) : 0;

	if (ret >= 0)
		return ret;
	if (strcmp(what, "check") != 0)
		return err_set(err, ret, "module %s: %s failed: %s", m->desc.name, what,
			       why.text[0] != '\0' ? why.text : "it gave no reason");
	*err = why;
	return module_objected(conf, m->desc.name, ret, err);
}

static int all_settled(const struct set *s, const struct conf *conf, struct keel_err *err)
{
	int worst = 0, ret = 0;

	for (uint32_t i = 0; i < s->n && ret >= 0; i++) {
		ret = settled(s->at[i], conf, err);
		worst |= ret;
	}
	return ret < 0 ? ret : worst;
}

int isolated_settled(const struct plan *p, struct keel_err *err)
{
	int there = all_settled(&p->all->there, p->conf, err);
	int coming = there >= 0 ? all_settled(&p->coming, p->conf, err) : 0;

	return there < 0 ? there : coming < 0 ? coming : there | coming;
}

void isolated_unsettled(const struct modules *all)
{
	for (uint32_t i = 0; i < all->there.n; i++) {
		if (all->there.at[i]->owner.isolate != NULL)
			isolate_unsettled(all->there.at[i]->owner.isolate);
	}
}

/* ---- a module --------------------------------------------------------------------------------------------- */
int isolated_open(struct modules *all, struct module *m, const struct conf_module *said,
		  const struct conf_isolation *how, struct keel_err *err)
{
	const struct isolate_limits limits = limits_of(how);
	struct isolate **iso = &m->owner.isolate;
	char *path = module_path(all, said);
	int ret = path != NULL ? image_look(path, &m->image, err) :
				 err_set(err, -ENOMEM, "no memory to load module %s", said->name);

	free(path);
	if (ret == 0)
		ret = warm_take(all, said->name, m->image.path, how, iso, err);
	if (ret == 0 && all->change != NULL)
		return err_set(err, -EAGAIN, "module %s changed while it was looked at; ask again", said->name);
	if (ret == 0)
		ret = isolate_open(all->parts, said->name, m->image.path, &limits, iso, err);
	if (ret < 0)
		return ret;
	m->image.raw = isolate_descriptor(*iso);
	return 0;
}

bool isolated_differs(const struct module *m, const struct conf *conf)
{
	struct conf_isolation how;

	if (conf_isolation(conf, m->desc.name, &how, NULL) < 0)
		return false; /* the plan says what is wrong */
	return (how.process || m->how.process) && !same_place(&how, &m->how);
}
