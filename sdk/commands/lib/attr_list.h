/* SPDX-License-Identifier: Apache-2.0
 *
 * attr_list.h - a list of attributes that a command line builds.
 */
#ifndef KEELSON_COMMANDS_ATTR_LIST_H
#define KEELSON_COMMANDS_ATTR_LIST_H

#include "pbs_ifl.h"

struct attr_list {
	struct attropl *first; /* owned */
};

/* Set `name`[.`resource`]; an earlier value is replaced. Strings are copied; `resource` may be NULL.
 * 0 or -ENOMEM. */
int attr_list_set(struct attr_list *l, const char *name, const char *resource, const char *value);
void attr_list_fini(struct attr_list *l);

/* "name[=value],..." into `attribute`.name; quotes (" or ') protect commas (unquote.h says
 * which stay). 0, -EINVAL, -ENOMEM. */
int attr_list_resources(struct attr_list *l, const char *attribute, const char *text);

/* "name=value,..." into attributes; a comma ends a value only where a name and = follow. Quotes
 * are taken off. 0, -EINVAL, -ENOMEM. */
int attr_list_words(struct attr_list *l, const char *text);

#endif
