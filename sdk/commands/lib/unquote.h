/* SPDX-License-Identifier: Apache-2.0
 *
 * unquote.h - quotes in the value of `-l name=value` that protect nothing.
 */
#ifndef KEELSON_COMMANDS_UNQUOTE_H
#define KEELSON_COMMANDS_UNQUOTE_H

/* Take the quotes (" or ') off the value of the resource `name`, in place. In a select they stay around a
 * value that needs them: one with ':', '+', '=', a comma, a blank or another quote. */
void resource_unquote(const char *name, char *value);

#endif
