/* SPDX-License-Identifier: Apache-2.0
 *
 * place.h - where files of Keelson are: beside this program first, so that an installation may be moved.
 */
#ifndef KEELSON_PLACE_H
#define KEELSON_PLACE_H

#include <limits.h>
#include <stdbool.h>

/* The first of `places` that has `file`; NULL ends them. One that is not absolute begins in the folder of
 * this program. False: none has it. */
bool place_find(const char *const *places, const char *file, char ret_path[PATH_MAX]);

#endif
