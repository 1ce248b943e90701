/* SPDX-License-Identifier: Apache-2.0
 *
 * attr_list.h - lists of attributes: built from a command line, and found in a status.
 */
#ifndef KEELSON_COMMANDS_ATTR_LIST_H
#define KEELSON_COMMANDS_ATTR_LIST_H

#include <stdbool.h>

#include "pbs_ifl.h"

struct attr_list {
	struct attropl *first; /* owned */
};

/* Sets `name`[.`resource`]; an earlier value is replaced. Strings are copied; `resource` may be NULL.
 * Returns 0 or -ENOMEM. */
int attr_list_set(struct attr_list *l, const char *name, const char *resource, const char *value);

/* Frees the attributes; the list is empty then. */
void attr_list_fini(struct attr_list *l);

/* Parses "name[=value],...", quotes (" or ') protect commas (unquote.h says which are kept); or, if `words`, "name=value,...":
 * a comma ends a value only where a name and = follow, quotes are removed. Calls fn for each, which returns 0 or an error. -EINVAL:
 * *ret_fault is the error, and where it is. */
typedef int attr_item_fn(void *arg, const char *name, const char *value);
struct attr_fault {
	const char *at, *what;
};
int attr_items(const char *text, bool words, attr_item_fn *fn, void *arg, struct attr_fault *ret_fault);

/* The same into resources of `attribute`; NULL: words, each an attribute. Returns 0, -EINVAL or -ENOMEM. */
int attr_list_items(struct attr_list *l, const char *attribute, const char *text);

/* Returns the value of `name`[.`resource`] (may be NULL) of an object, borrowed from it; NULL: it has none. */
const char *status_value(const struct batch_status *object, const char *name, const char *resource);

#endif
