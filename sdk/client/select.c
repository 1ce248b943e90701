/* SPDX-License-Identifier: Apache-2.0
 *
 * select.c - the ids of jobs that match.
 */
#include <string.h>

#include "call.h"
#include "connection.h"
#include "pbs_error.h"
#include "result.h"
#include "verify.h"

char **pbs_selectjob(int c, struct attropl *select, const char *extend)
{
	struct result_texts ids = { .key = "ids" };
	struct listener l = { .part = result_texts_add, .reply = result_texts_add, .arg = &ids };
	char **taken;

	if (verify(c, VERIFY_SELECT, select) != 0)
		return NULL;
	if (CALL(c, "select", &l, arg_attrs("select", select), arg_str("extend", extend)) != 0) {
		result_texts_free(&ids);
		return NULL;
	}
	taken = result_texts_take(&ids);
	if (taken == NULL)
		connection_fail(connection_find(c), PBSE_SYSTEM, "out of memory");
	return taken;
}
