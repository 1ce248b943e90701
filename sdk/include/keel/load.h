/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/load.h - for those who load modules (the daemon, a program that runs one elsewhere, a host of tests): writes the
 * addresses that a module's KEEL_MODULE(), KEEL_USE() and KEEL_ATTR_OF() want.
 *
 * In this order: keel_load_kernel() before check(), keel_load_services() before rows are registered, keel_load_attrs()
 * when they are, before init(). Header only.
 */
#ifndef KEEL_LOAD_H
#define KEEL_LOAD_H

#include <stdio.h>
#include <string.h>

#include "keel/api.h"
#include "keel/module.h"

/* The table of a group or service, in at least that version; NULL with *err. */
typedef const void *keel_load_fn(void *arg, const char *name, uint32_t minor, struct keel_err *err);

/* The address of what is wanted, at its place. Rows that came in a description instead of a file have none. */
static inline void keel_load_write(const struct keel_need *n, const void *address)
{
	if (n->at)
		memcpy(n->at, &address, sizeof(address));
}

/* The kernel's groups, as far as the module knows them; a group that is not there is NULL. */
static inline void keel_load_kernel(const struct keel_module *m, keel_load_fn *table, void *arg)
{
	static const struct {
		const char *name;
		uint32_t offset;
	} groups[] = {
		{ "core", offsetof(struct keel_kernel, core) },	      { "object", offsetof(struct keel_kernel, object) },
		{ "call", offsetof(struct keel_kernel, call) },	      { "hook", offsetof(struct keel_kernel, hook) },
		{ "msg", offsetof(struct keel_kernel, msg) },	      { "request", offsetof(struct keel_kernel, request) },
	};

	for (size_t i = 0; m->kernel && i < sizeof(groups) / sizeof(groups[0]); i++) {
		const void *address;

		if (groups[i].offset + sizeof(address) > m->kernel->size)
			break;
		address = table(arg, groups[i].name, 0, NULL);
		memcpy((char *)m->kernel + groups[i].offset, &address, sizeof(address));
	}
}

/* 0, or -ENOENT with the error of table() in *err: one that may not be absent is. */
static inline int32_t keel_load_services(const struct keel_module *m, keel_load_fn *table, void *arg,
					 struct keel_err *err)
{
	for (const struct keel_need *n = m->needs; n != m->needs_end; n++) {
		const void *address = n->klass ? NULL : table(arg, n->name, n->minor, n->optional ? NULL : err);

		if (!n->klass && !address && !n->optional)
			return -2;
		if (!n->klass)
			keel_load_write(n, address);
	}
	return 0;
}

/* 0, or -ENOENT with the error in *err. `object`: as this module would call it, as `mod`. */
static inline int32_t keel_load_attrs(const struct keel_module *m, const struct keel_object_api *object,
				      struct keel_mod *mod, struct keel_err *err)
{
	for (const struct keel_need *n = m->needs; n != m->needs_end; n++) {
		const struct keel_attr *attr = n->klass ? object->attr(mod, n->klass, n->name) : NULL;

		if (n->klass && !attr && !n->optional) {
			if (err)
				snprintf(err->text, sizeof(err->text),
					 "there is no attribute %s of class %s; is its module enabled?", n->name,
					 n->klass);
			return -2;
		}
		if (n->klass)
			keel_load_write(n, attr);
	}
	return 0;
}

#endif
