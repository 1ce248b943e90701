/* SPDX-License-Identifier: Apache-2.0
 *
 * registry.h - contributions by kind. The kernel's kinds are added by its own parts at creation with
 * registry_kind(); modules add kinds with KIND rows.
 */
#ifndef KEELSON_REGISTRY_H
#define KEELSON_REGISTRY_H

#include "keel/contrib.h"
#include "util/owner.h"

struct registry;

int registry_create(struct registry **ret_registry);
void registry_destroy(struct registry *r);

/* A kind of the kernel: add() and remove() get `arg`. */
struct registry_kind {
	const char *name;
	int (*add)(void *arg, struct owner *owner, const void *def, struct keel_err *err);
	void (*remove)(void *arg, struct owner *owner, const void *def);
	void *arg;
	uint32_t row_size; /* of the definition: rows are converted to it. 0: they are passed as they are */
};
int registry_kind(struct registry *r, const struct registry_kind *kind);

/* Register all rows of a module, or none: returns 0, or an error with *err, which names the row. Rows of unknown kinds
 * wait for the kind. registry_remove() withdraws every row of the owner, in reverse order. */
int registry_add(struct registry *r, struct owner *owner, const struct keel_contrib *rows, uint32_t n,
		 struct keel_err *err);
void registry_remove(struct registry *r, struct owner *owner);

/* Services: the kernel's API groups and SERVICE rows of modules. registry_service() returns NULL with *err when it is
 * unknown or older than `minor`. *ret_owner (may be NULL): the module that offers it, NULL: the kernel. */
int registry_offer(struct registry *r, const char *name, const void *table);
const void *registry_service(struct registry *r, const char *name, uint32_t minor,
			     struct owner **ret_owner, struct keel_err *err);

#endif
