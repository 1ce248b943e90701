/* SPDX-License-Identifier: Apache-2.0
 *
 * refused.h - the attributes with errors found before sending.
 */
#ifndef CLIENT_REFUSED_H
#define CLIENT_REFUSED_H

#include "pbs_ifl.h"

/* Adds a copy of `attribute` (without its next) to *list, which is created if NULL. Returns 0 or -ENOMEM, with the
 * list as it was. */
int refused_add(struct ecl_attribute_errors **list, const struct attropl *attribute, int code,
		const char *text);

/* Frees the list and its copies; NULL is allowed. */
void refused_free(struct ecl_attribute_errors *list);

#endif
