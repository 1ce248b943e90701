/* SPDX-License-Identifier: Apache-2.0
 *
 * modules.c - the set of modules: check, load, start, stop.
 */
#include "module/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "log/log.h"
#include "module/inside.h"
#include "object/objects.h"
#include "util/err.h"
#include "util/text.h"

int modules_create(struct parts *parts, const char *dir, struct modules **ret_modules)
{
	struct modules *all = calloc(1, sizeof(*all));
	int ret;

	if (all == NULL)
		return -ENOMEM;
	all->parts = parts;
	all->self.pub.name = "kernel";
	all->self.parts = parts;
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

void modules_set_files(struct modules *all, const struct modules_files *files)
{
	all->files = *files;
}

int modules_check(struct modules *all, const struct conf *conf, struct keel_err *err)
{
	struct set s;
	int ret = modules_open(all, conf, &s, err);

	if (ret == 0)
		modules_close(&s);
	return ret;
}

/* ---- up ------------------------------------------------------------------------------------------------- */
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

/* Ready, or left out. */
static int ready_all(struct modules *all, struct keel_err *err)
{
	struct module *m, *next;
	int ret = 0;

	DL_FOREACH_SAFE(all->list, m, next) {
		ret = module_ready(m, err);
		if (ret == 0)
			continue;
		if (m->required)
			break;
		modules_left_out(all, m->desc.name, err);
		DL_DELETE(all->list, m);
		module_leave(all, m);
		ret = 0;
	}
	return ret;
}

int modules_load(struct modules *all, const struct conf *conf, struct keel_err *err)
{
	char *copies = path_join(all->parts->home, COPIES_DIR);
	struct set s;
	struct module *m;
	int ret;

	if (copies != NULL)
		copies_clear(copies);
	free(copies);
	ret = modules_open(all, conf, &s, err);

	if (ret < 0)
		return ret;
	for (uint32_t i = 0; i < s.n; i++)
		DL_APPEND(all->list, s.at[i]);
	set_fini(&s);
	ret = ready_all(all, err);
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

static bool is_needed(const struct modules *all, const struct module *m)
{
	const struct module *other;

	DL_FOREACH(all->list, other) {
		if (module_follows(other, m, false))
			return true;
	}
	return false;
}

static int run_all(struct modules *all, struct keel_err *err)
{
	struct module *m, *next;
	int ret = 0;

	DL_FOREACH_SAFE(all->list, m, next) {
		ret = module_run(m, err);
		if (ret == 0)
			continue;
		if (m->required || is_needed(all, m))
			break;
		modules_left_out(all, m->desc.name, err);
		module_end(m);
		DL_DELETE(all->list, m);
		module_leave(all, m);
		ret = 0;
	}
	return ret;
}

int modules_start(struct modules *all, struct keel_err *err)
{
	int ret = attach_all(all, err);

	if (ret == 0)
		ret = modules_replay(all, err);
	if (ret == 0)
		ret = run_all(all, err);
	if (ret < 0)
		unload_all(all);
	return ret;
}

void modules_stop(struct modules *all)
{
	changes_end(all);
	unload_all(all);
}

/* ---- showing ----------------------------------------------------------------------------------------------- */
void modules_describe(struct modules *all, struct buf *out)
{
	const struct module *m;

	DL_FOREACH(all->list, m)
		buf_printf(out, "%s %s %s %s %s\n", m->desc.name, m->desc.version,
			   module_state(m->state), module_roles(m->desc.roles), m->image.path);
}
