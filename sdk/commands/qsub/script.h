/* SPDX-License-Identifier: Apache-2.0
 *
 * script.h - the job's script: one copy, read once, for directives and for sending.
 */
#ifndef QSUB_SCRIPT_H
#define QSUB_SCRIPT_H

#include <stddef.h>

struct script {
	char *text; /* owned, `len` bytes and a NUL */
	size_t len;
	int fd; /* a file in memory with the same bytes, or -1 */
	char path[32]; /* by which the library can open it; "" without */
};

/* Reads the file `name`, or standard input if NULL. Returns 0, or the exit status after a message;
 * the caller calls script_fini() in any case. */
int script_read(struct script *s, const char *name);
void script_fini(struct script *s);

/* Puts the text where pbs_submit() can read it. Returns 0, or the exit status after a message. */
int script_store(struct script *s);

#endif
