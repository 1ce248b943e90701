/* SPDX-License-Identifier: Apache-2.0
 *
 * modules.h - the answer to "modules" as people or programs read it.
 */
#ifndef KEELSON_COMMANDS_KEELSON_MODULES_H
#define KEELSON_COMMANDS_KEELSON_MODULES_H

#include <stdbool.h>

/* `lines`: column names, then a module each, cells separated by tabs; they are cut in place.
 * 0 or -errno: it could not be written. */
int modules_print(char **lines, bool json);

#endif
