/* SPDX-License-Identifier: Apache-2.0
 *
 * isolated.c - the file of a module that runs in a process of its own: looked at, never mapped here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- a module --------------------------------------------------------------------------------------------- */
int isolated_open(struct modules *all, struct module *m, const struct conf_module *said,
		  const struct conf_isolation *how, struct keel_err *err)
{
	const struct isolate_limits limits = limits_of(how);
	struct isolate **iso = &m->owner.isolate;
	char *path = module_path(all->dir, said), *copy = module_copy(all, said->name);
	int ret = path != NULL ? image_look(path, copy, &m->image, err) :
				 err_set(err, -ENOMEM, "no memory to load module %s", said->name);

	if (ret == 0)
		ret = isolate_open(all->parts, said->name, m->image.path, &limits, iso, err);
	free(path);
	free(copy);
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
