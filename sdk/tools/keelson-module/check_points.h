/* SPDX-License-Identifier: Apache-2.0
 *
 * check_points.h - the points of a stage: those of the SDK, and those that modules on it publish.
 */
#ifndef KEELSON_CHECK_POINTS_H
#define KEELSON_CHECK_POINTS_H

#include "check_stage.h"
#include "points.h"

/* Look at a host with the module on it (s->mod; NULL: it is not loaded): once in a process, later calls do nothing. */
void stage_points_see(struct stage *s);
bool stage_points_seen(void);
/* Point i of those that were seen; NULL: no more. */
const struct point *stage_point(unsigned i);
/* Did the module listen there? */
bool stage_listens(unsigned i);
/* Its id on this host; 0: it is not published here. */
uint32_t stage_point_id(struct stage *s, const struct point *p);
/* Is it one that a module publishes? */
bool is_published(const struct point *p);

#endif
