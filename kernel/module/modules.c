/* SPDX-License-Identifier: Apache-2.0
 *
 * modules.c - the set of modules: check, load, start, stop.
 */
#include "module/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "module/inside.h"
#include "object/objects.h"
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

int modules_check(struct modules *all, const struct conf *conf, bool *ret_stores, struct keel_err *err)
{
	struct set s;
	int ret = modules_open(all, conf, &s, err);

	if (ret < 0)
		return ret;
	*ret_stores = set_offers(&s, "store");
	modules_close(&s);
	return 0;
}

/* ---- up ------------------------------------------------------------------------------------------------- */
/* All of them go: no code goes before all have ended. */
static void unload_all(struct modules *all)
{
	set_down(&all->there);
	while (all->there.n > 0)
		module_leave(all->there.at[--all->there.n]);
	set_fini(&all->there);
}

void modules_tell_waiting(struct modules *all)
{
	struct keel_err err = { 0 };

	/* A host has fewer classes: rows of modules that are everywhere are of no use there, and no mistake. */
	if (!(all->parts->daemon & KEEL_SERVER))
		return;
	if (all->parts->objects != NULL && objects_waiting(all->parts->objects, &err) < 0)
		log_add(all->parts->log, KEEL_LOG_ERROR, "Module", NULL, "%s", err.text);
}

int modules_load(struct modules *all, const struct conf *conf, struct keel_err *err)
{
	char *copies = path_join(all->parts->home, COPIES_DIR);
	int ret;

	if (copies != NULL)
		copies_clear(copies);
	free(copies);
	ret = modules_open(all, conf, &all->there, err);
	if (ret == 0)
		ret = set_ready(all, &all->there, true, err);
	if (ret == 0)
		modules_tell_waiting(all);
	else
		unload_all(all);
	return ret;
}

int modules_start(struct modules *all, struct keel_err *err)
{
	int ret = set_start(all, &all->there, true, err);

	if (ret < 0)
		unload_all(all);
	return ret;
}

void modules_stop(struct modules *all)
{
	changes_end(all);
	unload_all(all);
}
