/* SPDX-License-Identifier: Apache-2.0
 *
 * needs.c - writes into a module's file the addresses of what it uses: the kernel's groups, services, attributes.
 */
#include <errno.h>

#include "keel/load.h"
#include "module/inside.h"
#include "registry/registry.h"
#include "util/err.h"

static const void *table_of(void *arg, const char *name, uint32_t minor, struct keel_err *err)
{
	const struct module *m = arg;

	return registry_service(m->owner.parts->registry, name, minor, NULL, err);
}

void needs_kernel(struct module *m)
{
	keel_load_kernel(&m->desc, table_of, m);
}

int needs_find(struct module *m, bool attrs, struct keel_err *err)
{
	struct keel_err why = { 0 };
	int ret = 0;

	if (!attrs)
		ret = keel_load_services(&m->desc, table_of, m, &why);
	else if (m->desc.kernel != NULL)
		ret = keel_load_attrs(&m->desc, m->desc.kernel->object, &m->owner.pub, &why);
	return ret == 0 ? 0 : err_set(err, -ENOENT, "module %s cannot be loaded: %s", m->desc.name, why.text);
}

void module_offer(struct module *m)
{
	const struct keel_object_api *object = m->desc.kernel != NULL ? m->desc.kernel->object : NULL;

	NEED_EACH(&m->desc, need) {
		if (!need->optional)
			continue;
		if (need->klass == NULL)
			keel_load_write(need, table_of(m, need->name, need->minor, NULL));
		else if (object != NULL)
			keel_load_write(need, object->attr(&m->owner.pub, need->klass, need->name));
	}
}
