/* SPDX-License-Identifier: Apache-2.0
 *
 * check_with.h - modules beside the one under test (--with): they offer what it needs. They are not judged.
 */
#ifndef KEELSON_CHECK_WITH_H
#define KEELSON_CHECK_WITH_H

#include "keel/keel.h"
#include "keel/mock.h"

/* Open another one; false: *ret_why. */
bool with_open(const char *path, const char **ret_why);
/* Does one of them offer this service? */
bool with_offers(const char *service);
/* Is one of them called so? */
bool with_is(const char *name);
/* Bring them up, each when what it needs is there; those that `m` may do without only if `optional`.
 * False: *err. */
bool with_load(struct keel_mock *mock, const struct keel_module *m, bool optional, struct keel_err *err);

#endif
