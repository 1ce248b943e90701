/* SPDX-License-Identifier: Apache-2.0
 *
 * check_child.h - code of a module runs in a child with a deadline: what it breaks is its own.
 */
#ifndef KEELSON_CHECK_CHILD_H
#define KEELSON_CHECK_CHILD_H

#include "check_report.h"

enum child_end {
	CHILD_DONE,
	CHILD_CRASHED, /* by a signal, or by exit() */
	CHILD_ABSENT,  /* crashed in what looks like a call through a table that is not there */
	CHILD_HUNG,    /* killed at its deadline */
	CHILD_NONE,    /* there was no process */
};

/* Run fn in a child. *ret_why (valid until the next call): "SIGSEGV while ..., in on_submit()". */
enum child_end child_run(void (*fn)(void *arg), void *arg, int deadline_s, const char **ret_why);
/* In the child: what is about to be done, for child_run()'s answer. */
__attribute__((format(printf, 1, 2))) void child_step(const char *fmt, ...);
/* The last step, as it was said. */
const char *child_last_step(void);

#endif
