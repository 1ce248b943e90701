/* SPDX-License-Identifier: Apache-2.0
 *
 * check_service.h - stand-ins for the documented services of base modules, for a module that needs them.
 */
#ifndef KEELSON_CHECK_SERVICE_H
#define KEELSON_CHECK_SERVICE_H

#include <stdbool.h>

/* Is this an API group of the kernel? It is always there. */
bool is_group(const char *name);
/* The table of a stand-in; NULL: there is none for this service. */
const void *stand_in(const char *service);

#endif
