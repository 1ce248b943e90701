/* SPDX-License-Identifier: Apache-2.0
 *
 * name.h - what a module may be called.
 */
#ifndef KEELSON_MODULE_NAME_H
#define KEELSON_MODULE_NAME_H

#include <stddef.h>

#define MODULE_NAME_MAX 63

/* NULL: it may be called so. Else why not, as the end of a sentence: "...: <why>". */
const char *module_name_refused(const char *name);
/* The name as a part of an identifier of C: '-' is '_' there. Cut to `size`. */
void module_name_identifier(const char *name, char *ret, size_t size);

#endif
