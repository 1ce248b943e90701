/* SPDX-License-Identifier: Apache-2.0
 *
 * check_beside.h - the modules beside the one under test. They are not judged.
 */
#ifndef KEELSON_CHECK_BESIDE_H
#define KEELSON_CHECK_BESIDE_H

#include "keel/keel.h"
#include "keel/mock.h"

/* Add the module of a file (--with). False: the error is in *ret_why. */
bool beside_open(const char *path, const char **ret_why);
/* Choose those of `dir` that `subject` rests on. Returns the service without which it cannot be loaded; NULL: all are
 * there. */
const char *beside_choose(const char *dir, const struct keel_module *subject);
/* Load them; those that the subject may do without only if `optional`. False: *err. */
bool beside_load(struct keel_mock *mock, bool optional, struct keel_err *err);

/* Returns whether one of them has this name. */
bool beside_is(const char *name);
/* Returns whether one of them offers what the subject may do without. */
bool beside_has_spare(void);
/* Returns row i of the attributes that they bring; NULL: no more. */
const struct keel_attr_def *beside_attr(unsigned i);
/* Returns the name of the installed module, loaded or not, that brings this attribute; NULL: none does. */
const char *beside_owner(const struct keel_attr_def *a);
/* Returns whether the subject or an installed module, loaded or not, brings this class. */
bool beside_has_class(const char *name);

#endif
