/* SPDX-License-Identifier: Apache-2.0
 *
 * few_pbs.h - those functions of the client library that every command calls, answered from variables. Include it in one file.
 */
#ifndef TESTS_COMMANDS_FEW_PBS_H
#define TESTS_COMMANDS_FEW_PBS_H

#include <string.h>

#include "pbs_ifl.h"

static int error;
static const char *said; /* text of the connection */
static struct ecl_attribute_errors *refused;

int *__pbs_errno_location(void)
{
	return &error;
}

int pbs_disconnect(int c)
{
	return c == 7 ? 0 : -1;
}

char *pbs_default(void)
{
	static char name[] = "HOST";

	return name;
}

char *pbs_conf_value(const char *key)
{
	return strcmp(key, "PBS_SERVER") == 0 ? strdup("HOST") : NULL;
}

char *pbs_geterrmsg(int c)
{
	return c < 0 ? NULL : (char *)said;
}

struct ecl_attribute_errors *pbs_get_attributes_in_error(int c)
{
	(void)c;
	return refused;
}

#endif
