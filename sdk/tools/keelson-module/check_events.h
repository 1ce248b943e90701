/* SPDX-License-Identifier: Apache-2.0
 *
 * check_events.h - events made from the field tables: as small, as usual and as large as they get.
 */
#ifndef KEELSON_CHECK_EVENTS_H
#define KEELSON_CHECK_EVENTS_H

#include "check_stage.h"
#include "points.h"

enum flavour { MINIMAL, USUAL, MAXIMAL, NEGATIVE, N_FLAVOURS };

struct event {
	uint32_t size, reserved;
	uint64_t fields[32]; /* each of them is a word */
};

const char *flavour_name(enum flavour f);
/* The object that plays in an event of this flavour. */
enum cast flavour_cast(enum flavour f);
/* Objects come from the stage. False: the point has more fields than this kit has room for. */
bool event_make(struct stage *s, const struct point *p, enum flavour f, struct event *ret);
/* The class of the object that such an event is about; NULL: it is about none. */
const char *event_klass(const struct point *p);

/* Looks at which points the module has taps, on a host with it (s->mod; NULL: it is not loaded): once in a process, later
 * calls do nothing. */
void stage_points_see(struct stage *s);
bool stage_points_seen(void);
/* Returns whether it listened at point i of all (point_at()), also by a tap that it added at run time. */
bool stage_listens(unsigned i);

#endif
