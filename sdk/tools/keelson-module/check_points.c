/* SPDX-License-Identifier: Apache-2.0
 *
 * check_points.c - at which points of the SDK the module has taps, those that it added at run time included.
 */
#include "check_points.h"

#include <string.h>

static struct {
	bool listens[KEEL_POINT_MAX], known; /* by place in the list */
} seen;

bool stage_points_seen(void)
{
	return seen.known;
}

void stage_points_see(struct stage *s)
{
	const char *name = s->of->m->name, *at;
	const struct point *p;

	for (unsigned i = 0; !seen.known && (p = point_at(i)) != NULL; i++)
		/* "a.tap b.tap": is one of them the module's, also one that it added at run time? */
		for (at = keel_mock_chain(s->mock, p->id); s->mod != NULL && *at != '\0'; at += strspn(at, " ")) {
			seen.listens[i] = seen.listens[i] || (strncmp(at, name, strlen(name)) == 0 && at[strlen(name)] == '.');
			at += strcspn(at, " ");
		}
	seen.known = true;
}

bool stage_listens(unsigned i)
{
	return seen.listens[i];
}
