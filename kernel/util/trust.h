/* SPDX-License-Identifier: Apache-2.0
 *
 * trust.h - who could have written this file?
 */
#ifndef KEELSON_TRUST_H
#define KEELSON_TRUST_H

#include "keel/types.h"

/* May this process run what is in that file of a module, or what it names? -EPERM with a sentence. */
int file_trust(const char *path, struct keel_err *err);

#endif
