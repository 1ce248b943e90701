/* SPDX-License-Identifier: Apache-2.0
 *
 * attributes.h - what qmgr knows about an attribute without a server.
 */
#ifndef QMGR_ATTRIBUTES_H
#define QMGR_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>

enum attribute_kind { ATTRIBUTE_TEXT, ATTRIBUTE_LIST, ATTRIBUTE_LIMIT, ATTRIBUTE_WORDS };

struct attribute {
	int object; /* enum mgr_obj */
	const char *name; /* as it is printed */
	enum attribute_kind kind;
	bool printed;
};

/* Finds the first `len` characters of `name`, ignoring case; NULL: unknown. Built-in hooks are hooks. */
const struct attribute *attribute_find(int object, const char *name, size_t len);

/* Returns true unless the table says that it cannot be set. */
bool attribute_is_printed(int object, const char *name);
enum attribute_kind attribute_kind(int object, const char *name);

#endif
