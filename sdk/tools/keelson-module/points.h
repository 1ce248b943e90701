/* SPDX-License-Identifier: Apache-2.0
 *
 * points.h - the hook points of this SDK.
 */
#ifndef KEELSON_MODULE_POINTS_H
#define KEELSON_MODULE_POINTS_H

#include "keel/keel.h"

struct point {
	uint32_t id, kind, daemon; /* enum keel_hook_kind, enum keel_daemon */
	const char *name, *kind_name, *doc;
	uint32_t event_size, n_fields;
	const struct keel_field *fields;
};
/* NULL: there is no such point. */
const struct point *point_find(uint32_t id);
/* Point i of all, NULL at the end. */
const struct point *point_at(uint32_t i);

#endif
