/* SPDX-License-Identifier: Apache-2.0
 *
 * depend.h - "type:arg[:arg...][,type:...]", the value of the attribute depend.
 */
#ifndef CLIENT_DEPEND_H
#define CLIENT_DEPEND_H

/* Check `value`; when `ret_full` is not NULL it gets a malloc'ed copy in which ids that name no
 * server are completed with `server` (NULL: left as they are). 0, -EINVAL or -ENOMEM. */
int depend_complete(const char *value, const char *server, char **ret_full);

#endif
