/* SPDX-License-Identifier: Apache-2.0
 *
 * preview.c - the chain a configuration would have, without running any module's code: files are opened
 * and checked, their taps ordered, and everything is closed again.
 */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "hook/hooks.h"
#include "module/inside.h"
#include "util/err.h"

static int taps_attach(struct modules *all, struct module *list, struct keel_err *err)
{
	struct module *m;
	int ret = 0;

	DL_FOREACH(list, m) {
		if (ret == 0)
			ret = hooks_attach(all->parts->hooks, &m->owner, m->desc.taps, m->desc.n_taps,
					   m->desc.n_taps > 0 ? m->desc.taps[0].size : 0, err);
	}
	return ret;
}

int modules_preview(struct modules *all, const struct conf *conf, const char *point, struct buf *out,
		    struct keel_err *err)
{
	struct module *list, *m;
	int ret = modules_open(all, conf, &list, err);

	if (ret < 0)
		return ret;
	ret = taps_attach(all, list, err);
	if (ret == 0) {
		ret = hooks_describe(all->parts->hooks, point, out);
		if (ret < 0)
			err_set(err, ret, "no hook point is called \"%s\"; `keelson hooks` lists them",
				point);
	}
	DL_FOREACH(list, m)
		hooks_detach(all->parts->hooks, &m->owner);
	modules_close(list);
	return ret;
}
