/* SPDX-License-Identifier: Apache-2.0
 *
 * reload.c - make the running set that of a new configuration.
 *
 * Phase 1 has no effect: who leaves, who is replaced because its file changed, who must go and come back
 * with them because it holds their services, whose values changed; everything is opened, checked and
 * asked whether it is busy. A refusal there changes nothing.
 * Phase 2: new values, then out in reverse order, then in, in order, with replay to the new ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/hooks.h"
#include "module/inside.h"
#include "util/err.h"

struct plan {
	struct modules *all;
	const struct conf *conf;
	struct module *coming; /* opened: new ones and heirs of those that leave */
	struct buf *out;
};

/* ---- phase 1: who leaves ------------------------------------------------------------------------- */
static bool file_differs(const struct plan *p, const struct module *m,
			 const struct conf_module *said)
{
	char *path = module_path(p->all, said);
	bool moved = path != NULL && strcmp(path, m->image.path) != 0;

	free(path);
	return moved || image_changed(&m->image);
}

static void mark(struct plan *p)
{
	struct module *m;

	DL_FOREACH(p->all->list, m) {
		const struct conf_module *said = conf_enabled(p->conf, m->desc.name);

		m->leaves = said == NULL;
		m->comes = false;
		if (said == NULL || (!file_differs(p, m, said) && !isolated_differs(m, p->conf)))
			continue;
		if (m->desc.flags & KEEL_MOD_RESIDENT)
			buf_printf(p->out, "%s: its file changed; it will be used after a restart\n",
				   m->desc.name);
		else
			m->leaves = m->comes = true;
	}
}

/* `m` stays, and `other` does not stay as it is. */
static int mark_user(struct module *m, const struct module *other, bool *again,
		     struct keel_err *err)
{
	if (m->leaves || !other->leaves || !module_follows(m, other, true))
		return 0;
	if (!other->comes && module_follows(m, other, false))
		return err_set(err, -EBUSY, "module %s is needed by module %s; disable %s too",
			       other->desc.name, m->desc.name, m->desc.name);
	m->leaves = m->comes = *again = true;
	return 0;
}

/* Whoever holds a service of a module that leaves must go with it, and come back. */
static int mark_users(struct plan *p, struct keel_err *err)
{
	struct module *m, *other;
	bool again = true;
	int ret;

	while (again) {
		again = false;
		DL_FOREACH(p->all->list, m) {
			DL_FOREACH(p->all->list, other) {
				ret = mark_user(m, other, &again, err);
				if (ret < 0)
					return ret;
			}
		}
	}
	return 0;
}

static int ask_busy(struct plan *p, struct keel_err *err)
{
	struct keel_err why;
	struct module *m;
	struct buf reasons;
	int ret = 0;

	buf_init(&reasons);
	DL_FOREACH(p->all->list, m) {
		if (!m->leaves || module_busy(m, &why) == 0)
			continue;
		buf_printf(&reasons, "%s%s", reasons.len > 0 ? "; " : "", why.text);
		ret = -EBUSY;
	}
	if (ret < 0)
		err_set(err, ret, "nothing was changed: %s",
			reasons.failed ? "modules are busy" : reasons.data);
	buf_fini(&reasons);
	return ret;
}

/* ---- phase 1: who comes, what changes ------------------------------------------------------------ */
static int prepare_values(struct plan *p, struct module *m, struct keel_err *err)
{
	const struct keel_module *d = &m->desc;
	const char *key;
	int ret = module_configure(m, p->conf, &m->fresh, err);

	if (ret < 0)
		return ret;
	key = conf_differs(m->rules, d->n_conf, m->conf, m->fresh, KEEL_CONF_RESTART);
	if (key != NULL)
		return err_set(err, -EBUSY,
			       "%s.%s cannot change while the daemon runs; restart it, or take the "
			       "change back",
			       d->name, key);
	if (conf_differs(m->rules, d->n_conf, m->conf, m->fresh, 0) == NULL) {
		conf_data_destroy(m->fresh);
		m->fresh = NULL;
	}
	return 0;
}

static struct module *running(const struct modules *all, const char *name)
{
	struct module *m;

	DL_FOREACH(all->list, m) {
		if (strcmp(m->desc.name, name) == 0)
			break;
	}
	return m;
}

static int prepare_one(struct plan *p, const struct conf_module *said, struct keel_err *err)
{
	struct module *m = running(p->all, said->name), *fresh;
	int ret;

	if (m != NULL && !m->leaves)
		return prepare_values(p, m, err);
	ret = module_open(p->all, p->conf, said, m != NULL && image_changed(&m->image), &fresh, err);
	if (ret == 0 && fresh != NULL)
		DL_APPEND(p->coming, fresh);
	return ret;
}

static int prepare(struct plan *p, struct keel_err *err)
{
	uint32_t n;
	const struct conf_module *said = conf_modules(p->conf, &n);
	int ret = 0;

	for (uint32_t i = 0; i < n && ret == 0; i++) {
		if (said[i].enabled)
			ret = prepare_one(p, &said[i], err);
	}
	if (ret == 0)
		ret = modules_relations(p->all->list, p->conf, err);
	if (ret == 0)
		ret = modules_relations(p->coming, p->conf, err);
	return ret == 0 ? modules_order(p->all, &p->coming, err) : ret;
}

static void forget(struct plan *p)
{
	struct module *m;

	modules_close(p->coming);
	DL_FOREACH(p->all->list, m) {
		conf_data_destroy(m->fresh);
		m->fresh = NULL;
		m->leaves = m->comes = false;
	}
}

/* ---- phase 2 --------------------------------------------------------------------------------------- */
/* Exchange m->conf and m->fresh, and tell the module. */
static int swap_values(struct module *m, struct keel_err *err)
{
	struct conf_data *old = m->conf;
	struct keel_err why = { 0 };
	int ret;

	m->conf = m->fresh;
	m->fresh = old;
	m->owner.pub.conf = conf_data(m->conf);
	ret = m->desc.reconf != NULL ? m->desc.reconf(&m->owner.pub, m->owner.pub.conf, &why) : 0;
	if (ret == 0)
		return 0;
	return err_set(err, ret < 0 ? ret : -EINVAL,
		       "module %s does not take its new configuration: %s", m->desc.name,
		       why.text[0] != '\0' ? why.text : "it gave no reason");
}

/* All of them, or the old values again for those that have new ones already. */
static int values_apply(struct plan *p, struct keel_err *err)
{
	struct module *m, *bad = NULL;
	int ret = 0;

	DL_FOREACH(p->all->list, m) {
		if (m->fresh == NULL)
			continue;
		ret = swap_values(m, err);
		if (ret < 0) {
			bad = m;
			break;
		}
	}
	if (bad == NULL)
		return 0;
	DL_FOREACH(p->all->list, m) {
		if (m->fresh != NULL)
			(void)swap_values(m, NULL);
		if (m == bad)
			break;
	}
	return ret;
}

static void values_tell(struct plan *p)
{
	struct module *m;

	DL_FOREACH(p->all->list, m) {
		if (m->fresh == NULL)
			continue;
		buf_printf(p->out, "%s: configuration changed\n", m->desc.name);
		conf_data_destroy(m->fresh);
		m->fresh = NULL;
	}
}

static void leave(struct plan *p)
{
	struct module *m, *before;

	for (m = p->all->list != NULL ? p->all->list->prev : NULL; m != NULL; m = before) {
		before = m == p->all->list ? NULL : m->prev;
		if (!m->leaves)
			continue;
		buf_printf(p->out, "%s: unloaded\n", m->desc.name);
		DL_DELETE(p->all->list, m);
		module_unload(p->all, m);
	}
}

static int come_up(struct module *m, struct keel_err *err)
{
	int ret = module_ready(m, err);

	if (ret == 0)
		ret = module_attach(m, err);
	if (ret < 0)
		return ret;
	module_replay(m);
	return module_run(m, err);
}

/* The first that cannot come ends it; those behind it may need it. */
static int come(struct plan *p, struct keel_err *err)
{
	struct module *m;
	int ret = 0;

	while (ret == 0 && (m = p->coming) != NULL) {
		DL_DELETE(p->coming, m);
		ret = come_up(m, err);
		if (ret < 0) {
			buf_printf(p->out, "%s: could not be loaded\n", m->desc.name);
			module_unload(p->all, m);
			continue;
		}
		buf_printf(p->out, "%s: loaded\n", m->desc.name);
		DL_APPEND(p->all->list, m);
	}
	DL_FOREACH(p->all->list, m)
		module_offer(m);
	return ret;
}

int modules_reload(struct modules *all, const struct conf *conf, struct buf *out,
		   struct keel_err *err)
{
	struct plan p = { .all = all, .conf = conf, .out = out };
	int ret;

	mark(&p);
	ret = mark_users(&p, err);
	if (ret == 0)
		ret = prepare(&p, err);
	if (ret == 0)
		ret = ask_busy(&p, err);
	if (ret == 0)
		ret = values_apply(&p, err);
	if (ret == 0) {
		values_tell(&p);
		leave(&p);
		ret = come(&p, err);
	}
	forget(&p);
	return ret;
}
