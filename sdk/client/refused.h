/* SPDX-License-Identifier: Apache-2.0
 *
 * refused.h - attributes that the check before sending refused.
 */
#ifndef CLIENT_REFUSED_H
#define CLIENT_REFUSED_H

#include "pbs_ifl.h"

/* Add a copy of `attribute` (without its next) to *list, created when NULL. 0 or -ENOMEM. */
int refused_add(struct ecl_attribute_errors **list, const struct attropl *attribute, int code,
		const char *text);
void refused_free(struct ecl_attribute_errors *list);

#endif
