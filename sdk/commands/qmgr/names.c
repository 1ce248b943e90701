/* SPDX-License-Identifier: Apache-2.0
 *
 * names.c - the objects a qmgr command is about.
 *
 *   name[@server], ... | @server | @default | @active
 *
 * A word after "server" is a server's name unless it is an attribute of servers. Elsewhere a word
 * is a name unless it is an attribute that cannot be one: something is assigned to it, or a list
 * of active objects stands in for names.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "command.h"

#define NAME_CHARS "-_."
#define NODE_CHARS "-_.[]#^/\\"

static size_t plain_len(const char *text, const char *extra)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || (text[n] && strchr(extra, text[n])))
		n++;
	return n;
}

static bool name_ok(int object, const char *text, size_t len)
{
	switch (object) {
	case MGR_OBJ_SERVER:
		return isalnum((unsigned char)*text) && plain_len(text, "-_.:") == len;
	case MGR_OBJ_NODE:
		return plain_len(text, NODE_CHARS) == len;
	default:
		return isalpha((unsigned char)*text) && plain_len(text, NAME_CHARS) == len;
	}
}

/* Attributes begin here, there are no names. */
static bool is_attribute(const struct reader *r, const bool has_active[MGR_OBJ_LAST])
{
	const char *text = r->line + r->at, *operator;
	int object = r->command->object, verb = r->command->verb;
	size_t len, whole = attribute_name_len(text, &len);

	if (whole == 0 || verb == MGR_CMD_CREATE || verb == MGR_CMD_DELETE ||
	    verb == MGR_CMD_ACTIVE || !attribute_find(object, text, len))
		return false;
	operator = text + whole + strspn(text + whole, " \t");
	if (object == MGR_OBJ_SERVER || *operator == '=' ||
	    ((*operator == '+' || *operator == '-') && operator[1] == '='))
		return true;
	return verb != MGR_CMD_SET && has_active[object];
}

int object_name_add(struct object_name **list, const char *text, size_t len, const char *server, size_t server_len)
{
	struct object_name *name = calloc(1, sizeof(*name));

	if (!name)
		return -ENOMEM;
	while (*list)
		list = &(*list)->next;
	*list = name;
	name->text = strndup(text, len);
	if (server)
		name->server = strndup(server, server_len);
	return name->text && (!server || name->server) ? 0 : -ENOMEM;
}

void object_names_free(struct object_name *list)
{
	while (list) {
		struct object_name *next = list->next;

		free(list->text);
		free(list->server);
		free(list);
		list = next;
	}
}

static bool same(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && strncmp(text, word, len) == 0;
}

/* One name at the cursor. */
static int name_parse(struct reader *r)
{
	const char *text = r->line + r->at, *at, *server = NULL;
	size_t whole = strcspn(text, " \t,="), len = whole, server_len = 0;
	struct command *q = r->command;
	int ret;

	at = memchr(text, '@', whole);
	if (at) {
		len = (size_t)(at - text);
		server = at + 1;
		server_len = whole - len - 1;
	}
	if ((len > 0 && !name_ok(q->object, text, len)) || whole == 0 ||
	    (at && (server_len == 0 || plain_len(server, "-_.:") != server_len)))
		return reader_fault(r, FAULT_NAME, r->at);
	if (q->object == MGR_OBJ_SERVER)
		/* a server is its own server: "set server X" has no name beside it */
		ret = at && same(server, server_len, "active") ? 0 :
			object_name_add(&q->names, "", 0, text + (*text == '@'),
					same(text, whole, "default") || same(text, whole, "@default") ? 0 : whole - (*text == '@'));
	else if (at && same(server, server_len, "active"))
		ret = object_name_add(&q->names, text, len, NULL, 0);
	else
		ret = object_name_add(&q->names, text, len, server,
			       at && same(server, server_len, "default") ? 0 : server_len);
	r->at += whole;
	reader_blanks(r);
	return ret;
}

int names_parse(struct reader *r, const bool has_active[MGR_OBJ_LAST])
{
	int ret;

	if (reader_at_end(r) || is_attribute(r, has_active))
		return 0;
	if (r->command->object == MGR_OBJ_SERVER && strchr("=+-", r->line[r->at]))
		return 0;
	for (;;) {
		ret = name_parse(r);
		if (ret < 0 || r->line[r->at] != ',')
			return ret;
		r->at++;
		reader_blanks(r);
	}
}
