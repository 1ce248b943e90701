/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.c - exactly which modules run, for a report that somebody reads elsewhere.
 */

#include "module/inside.h"

void modules_identify(struct modules *all, struct buf *out)
{
	const struct module *m;

	SET_EACH(&all->there, m)
		buf_printf(out, "%s %s, build %s, %s\n", m->desc.name, m->desc.version,
			   m->image.note.build_id[0] != '\0' ? m->image.note.build_id : "unknown",
			   m->image.path);
}
