/* SPDX-License-Identifier: Apache-2.0
 *
 * preview.c - the chain a configuration would have, without running any module's code: files are opened
 * and checked, their taps ordered, and everything is closed again.
 */
#include <string.h>

#include "hook/hooks.h"
#include "module/inside.h"
#include "util/err.h"

static int taps_attach(struct modules *all, const struct set *s, struct keel_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < s->n && ret == 0; i++)
		ret = hooks_attach(all->parts->hooks, &s->at[i]->owner, s->at[i]->site->taps,
				   s->at[i]->site->n_taps, err);
	return ret;
}

int modules_preview(struct modules *all, const struct conf *conf, const char *point, struct buf *out,
		    struct keel_err *err)
{
	struct set s;
	int ret = modules_open(all, conf, false, &s, err);

	if (ret < 0)
		return ret;
	ret = taps_attach(all, &s, err);
	if (ret == 0) {
		ret = hooks_describe(all->parts->hooks, point, out);
		if (ret < 0)
			err_set(err, ret, "no hook point is called \"%s\"; `keelson hooks` lists them",
				point);
	}
	for (uint32_t i = 0; i < s.n; i++)
		hooks_detach(all->parts->hooks, &s.at[i]->owner);
	set_abandon(&s);
	return ret;
}
