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
	CHILD_HUNG,    /* killed at its deadline */
	CHILD_NONE,    /* there was no process */
};

/* Run fn in a child. *ret_why (valid until the next call): "SIGSEGV while ..., in on_submit()". */
enum child_end child_run(void (*fn)(void *arg), void *arg, int deadline_s, const char **ret_why);
/* Cases 0, 1, 2 ... until fn says that there are no more, in one child; after one that crashes the next ones
 * get another. Each crash, and each case that works longer than CASE_SECONDS, or stands still for STILL_SECONDS, breaks
 * `rule`. On a busy machine a case that waits often takes long and is still well. */
enum { CASE_SECONDS = 10, STILL_SECONDS = 60 };
void child_cases(bool (*fn)(void *arg, unsigned i), void *arg, enum rule crash, enum rule hang);
/* In the child: what is about to be done, for child_run()'s answer. */
__attribute__((format(printf, 1, 2))) void child_step(const char *fmt, ...);
/* In the child: it ends, because of a call from there. */
void child_ends_in(const void *address);
/* The last step, as it was said. */
const char *child_last_step(void);

#endif
