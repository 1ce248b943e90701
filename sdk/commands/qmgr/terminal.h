/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal.h - lines typed by a person: editing, and a history that is kept.
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

/* The next line without its end, malloc'ed; NULL at the end. A prompt only on a terminal. */
char *terminal_read(struct terminal *t, FILE *in, const char *prompt);

/* "history [N]" is answered here: true. "!N" and "!!" replace *line (owned) by that command, which
 * is printed. Other lines are remembered. False: *line is to be run. */
bool terminal_command(struct terminal *t, char **line);

#endif
