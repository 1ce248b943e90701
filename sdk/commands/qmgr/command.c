/* SPDX-License-Identifier: Apache-2.0
 *
 * command.c - parses one command line of qmgr: verb, object, names, attributes.
 *
 * Any beginning of a word will do; the first word of the tables that has it wins.
 */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attr_list.h"

struct word {
	const char *text;
	int value;
};

static const struct word verbs[] = {
	{ "create", MGR_CMD_CREATE }, { "delete", MGR_CMD_DELETE }, { "set", MGR_CMD_SET },
	{ "unset", MGR_CMD_UNSET },   { "list", MGR_CMD_LIST },	    { "print", MGR_CMD_PRINT },
	{ "active", MGR_CMD_ACTIVE }, { "import", MGR_CMD_IMPORT }, { "export", MGR_CMD_EXPORT },
	{ "help", VERB_HELP },	      { "?", VERB_HELP },	    { "quit", VERB_QUIT },
	{ "exit", VERB_QUIT },	      { "history", VERB_HISTORY },  { NULL, 0 },
};

static const struct word objects[] = {
	{ "servers", MGR_OBJ_SERVER },	 { "queues", MGR_OBJ_QUEUE }, { "nodes", MGR_OBJ_NODE },
	{ "resources", MGR_OBJ_RSC },	 { "scheds", MGR_OBJ_SCHED }, { "hooks", MGR_OBJ_HOOK },
	{ "pbshooks", MGR_OBJ_PBS_HOOK }, { NULL, 0 },
};

const char *object_word(int object)
{
	static const char *const singular[MGR_OBJ_LAST] = {
		[MGR_OBJ_SERVER] = "server", [MGR_OBJ_QUEUE] = "queue",
		[MGR_OBJ_NODE] = "node",     [MGR_OBJ_RSC] = "resource",
		[MGR_OBJ_SCHED] = "sched",   [MGR_OBJ_HOOK] = "hook",
		[MGR_OBJ_PBS_HOOK] = "pbshook",
	};

	return object >= 0 && object < MGR_OBJ_LAST && singular[object] ? singular[object] : "";
}

static bool word_find(const struct word *table, const char *text, size_t len, int *ret)
{
	for (; len > 0 && table->text; table++) {
		if (strncmp(table->text, text, len) == 0) {
			*ret = table->value;
			return true;
		}
	}
	return false;
}

int reader_fault(struct reader *r, int status, size_t at)
{
	r->fault->status = status;
	r->fault->message = NULL;
	r->fault->at = at;
	return -EINVAL;
}

void reader_blanks(struct reader *r)
{
	r->at += strspn(r->line + r->at, " \t");
}

bool reader_at_end(const struct reader *r)
{
	return r->line[r->at] == '\0';
}

static size_t word_len(const struct reader *r)
{
	return strcspn(r->line + r->at, " \t");
}

static int word_fault(struct reader *r, int status, const char *message)
{
	r->fault->status = status;
	r->fault->message = message;
	snprintf(r->fault->word, sizeof(r->fault->word), "%.*s", (int)word_len(r),
		 r->line + r->at);
	return -EINVAL;
}

/* Up to `max` words that end at blanks; quotes around one are taken off. */
static int words_parse(struct reader *r, int max)
{
	for (int i = 0; i < max && !reader_at_end(r); i++) {
		const char *text = r->line + r->at;
		char quote = *text == '"' || *text == '\'' ? *text : '\0';
		size_t len = quote ? strcspn(text + 1, quote == '"' ? "\"" : "'") : word_len(r);

		if (quote && text[len + 1] != quote)
			return reader_fault(r, FAULT_ATTRIBUTE, strlen(r->line));
		r->command->words[i] = strndup(text + (quote != '\0'), len);
		if (!r->command->words[i])
			return -ENOMEM;
		r->at += len + (quote ? 2 : 0);
		reader_blanks(r);
	}
	return 0;
}

static bool needs_attributes(int verb)
{
	return verb == MGR_CMD_SET || verb == MGR_CMD_UNSET;
}

/* What follows the object. */
static int rest_parse(struct reader *r, const bool has_active[MGR_OBJ_LAST])
{
	struct command *q = r->command;
	bool copies = q->verb == MGR_CMD_IMPORT || q->verb == MGR_CMD_EXPORT;
	bool changes = copies || q->verb == MGR_CMD_CREATE || q->verb == MGR_CMD_DELETE;
	bool never_all = q->object == MGR_OBJ_HOOK || q->object == MGR_OBJ_PBS_HOOK || q->object == MGR_OBJ_RSC;
	int ret = names_parse(r, has_active);

	if (ret < 0)
		return ret;
	if (!q->names && (changes || (never_all && needs_attributes(q->verb))))
		return reader_fault(r, FAULT_NAME, r->at);
	if (copies)
		return words_parse(r, 3);
	if (reader_at_end(r))
		return needs_attributes(q->verb) ? reader_fault(r, FAULT_ATTRIBUTE, r->at) : 0;
	if (q->verb == MGR_CMD_DELETE || q->verb == MGR_CMD_ACTIVE)
		return reader_fault(r, FAULT_ATTRIBUTE, r->at);
	return attributes_parse(r);
}

static int line_parse(struct reader *r, const bool has_active[MGR_OBJ_LAST])
{
	size_t len;

	reader_blanks(r);
	len = word_len(r);
	if (!word_find(verbs, r->line + r->at, len, &r->command->verb))
		return word_fault(r, FAULT_VERB, "Illegal operation");
	r->at += len;
	reader_blanks(r);
	if (r->command->verb >= VERB_HELP)
		return words_parse(r, 1);
	if (r->command->verb == MGR_CMD_ACTIVE && reader_at_end(r))
		return 0;
	len = word_len(r);
	if (len == 0)
		return word_fault(r, FAULT_OBJECT, "No object type given");
	if (!word_find(objects, r->line + r->at, len, &r->command->object))
		return word_fault(r, FAULT_OBJECT, "Illegal object type");
	r->at += len;
	reader_blanks(r);
	return rest_parse(r, has_active);
}

int command_parse(const char *line, const bool has_active[MGR_OBJ_LAST], struct command *ret,
		  struct fault *fault)
{
	struct command command = { .object = MGR_OBJ_NONE };
	struct reader r = { .line = line, .command = &command, .fault = fault };
	int rc = line_parse(&r, has_active);

	if (rc < 0)
		command_fini(&command);
	else
		*ret = command;
	return rc;
}

void command_fini(struct command *r)
{
	struct attr_list attributes = { r->attributes };

	object_names_free(r->names);
	attr_list_fini(&attributes);
	for (size_t i = 0; i < sizeof(r->words) / sizeof(r->words[0]); i++)
		free(r->words[i]);
	*r = (struct command){ .object = MGR_OBJ_NONE };
}

void fault_print(const struct fault *fault, const char *line)
{
	if (!fault->message)
		fprintf(stderr, "qmgr: Syntax error\n%s\n%*s^\n", line, (int)fault->at, "");
	else if (fault->status == FAULT_VERB)
		fprintf(stderr, "qmgr: %s: %s\nTry 'help' if you are having trouble.\n",
			fault->message, fault->word);
	else if (*fault->word)
		fprintf(stderr, "qmgr: %s: %s.\n", fault->message, fault->word);
	else
		fprintf(stderr, "qmgr: %s\n", fault->message);
}
