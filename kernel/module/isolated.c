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

/* What can be known of the file without running it. */
static int image_look(const char *path, struct image *image, struct keel_err *err)
{
	int ret = file_trust(path, err);

	if (ret == 0)
		ret = note_read(path, &image->note, err);
	if (ret == 0)
		ret = note_accept(path, &image->note, err);
	if (ret == 0 && stat(path, &image->st) < 0)
		ret = err_set(err, -errno, "cannot read module file %s: %s", path, strerror(errno));
	return ret;
}

int isolated_open(struct modules *all, struct module *m, const struct conf_module *said,
		  const struct conf_isolation *how, struct keel_err *err)
{
	const struct isolate_limits limits = { .memory = how->memory,
					       .deadline_ms = how->deadline_ms,
					       .deaths = how->deaths,
					       .within_ms = how->within_ms,
					       .user = how->user };
	int ret;

	m->image.path = module_path(all, said);
	if (m->image.path == NULL)
		return err_set(err, -ENOMEM, "no memory to load module %s", said->name);
	ret = image_look(m->image.path, &m->image, err);
	if (ret == 0)
		ret = isolate_open(all->parts, said->name, m->image.path, &limits, &m->owner.isolate, err);
	if (ret == 0)
		m->image.raw = isolate_descriptor(m->owner.isolate);
	return ret;
}

bool isolated_differs(const struct module *m, const struct conf *conf)
{
	struct conf_isolation how;

	if (conf_isolation(conf, m->desc.name, &how, NULL) < 0)
		return false; /* opening it says what is wrong */
	if (!how.process && !m->how.process)
		return false;
	return how.process != m->how.process || how.memory != m->how.memory ||
	       how.deadline_ms != m->how.deadline_ms || how.deaths != m->how.deaths ||
	       how.within_ms != m->how.within_ms || strcmp(how.user, m->how.user) != 0;
}
