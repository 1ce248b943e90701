/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - a whole command: read, then done.
 */
#include "run.h"

#include <errno.h>
#include <string.h>

#define NO_MEMORY 1

static target_fn *function_of(int verb)
{
	switch (verb) {
	case MGR_CMD_LIST:
		return list_run;
	case MGR_CMD_PRINT:
		return print_run;
	case MGR_CMD_IMPORT:
		return import_run;
	case MGR_CMD_EXPORT:
		return export_run;
	default:
		return change_run;
	}
}

static int verb_run(struct session *s, struct command *q, bool *ret_quit)
{
	switch (q->verb) {
	case VERB_QUIT:
		*ret_quit = true;
		return 0;
	case VERB_HELP:
		help_print(q->words[0]);
		return 0;
	case VERB_HISTORY:
		return 0; /* terminal.c has handled it */
	case MGR_CMD_ACTIVE:
		if (!s->check_only && q->names) {
			session_activate(s, q->object, q->names);
			q->names = NULL;
		} else if (!s->check_only) {
			session_print_active(s, q->object == MGR_OBJ_NONE ? MGR_OBJ_SERVER : q->object);
		}
		return 0;
	default:
		return s->check_only ? 0 : session_each_target(s, q, function_of(q->verb));
	}
}

int run_line(struct session *s, const char *line, bool *ret_quit)
{
	bool has_active[MGR_OBJ_LAST];
	struct command command;
	struct fault fault = { 0 };
	int ret;

	session_has_active(s, has_active);
	ret = command_parse(line, has_active, &command, &fault);
	if (ret == -EINVAL) {
		fault_print(&fault, line);
		return fault.status;
	}
	if (ret < 0) {
		fprintf(stderr, "qmgr: %s\n", strerror(-ret));
		return NO_MEMORY;
	}
	ret = verb_run(s, &command, ret_quit);
	command_fini(&command);
	fflush(stdout);
	return ret;
}
