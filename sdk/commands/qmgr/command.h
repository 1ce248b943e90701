/* SPDX-License-Identifier: Apache-2.0
 *
 * command.h - one command line of qmgr, read.
 *
 *   verb object [names] [attributes]
 */
#ifndef QMGR_COMMAND_H
#define QMGR_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "pbs_ifl.h"

/* Verbs that are no request to a server. */
enum { VERB_HELP = MGR_CMD_LAST, VERB_QUIT, VERB_HISTORY };

struct object_name {
	struct object_name *next;
	char *text; /* owned; "": every object of the server */
	char *server; /* owned; NULL: the active ones; "": the default one */
};

struct command {
	int verb; /* enum mgr_cmd, or VERB_... */
	int object; /* enum mgr_obj; MGR_OBJ_NONE: not given */
	struct object_name *names; /* owned; NULL: not given */
	struct attropl *attributes; /* owned */
	char *words[3]; /* owned: content type, encoding and file of import and export; or the argument
			 * of help or history */
};

/* Exit statuses of a command that was not understood. */
enum { FAULT_VERB = 1, FAULT_OBJECT = 2, FAULT_NAME = 3, FAULT_ATTRIBUTE = 4 };

/* A syntax error in a line. */
struct fault {
	int status; /* FAULT_... */
	const char *message; /* NULL: a syntax error at `at` */
	size_t at; /* index into the line */
	char word[64]; /* the verb or object, perhaps cut */
};

/* Parses `line`. `has_active[object]`: active objects stand in for missing names. Returns 0, -EINVAL with *fault, or
 * -ENOMEM; the caller calls command_fini() after 0 only. */
int command_parse(const char *line, const bool has_active[MGR_OBJ_LAST], struct command *ret,
		  struct fault *fault);

/* Frees what a command owns; it is empty then. */
void command_fini(struct command *r);

/* Adds a name at the end of a list, with copies of both texts (`server` may be NULL). Returns 0 or -ENOMEM. */
int object_name_add(struct object_name **list, const char *text, size_t len, const char *server, size_t server_len);
void object_names_free(struct object_name *list);

/* Prints the fault on stderr. */
void fault_print(const struct fault *fault, const char *line);

/* Returns the word for an object: "server", "queue", ... */
const char *object_word(int object);

/* For the files that read a command. */
struct reader {
	const char *line;
	size_t at;
	struct command *command;
	struct fault *fault;
};

/* Fills *fault; always returns -EINVAL. */
int reader_fault(struct reader *r, int status, size_t at);
void reader_blanks(struct reader *r);
bool reader_at_end(const struct reader *r);

/* Parses "attr[.resource] [OP value], ..." up to the end of the line. Returns 0, -EINVAL or -ENOMEM. */
int attributes_parse(struct reader *r);

/* Parses "name[@server], ...". Returns 0, -EINVAL or -ENOMEM. */
int names_parse(struct reader *r, const bool has_active[MGR_OBJ_LAST]);

/* Length of "attr[.resource]" at `text`; *ret_len of the attribute alone. 0: there is none. */
size_t attribute_name_len(const char *text, size_t *ret_len);

#endif
