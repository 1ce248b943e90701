/* SPDX-License-Identifier: Apache-2.0
 *
 * help.c - what each command is for.
 */
#include <string.h>

#include "run.h"

static const struct {
	const char *word, *form, *text;
} topics[] = {
	{ "create", "create OBJECT NAME[,NAME...] [ATTRIBUTE=VALUE[,...]]",
	  "Make objects. When an attribute is refused nothing is made." },
	{ "delete", "delete OBJECT NAME[,NAME...]", "Remove objects that nothing uses." },
	{ "set", "set OBJECT [NAMES] ATTRIBUTE[.RESOURCE] OP VALUE[,...]",
	  "Change attributes. OP is = to replace, += to add, -= to take away." },
	{ "unset", "unset OBJECT [NAMES] ATTRIBUTE[.RESOURCE][,...]",
	  "Take values away; what has a default gets it back." },
	{ "list", "list OBJECT [NAMES] [ATTRIBUTE[,...]]", "Show attributes." },
	{ "print", "print OBJECT [NAMES] [ATTRIBUTE[,...]]",
	  "Show the commands that make the objects again; qmgr can read them." },
	{ "active", "active [OBJECT [NAME[,NAME...]]]",
	  "Say which servers, queues or nodes commands without names are about, or show them." },
	{ "import", "import hook NAME CONTENT-TYPE ENCODING FILE",
	  "Give a hook its script or configuration file; FILE - is standard input." },
	{ "export", "export hook NAME CONTENT-TYPE ENCODING [FILE]",
	  "Write the script or configuration file of a hook." },
	{ "history", "history [N]", "Show the last commands (on a terminal); !N runs one again." },
	{ "quit", "quit", "Leave. exit and the end of input do the same." },
};

void help_print(const char *word)
{
	size_t i, n = word ? strlen(word) : 0;
	bool found = false;

	for (i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		if (n > 0 && strncmp(topics[i].word, word, n) != 0)
			continue;
		printf("%s\n    %s\n", topics[i].form, topics[i].text);
		found = true;
	}
	if (!found)
		printf("There is no command %s.\n", word);
	if (n > 0)
		return;
	printf("\nOBJECT is server, queue, node, resource, sched, hook or pbshook.\n"
	       "NAMES is NAME[@SERVER][,...], @SERVER, @default or @active.\n"
	       "Words may be shortened. ; separates commands, \\ at the end of a line goes on,\n"
	       "# begins a comment. A value with blanks or commas is quoted by \" or '.\n");
}
