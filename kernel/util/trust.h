/* SPDX-License-Identifier: Apache-2.0
 *
 * trust.h - which users could have written this file?
 */
#ifndef KEELSON_TRUST_H
#define KEELSON_TRUST_H

#include "keel/types.h"

/* Returns 0 when this process may run that file of a module, or what it names; else -EPERM with *err. */
int file_trust(const char *path, struct keel_err *err);

#endif
