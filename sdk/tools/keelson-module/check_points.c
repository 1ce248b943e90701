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

/* "a.tap b.tap": is one of them the module's, also one that it added at run time? */
static bool listens(struct stage *s, uint32_t point)
{
	const char *at = keel_mock_chain(s->mock, point), *name = s->of->m->name;

	while (s->mod != NULL && *at != '\0') {
		if (strncmp(at, name, strlen(name)) == 0 && at[strlen(name)] == '.')
			return true;
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return false;
}

void stage_points_see(struct stage *s)
{
	const struct point *p;

	for (unsigned i = 0; !seen.known && (p = point_at(i)) != NULL; i++)
		seen.listens[i] = listens(s, p->id);
	seen.known = true;
}

bool stage_listens(unsigned i)
{
	return seen.listens[i];
}
