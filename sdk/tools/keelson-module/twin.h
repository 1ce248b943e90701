/* SPDX-License-Identifier: Apache-2.0
 *
 * twin.h - the module under test as it is to a host when it runs in a process of its own: a descriptor with the same
 * rows, whose functions ask a keelson-modhost and wait.
 */
#ifndef KEELSON_MODULE_TWIN_H
#define KEELSON_MODULE_TWIN_H

#include "keel/keel.h"

/* The twin of the module of this file; one at a time. NULL: *ret_why says what it has too much of. */
const struct keel_module *twin_of(const char *path, const struct keel_module *m, const char **ret_why);
/* What went wrong with its process since it was loaded last; "": nothing. */
const char *twin_lost(void);
/* Why the process could not open the file at all, which is not the module's doing; "": it could. */
const char *twin_unopened(void);
/* Did it ask for file descriptors to be watched? There, nobody watches them. */
bool twin_watches(void);

#endif
