/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - a reply that is a table, as text or JSON.
 */
#ifndef KEELSON_COMMANDS_KEELSON_ROWS_H
#define KEELSON_COMMANDS_KEELSON_ROWS_H

/* `lines`: column names, then a row each, cells separated by tabs; they are cut in place. `json`: what the
 * object of all rows is called, the first cell names each; NULL: for people.
 * 0 or -errno: it could not be written. */
int rows_print(char **lines, const char *json);

#endif
