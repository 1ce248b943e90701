/* SPDX-License-Identifier: Apache-2.0
 *
 * check_static.h - the group `static`.
 */
#ifndef KEELSON_CHECK_STATIC_H
#define KEELSON_CHECK_STATIC_H

#include "keel/keel.h"

/* The file itself. Its descriptor, opened, when that is safe; else NULL, and findings say why. */
const struct keel_module *check_file(const char *path);
/* What the descriptor says. False: it must not be loaded. */
bool check_descriptor(const struct keel_module *m);

#endif
