/* SPDX-License-Identifier: Apache-2.0
 *
 * check_points.h - at which points of the SDK the module has taps.
 */
#ifndef KEELSON_CHECK_POINTS_H
#define KEELSON_CHECK_POINTS_H

#include "check_stage.h"
#include "points.h"

/* Look at a host with the module on it (s->mod; NULL: it is not loaded): once in a process, later calls do nothing. */
void stage_points_see(struct stage *s);
bool stage_points_seen(void);
/* Did the module listen at point i of all (point_at())? */
bool stage_listens(unsigned i);

#endif
