/* SPDX-License-Identifier: Apache-2.0
 *
 * manage.c - requests of operators and managers.
 */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "connection.h"
#include "pbs_error.h"
#include "result.h"
#include "verify.h"

/* The reply to a change that was made may have a text: pbs_geterrmsg() returns it, pbs_errno stays 0. */
static int said_keep(const struct pack_value *body, void *arg)
{
	char *text = pack_strdup(pack_get(body, "text"));

	if (text != NULL && *text != '\0')
		connection_fail(arg, 0, text);
	free(text);
	return 0;
}

/* An import: the body of a hook, the value of `content`, is as long as a job's script, and is sent as such are. */
static int import_send(int c, struct listener *l, int obj, const char *name, const struct attropl *attrib, const char *extend)
{
	struct attropl kept[8];
	const char *content = NULL;
	size_t n = 0;

	for (; attrib != NULL && n < sizeof(kept) / sizeof(*kept); attrib = attrib->next) {
		if (content == NULL && attrib->name != NULL && strcmp(attrib->name, "content") == 0 && attrib->value != NULL) {
			content = attrib->value;
			continue;
		}
		kept[n] = *attrib;
		kept[n].next = NULL;
		if (n > 0)
			kept[n - 1].next = &kept[n];
		n++;
	}
	if (attrib != NULL || content == NULL)
		return -1;
	return CALL(c, "manage", l, arg_int("cmd", MGR_CMD_IMPORT), arg_int("obj", obj), arg_str("name", name == NULL ? "" : name),
		    arg_attrs("attrs", n > 0 ? kept : NULL), arg_bin("content", content, strlen(content)), arg_str("extend", extend));
}

int pbs_manager(int c, int cmd, int obj, const char *name, struct attropl *attrib,
		const char *extend)
{
	int ret = verify_manager(c, cmd, obj, attrib);
	struct listener l = { .reply = said_keep, .arg = connection_find(c) };

	if (ret != 0)
		return ret;
	if (cmd == MGR_CMD_IMPORT && (ret = import_send(c, &l, obj, name, attrib, extend)) >= 0)
		return ret;
	return CALL(c, "manage", &l, arg_int("cmd", cmd), arg_int("obj", obj),
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
	struct listener l = { .part = result_texts_add, .reply = result_texts_add, .arg = &lines };
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
