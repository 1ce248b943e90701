/* SPDX-License-Identifier: Apache-2.0
 *
 * check_stock.h - the attributes that base modules bring, so that a module finds what it would find.
 */
#ifndef KEELSON_CHECK_STOCK_H
#define KEELSON_CHECK_STOCK_H

#include "keel/keel.h"
#include "keel/mock.h"

/* Read the rows of the modules in a folder, without running them; but not those that `but` brings itself.
 * A folder that is not there, or NULL,
 * holds none. */
void stock_read(const char *dir, const struct keel_module *but);
/* Give them to a host. */
void stock_give(struct keel_mock *mock);
/* Whose attribute this is already; NULL: nobody's. */
const char *stock_owner(const struct keel_attr_def *a);
/* Is there a class of that name, the module's own ones too? */
bool stock_has_class(const char *name, const struct keel_module *own);
/* Row i; NULL: no more. */
const struct keel_attr_def *stock_attr(unsigned i);

#endif
