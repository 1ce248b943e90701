/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal.h - interactive input: line editing, and a history in a file.
 */
#ifndef QMGR_TERMINAL_H
#define QMGR_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

struct terminal {
	bool is_one;
	char *history_file; /* owned; NULL: none */
};

void terminal_init(struct terminal *t, bool is_one);
void terminal_fini(struct terminal *t);

/* Returns the next line without its end, which the caller frees; NULL at the end. Prompts on a terminal only. */
char *terminal_read(struct terminal *t, FILE *in, const char *prompt);

/* Handles "history [N]" and returns true. "!N" and "!!" replace *line (owned) by that command, which
 * is printed. Other lines are added to the history. False: the caller runs *line. */
bool terminal_command(struct terminal *t, char **line);

#endif
