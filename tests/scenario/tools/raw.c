/* SPDX-License-Identifier: Apache-2.0
 *
 * raw.c - raw submit QUEUE|alter ID|manage:CMD:OBJECT NAME NAME[.RES]=VALUE...: a request as it is given; no command and no check of libpbs is before it.
 * Prints the id of a job that was submitted, or the number and the text of the refusal (and ends with 1).
 */
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "pbs_error.h"
#include "result.h"

enum { ATTRS_MOST = 64 };

static struct attropl list[ATTRS_MOST];

/* `text` is cut at its signs. */
static struct attropl attr_of(char *text)
{
	char *value = strchr(text, '='), *key;

	if (value)
		*value++ = '\0';
	if ((key = strchr(text, '.')))
		*key++ = '\0';
	return (struct attropl){ .name = text, .resource = key, .value = value ? value : "", .op = SET };
}

int main(int argc, char **argv)
{
	struct result_text id = { .key = "id" };
	struct listener l = { .reply = result_text_reply, .arg = &id };
	int c = pbs_connect(NULL), n = argc - 3;
	const char *said;
	int cmd, object;

	if (c <= 0 || n < 0 || n > ATTRS_MOST)
		return 2;
	for (int i = 0; i < n; i++) {
		list[i] = attr_of(argv[i + 3]);
		list[i].next = i + 1 < n ? &list[i + 1] : NULL;
	}
	if (strcmp(argv[1], "submit") == 0)
		CALL(c, "submit", &l, arg_attrs("attrs", n ? list : NULL), arg_str("dest", argv[2]), arg_str("extend", NULL));
	else if (sscanf(argv[1], "manage:%d:%d", &cmd, &object) == 2)
		CALL(c, "manage", NULL, arg_int("cmd", cmd), arg_int("obj", object), arg_str("name", argv[2]),
		     arg_attrs("attrs", n ? list : NULL), arg_str("extend", NULL));
	else
		CALL(c, "alter", NULL, arg_str("id", argv[2]), arg_attrs("attrs", n ? list : NULL), arg_str("extend", NULL));
	said = pbs_geterrmsg(c);
	if (pbs_errno)
		printf("%d %s\n", pbs_errno, said ? said : "");
	else if (id.text)
		printf("%s\n", id.text);
	return pbs_errno != 0;
}
