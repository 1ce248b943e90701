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

int pbs_rescquery(int c, char **list, int n, int *available, int *allocated, int *reserved,
		  int *down)
{
	(void)list, (void)n, (void)available, (void)allocated, (void)reserved, (void)down;
	return refuse(c);
}

int pbs_rescreserve(int c, char **list, int n, pbs_resource_t *handle)
{
	(void)list, (void)n, (void)handle;
	return refuse(c);
}

int pbs_rescrelease(int c, pbs_resource_t handle)
{
	(void)handle;
	return refuse(c);
}

int pbs_stagein(int c, const char *id, const char *location, const char *extend)
{
	(void)id, (void)location, (void)extend;
	return refuse(c);
}

int pbs_relnodesjob(int c, const char *id, const char *vnodes, const char *extend)
{
	(void)id, (void)vnodes, (void)extend;
	return refuse(c);
}

char *pbs_submit_resv(int c, struct attropl *attrib, const char *extend)
{
	(void)attrib, (void)extend;
	refuse(c);
	return NULL;
}

char *pbs_modify_resv(int c, const char *id, struct attropl *attrib, const char *extend)
{
	(void)id, (void)attrib, (void)extend;
	refuse(c);
	return NULL;
}

int pbs_delresv(int c, const char *id, const char *extend)
{
	(void)id, (void)extend;
	return refuse(c);
}

int pbs_confirmresv(int c, const char *id, const char *location, unsigned long start,
		    const char *extend)
{
	(void)id, (void)location, (void)start, (void)extend;
	return refuse(c);
}
