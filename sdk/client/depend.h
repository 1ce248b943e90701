/* SPDX-License-Identifier: Apache-2.0
 *
 * depend.h - "type:arg[:arg...][,type:...]", the value of the attribute depend.
 */
#ifndef CLIENT_DEPEND_H
#define CLIENT_DEPEND_H

/* Checks `value`. *ret_full, unless `ret_full` is NULL, is a copy for the caller to free, in which ids without a server
 * are completed with `server` (NULL: left as they are). Returns 0, -EINVAL or -ENOMEM. */
int depend_complete(const char *value, const char *server, char **ret_full);

#endif
