/* SPDX-License-Identifier: Apache-2.0
 *
 * manage.c - requests of operators and managers.
 */
#include <stdlib.h>

#include "call.h"
#include "connection.h"
#include "pbs_error.h"
#include "result.h"
#include "verify.h"

int pbs_manager(int c, int cmd, int obj, const char *name, struct attropl *attrib,
		const char *extend)
{
	int ret = verify_manager(c, cmd, obj, attrib);

	if (ret != 0)
		return ret;
	return CALL(c, "manage", NULL, arg_int("cmd", cmd), arg_int("obj", obj),
		    arg_str("name", name == NULL ? "" : name), arg_attrs("attrs", attrib),
		    arg_str("extend", extend));
}

int pbs_terminate(int c, int manner, const char *extend)
{
	return CALL(c, "shutdown", NULL, arg_int("manner", manner), arg_str("extend", extend));
}

char **pbs_admin(int c, const char *verb, char **args, const char *extend)
{
	struct result_texts lines = { .key = "lines" };
	struct listener l = { result_texts_hear, result_texts_hear, &lines, false };
	char **taken;
	size_t n = 0;

	while (args != NULL && args[n] != NULL)
		n++;
	if (CALL(c, "keelson", &l, arg_str("verb", verb == NULL ? "" : verb),
		 arg_strs("args", args, n), arg_str("extend", extend)) != 0) {
		result_texts_free(&lines);
		return NULL;
	}
	taken = result_texts_take(&lines);
	if (taken == NULL)
		connection_fail(connection_find(c), PBSE_SYSTEM, "out of memory");
	return taken;
}
