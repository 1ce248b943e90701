/* SPDX-License-Identifier: Apache-2.0
 *
 * unquote.h - the value of `-l name=value`: quotes that protect nothing, commas that end nothing.
 */
#ifndef KEELSON_COMMANDS_UNQUOTE_H
#define KEELSON_COMMANDS_UNQUOTE_H

#include <stdbool.h>
#include <stddef.h>

/* Removes the quotes (" or ') from the value of the resource `name`, in place. In a select they are kept around a
 * value that needs them: one with ':', '+', '=', a comma, a blank or another quote. */
void resource_unquote(const char *name, char *value);

/* Returns the length of the name of a resource at `text`; 0: none begins there. */
size_t resource_name_len(const char *text);

/* Returns whether the value of the resource `name` (`len` bytes) goes on behind a comma at `next`. Only preempt_targets
 * has such commas: queue=a,queue=b. */
bool resource_goes_on(const char *name, size_t len, const char *next);

#endif
