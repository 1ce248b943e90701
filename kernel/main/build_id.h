/* SPDX-License-Identifier: Apache-2.0
 *
 * build_id.h - which build of this program runs.
 */
#ifndef KEELSON_BUILD_ID_H
#define KEELSON_BUILD_ID_H

#include <stddef.h>

/* Hexadecimal into `text`; "" when the linker wrote none. */
void build_id(char *text, size_t size);

#endif
