/* SPDX-License-Identifier: Apache-2.0
 *
 * open.h - a module's descriptor, for programs that are no daemon.
 */
#ifndef KEELSON_OPEN_H
#define KEELSON_OPEN_H

#include "keel/keel.h"

/* Stays open. NULL: *ret_why says why not, valid until the next call. */
const struct keel_module *module_open(const char *path, const char **ret_why);

#endif
