/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/find.h - the attributes a module works with, as a table: looked up once, in init().
 *
 *   static const struct keel_find wanted[] = { KEEL_FIND(struct state, a.queue, "job", "queue"), ... };
 *   if (keel_find_all(mod, st->core, st->object, wanted, KEEL_COUNT(wanted), err)) return -1;
 */
#ifndef KEEL_FIND_H
#define KEEL_FIND_H

#include <stddef.h>

#include "keel/api.h"
#include "keel/types.h"

struct keel_find {
	size_t offset; /* of a `const struct keel_attr *` in the module's state */
	const char *klass, *name;
};
#define KEEL_FIND(state_type, member, klass_name, attr_name)                                       \
	{ offsetof(state_type, member), klass_name, attr_name }

/* Each must be there: 0, or -1 with a sentence that names the first one that is not. */
static inline int32_t keel_find_all(struct keel_mod *mod, const struct keel_core_api *core,
				    const struct keel_object_api *object,
				    const struct keel_find *wanted, size_t n, struct keel_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct keel_attr *attr = object->attr(mod, wanted[i].klass, wanted[i].name);

		if (!attr)
			return core->error(err, -1,
					   "there is no attribute %s of class %s; is its module enabled?",
					   wanted[i].name, wanted[i].klass);
		*(const struct keel_attr **)(void *)((char *)mod->state + wanted[i].offset) = attr;
	}
	return 0;
}

#endif
