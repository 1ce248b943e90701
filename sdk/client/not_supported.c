/* SPDX-License-Identifier: Apache-2.0
 *
 * not_supported.c - calls that the server has no request for; each fails and changes nothing.
 */
#include "connection.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

static int refuse(int c)
{
	return connection_fail_code(connection_find(c), PBSE_NOSUP);
}

#define NOT_SUPPORTED(type, function, fails, ...)       \
	type function(int c, __VA_ARGS__)               \
	{                                               \
		return fails(c);                        \
	}
NOT_SUPPORTED(int, pbs_rescquery, refuse, char **, int, int *, int *, int *, int *)
NOT_SUPPORTED(int, pbs_rescreserve, refuse, char **, int, pbs_resource_t *)
NOT_SUPPORTED(int, pbs_rescrelease, refuse, pbs_resource_t)
NOT_SUPPORTED(int, pbs_stagein, refuse, const char *, const char *, const char *)
