/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.h - what a module's descriptor says, in words.
 */
#ifndef KEELSON_DESCRIBE_H
#define KEELSON_DESCRIBE_H

#include "keel/keel.h"

/* To stdout. */
void describe(const struct keel_module *m);
/* NULL for an id that no point has. */
const char *point_name(uint32_t point);

#endif
