/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.c - phase 1 of a change: who leaves, who comes, who restarts with them, whose values change. All is
 * opened and checked, nothing is done. A start is a change of nothing.
 *
 *   leaves             it goes for good
 *   leaves and comes   it goes and comes again: with an heir, a new file; without, as it is, because it holds
 *                      services of another one that leaves or taps its points, or because somebody asked for it
 *   neither            it stays; `fresh` and `fresh_site` are what changes for it
 */
#include <errno.h>
#include <string.h>

#include "log/log.h"
#include "module/inside.h"
#include "util/err.h"

/* ---- who leaves ------------------------------------------------------------------------------------ */
static void mark_configured(struct plan *p)
{
	struct module *m;

	SET_EACH(&p->all->there, m) {
		const struct conf_module *said = conf_enabled(p->conf, m->desc.name);

		m->leaves = said == NULL;
		if (said == NULL || !module_differs(m, p->conf, said))
			continue;
		if (module_stays(m))
			buf_printf(p->out, "%s: its file changed; it will be used after a restart\n",
				   m->desc.name);
		else
			m->leaves = m->comes = true;
	}
}

static int mark_one(struct plan *p, struct keel_err *err)
{
	struct module *m = set_named(&p->all->there, p->name);

	if (p->kind == MODULES_LOAD)
		return m == NULL ? 0 :
				   err_set(err, -EALREADY,
					   "module %s is loaded already; `keelson reload %s` loads it anew",
					   p->name, p->name);
	if (m == NULL)
		return err_set(err, -ENOENT, "module %s is not loaded%s", p->name,
			       p->kind == MODULES_RELOAD ? "; load it with `keelson load`" : "");
	m->leaves = true;
	m->comes = p->kind == MODULES_RELOAD;
	return 0;
}

/* A module that holds a service of one that leaves, memory on its objects or a tap at its points goes with it, and
 * comes back. */
static bool mark_user(struct module *m, const struct module *other)
{
	if (m->leaves || !other->leaves || !module_uses(m, other))
		return false;
	m->leaves = m->comes = true;
	return true;
}

static void mark_users(struct plan *p)
{
	struct module *m, *other;
	bool again = true;

	while (again) {
		again = false;
		SET_EACH(&p->all->there, m) {
			SET_EACH(&p->all->there, other)
				again |= mark_user(m, other);
		}
	}
}

/* Nobody who stays, or comes back, can do without one that goes for good. All who cannot are named. */
static int refuse_needed(const struct plan *p, const struct module *gone, struct keel_err *err)
{
	const struct module *m;
	struct buf names;
	uint32_t n = 0;

	buf_init(&names);
	SET_EACH(&p->all->there, m) {
		if ((!m->leaves || m->comes) && module_follows(m, gone, false))
			buf_printf(&names, "%s%s", n++ > 0 ? ", " : "", m->desc.name);
	}
	if (n > 0)
		err_set(err, -EBUSY, "module %s is needed by %s %s; %s", gone->desc.name,
			n > 1 ? "modules" : "module", names.failed ? "others" : names.data,
			p->kind == MODULES_CONFIGURE ? n > 1 ? "disable them too" : "disable it too" :
			n > 1			     ? "unload them first" :
						       "unload it first");
	buf_fini(&names);
	return n > 0 ? -EBUSY : 0;
}

static int mark(struct plan *p, struct keel_err *err)
{
	struct module *m;
	int ret = 0;

	if (p->kind == MODULES_CONFIGURE)
		mark_configured(p);
	else
		ret = mark_one(p, err);
	if (ret < 0)
		return ret;
	mark_users(p);
	SET_EACH(&p->all->there, m) {
		if (ret == 0 && m->leaves && !m->comes)
			ret = refuse_needed(p, m, err);
	}
	return ret;
}

/* ---- who comes, what changes ----------------------------------------------------------------------- */
static int fresh_values(struct plan *p, struct module *m, struct keel_err *err)
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

static int fresh_site(struct plan *p, struct module *m, struct keel_err *err)
{
	int ret = site_read(m, p->conf, &m->fresh_site, err);

	if (ret == 0 && site_same(m->site, m->fresh_site)) {
		site_destroy(m->fresh_site);
		m->fresh_site = NULL;
	}
	return ret;
}

int plan_values(struct plan *p, struct module *m, struct keel_err *err)
{
	int ret = fresh_values(p, m, err);

	return ret == 0 ? fresh_site(p, m, err) : ret;
}

void modules_left_out(struct modules *all, const char *name, const struct keel_err *why)
{
	log_add(all->parts->log, KEEL_LOG_ERROR, "Module", name, "left out, for it is not required: %s", why->text);
}

static void leave_out(struct plan *p, const char *name, const struct keel_err *why)
{
	modules_left_out(p->all, name, why);
	buf_printf(p->out, "%s: left out, %s\n", name, why->text);
}

/* From a private copy, but at a start: the path itself may be mapped already, by the one that leaves or by one that
 * left something behind, and would give the old mapping again. */
static int open_fresh(struct plan *p, const struct conf_module *said, struct module *old,
		      struct keel_err *err)
{
	struct module *m;
	int ret = module_open(p->all, p->conf, said, !p->first, &m, err);

	if (ret < 0 || m == NULL)
		return ret;
	if (set_add(&p->coming, m) < 0) {
		module_close(m);
		return err_set(err, -ENOMEM, "no memory to load module %s", said->name);
	}
	if (old != NULL)
		old->heir = m;
	return 0;
}

static int prepare_one(struct plan *p, const struct conf_module *said, struct keel_err *err)
{
	struct module *m = set_named(&p->all->there, said->name);
	struct conf_isolation how;
	int ret;

	if (m == NULL) {
		uint32_t before = p->coming.n;

		ret = open_fresh(p, said, NULL, err);
		if (ret == 0 && p->coming.n == before && p->kind == MODULES_CONFIGURE &&
		    conf_enabled(p->all->parts->conf, said->name) == NULL)
			buf_printf(p->out, "%s: passed over, it runs in other daemons than this one\n", said->name);
		if (ret == 0 || said->required || p->kind != MODULES_CONFIGURE)
			return ret;
		leave_out(p, said->name, err);
		return 0;
	}
	ret = conf_isolation(p->conf, said->name, &how, err);
	if (ret < 0)
		return ret;
	m->required = said->required;
	if (m->leaves && (m->owner.isolate != NULL || module_differs(m, p->conf, said)))
		return open_fresh(p, said, m, err);
	if (image_gone(&m->image))
		buf_printf(p->out, "%s: its file %s is gone; what runs goes on, the next start misses it\n",
			   said->name, m->image.path);
	return plan_values(p, m, err);
}

static int prepare(struct plan *p, struct keel_err *err)
{
	uint32_t n;
	const struct conf_module *said = conf_modules(p->conf, &n);
	bool found = p->kind == MODULES_CONFIGURE || p->kind == MODULES_UNLOAD;
	int ret = 0;

	for (uint32_t i = 0; i < n && ret == 0; i++) {
		if (!said[i].enabled || p->kind == MODULES_UNLOAD ||
		    (p->name != NULL && strcmp(said[i].name, p->name) != 0))
			continue;
		found = true;
		ret = prepare_one(p, &said[i], err);
	}
	if (ret == 0 && !found)
		return err_set(err, -ENOENT, "no module is called %s", p->name);
	if (ret == 0 && p->kind == MODULES_LOAD && p->coming.n == 0)
		return err_set(err, -EINVAL, "module %s does not run in this daemon; its .roles say where it does", p->name);
	return ret;
}

/* ---- all who will be there --------------------------------------------------------------------------- */
/* In the order of the configuration; who is only loaded by hand stands behind. */
static int gather(struct plan *p, struct keel_err *err)
{
	uint32_t n;
	const struct conf_module *said = conf_modules(p->conf, &n);
	struct module *m;
	int ret = 0;

	for (uint32_t i = 0; i < n && ret == 0; i++) {
		m = set_named(&p->coming, said[i].name);
		if (m == NULL) {
			m = set_named(&p->all->there, said[i].name);
			m = m != NULL && (!m->leaves || m->comes) ? m : NULL;
		}
		if (m != NULL)
			ret = set_add(&p->after, m);
	}
	SET_EACH(&p->all->there, m) {
		if (ret == 0 && (!m->leaves || m->comes) && m->heir == NULL && !set_has(&p->after, m))
			ret = set_add(&p->after, m);
	}
	return ret == 0 ? 0 : err_set(err, ret, "no memory to order modules");
}

/* One that is new and not required gives way. */
static bool give_way(struct plan *p, struct module *bad, const struct keel_err *why)
{
	if (bad == NULL || bad->required || p->kind != MODULES_CONFIGURE || !set_has(&p->coming, bad) ||
	    set_named(&p->all->there, bad->desc.name) != NULL)
		return false;
	leave_out(p, bad->desc.name, why);
	set_drop(&p->coming, bad);
	set_drop(&p->after, bad);
	module_close(bad);
	return true;
}

static int fit(struct plan *p, struct keel_err *err)
{
	struct module *bad;
	int ret = gather(p, err);

	if (ret < 0)
		return ret;
	do
		ret = set_order(p->all, &p->after, p->conf, &bad, err);
	while (ret < 0 && give_way(p, bad, err));
	return ret == 0 ? sites_rehearse(p->all, &p->after, err) : ret;
}

/* ---- may they go? ------------------------------------------------------------------------------------- */
int leavers_busy(const struct set *leavers, struct keel_err *err)
{
	struct keel_err why;
	struct buf reasons;
	int ret = 0;

	buf_init(&reasons);
	for (uint32_t i = 0; i < leavers->n; i++) {
		if (module_busy(leavers->at[i], &why) == 0)
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

static int ask_busy(const struct plan *p, struct keel_err *err)
{
	struct set leavers = { 0 };
	struct module *m;
	int ret = 0;

	SET_EACH(&p->all->there, m) {
		if (ret == 0 && m->leaves)
			ret = set_add(&leavers, m);
	}
	ret = ret < 0 ? err_set(err, ret, "no memory to unload modules") : leavers_busy(&leavers, err);
	set_fini(&leavers);
	return ret;
}

int plan_make(struct plan *p, struct keel_err *err)
{
	int ret = mark(p, err);

	if (ret == 0)
		ret = prepare(p, err);
	if (ret == 0)
		ret = fit(p, err);
	return ret == 0 ? ask_busy(p, err) : ret;
}

void plan_drop(struct plan *p)
{
	struct module *m;

	SET_EACH(&p->all->there, m) {
		conf_data_destroy(m->fresh);
		site_destroy(m->fresh_site);
		m->fresh = NULL;
		m->fresh_site = NULL;
		m->heir = NULL;
		m->leaves = m->comes = false;
	}
	for (uint32_t i = 0; i < p->coming.n; i++)
		module_leave(p->coming.at[i]);
	set_fini(&p->coming);
	set_fini(&p->after);
}

int modules_open(struct modules *all, const struct conf *conf, struct set *ret_set, struct keel_err *err)
{
	struct buf out;
	struct plan p = { .all = all, .kind = MODULES_CONFIGURE, .first = true, .conf = conf, .out = &out };
	int ret;

	buf_init(&out);
	ret = plan_make(&p, err);
	if (ret == 0) {
		*ret_set = p.after;
		p.after = (struct set){ 0 };
		set_fini(&p.coming); /* they are in the other one */
	}
	plan_drop(&p);
	buf_fini(&out);
	return ret;
}
