/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - kinds, rows and services; only kernel/registry/ includes it.
 *
 * A row belongs to its owner and waits (`kind` NULL) while its kind is not declared. Rows are kept in order of
 * registration, so that they are withdrawn in reverse.
 */
#ifndef KEELSON_REGISTRY_INSIDE_H
#define KEELSON_REGISTRY_INSIDE_H

#include "registry/registry.h"

struct kind {
	struct kind *next;
	struct registry_kind face;
	struct keel_kind_def def;  /* of a module's kind; `pub` calls its functions */
	struct owner *owner;       /* NULL: the kernel's */
};

struct row {
	struct row *prev, *next;
	struct owner *owner;
	const char *kind_name;
	const void *def;   /* the module's */
	void *whole;       /* copy in the kind's size, owned, while `kind` has it; NULL: `def` is used as it is */
	struct kind *kind;
};

struct service {
	struct service *next;
	struct owner *owner; /* NULL: the kernel */
	const char *name;
	const void *table;
	uint32_t minor;
	void *copy; /* owned; the table with `self` written, NULL for the kernel's */
};

struct registry {
	struct kind *kinds;
	struct row *rows;
	struct service *services;
};

#endif
