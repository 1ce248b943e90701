/* SPDX-License-Identifier: Apache-2.0
 *
 * attributes.c - what qmgr knows about an attribute without a server.
 */
#include "attributes.h"

#include <string.h>
#include <strings.h>

#include "pbs_ifl.h"

#define PRINTED true
#define LISTED false
#define KNOWN(object, name, kind, printed) \
	{ MGR_OBJ_##object, name, ATTRIBUTE_##kind, printed },

static const struct attribute table[] = {
#include "attributes.def"
};

const struct attribute *attribute_find(int object, const char *name, size_t len)
{
	const struct attribute *a;

	if (object == MGR_OBJ_PBS_HOOK)
		object = MGR_OBJ_HOOK;
	for (a = table; a < table + sizeof(table) / sizeof(table[0]); a++)
		if (a->object == object && strncasecmp(a->name, name, len) == 0 &&
		    a->name[len] == '\0')
			return a;
	return NULL;
}

bool attribute_is_printed(int object, const char *name)
{
	const struct attribute *a = attribute_find(object, name, strlen(name));

	return a ? a->printed : true;
}

enum attribute_kind attribute_kind(int object, const char *name)
{
	const struct attribute *a = attribute_find(object, name, strlen(name));

	return a ? a->kind : ATTRIBUTE_TEXT;
}
