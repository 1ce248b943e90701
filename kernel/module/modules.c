/* SPDX-License-Identifier: Apache-2.0
 *
 * modules.c - the set of modules: check, load, start, stop.
 */
#include "module/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/hooks.h"
#include "log/log.h"
#include "module/inside.h"
#include "object/objects.h"
#include "util/err.h"

int modules_create(struct parts *parts, const char *dir, struct modules **ret_modules)
{
	struct modules *all = calloc(1, sizeof(*all));
	int ret;

	if (all == NULL)
		return -ENOMEM;
	all->parts = parts;
	all->self.pub.name = "kernel";
	all->self.parts = parts;
	all->self.slot_base = -1;
	all->dir = strdup(dir);
	ret = all->dir != NULL ? verbs_offer(all) : -ENOMEM;
	if (ret < 0) {
		free(all->dir);
		free(all);
		return ret;
	}
	*ret_modules = all;
	return 0;
}

void modules_destroy(struct modules *all)
{
	if (all == NULL)
		return;
	modules_stop(all);
	verbs_withdraw(all);
	free(all->dir);
	free(all);
}

void modules_set_reload(struct modules *all, modules_reload_fn *fn)
{
	all->reload = fn;
}

int modules_check(struct modules *all, const struct conf *conf, struct keel_err *err)
{
	struct module *list;
	int ret = modules_open(all, conf, &list, err);

	if (ret == 0)
		modules_close(list);
	return ret;
}

/* ---- up ------------------------------------------------------------------------------------------------- */
static void take(struct modules *all, struct module **list)
{
	DL_CONCAT(all->list, *list);
	*list = NULL;
}

static struct module *last_of(const struct modules *all)
{
	return all->list != NULL ? all->list->prev : NULL;
}

static struct module *before(const struct modules *all, const struct module *m)
{
	return m == all->list ? NULL : m->prev;
}

/* All of them go: each may still have answers for another one, so everybody is stopped before anybody
 * ends, and no code goes before all have ended. */
static void unload_all(struct modules *all)
{
	struct module *m;

	for (m = last_of(all); m != NULL; m = before(all, m))
		module_halt(m);
	for (m = last_of(all); m != NULL; m = before(all, m))
		module_end(m);
	while (all->list != NULL) {
		m = all->list->prev; /* the last one */
		DL_DELETE(all->list, m);
		module_leave(all, m);
	}
}

/* Rows for a class nobody declares are no error: whoever declares it may come later. */
static void tell_waiting(struct modules *all)
{
	struct keel_err err = { 0 };

	if (all->parts->objects != NULL && all->parts->log != NULL &&
	    objects_waiting(all->parts->objects, &err) < 0)
		log_add(all->parts->log, KEEL_LOG_ERROR, "Module", NULL, "%s", err.text);
}

int modules_load(struct modules *all, const struct conf *conf, struct keel_err *err)
{
	struct module *list, *m;
	int ret = modules_open(all, conf, &list, err);

	if (ret < 0)
		return ret;
	take(all, &list);
	DL_FOREACH(all->list, m) {
		ret = module_ready(m, err);
		if (ret < 0)
			break;
	}
	if (ret < 0) {
		unload_all(all);
		return ret;
	}
	DL_FOREACH(all->list, m)
		module_offer(m);
	tell_waiting(all);
	return 0;
}

static int attach_all(struct modules *all, struct keel_err *err)
{
	struct module *m;
	int ret = 0;

	DL_FOREACH(all->list, m) {
		ret = module_attach(m, err);
		if (ret < 0)
			break;
	}
	return ret;
}

static void tell_all(void *arg, uint32_t point, const char *id, struct keel_obj *obj)
{
	hooks_known(arg, NULL, point, id, obj);
}

int modules_start(struct modules *all, struct keel_err *err)
{
	struct module *m;
	int ret = attach_all(all, err);

	if (ret == 0 && all->parts->objects != NULL)
		objects_replay(all->parts->objects, tell_all, all->parts->hooks);
	DL_FOREACH(all->list, m) {
		if (ret == 0)
			ret = module_run(m, err);
	}
	if (ret < 0)
		unload_all(all);
	return ret;
}

void modules_stop(struct modules *all)
{
	unload_all(all);
}

/* ---- showing ----------------------------------------------------------------------------------------------- */
static const char *roles_name(uint32_t roles)
{
	return roles == KEEL_SERVER ? "server" : roles == KEEL_MOM ? "mom" : "server,mom";
}

static const char *state_name(enum module_state state)
{
	static const char *const names[] = { [MODULE_OPEN] = "open", [MODULE_READY] = "ready",
					     [MODULE_RUNNING] = "running" };

	return names[state];
}

void modules_describe(struct modules *all, struct buf *out)
{
	const struct module *m;

	DL_FOREACH(all->list, m)
		buf_printf(out, "%s %s %s %s %s\n", m->desc.name, m->desc.version,
			   state_name(m->state), roles_name(m->desc.roles), m->image.path);
}
