/* SPDX-License-Identifier: Apache-2.0
 *
 * run.h - what each verb does.
 */
#ifndef QMGR_RUN_H
#define QMGR_RUN_H

#include "session.h"

/* A whole command: read, then done. Returns its exit status; *ret_quit is set by quit. */
int run_line(struct session *s, const char *line, bool *ret_quit);

target_fn change_run, list_run, print_run, import_run, export_run;

/* Show each object of class `object` at `t`, all attributes or those of `want`. Failures are told.
 * The exit status of list and print; `ret_shown` (may be NULL) counts. */
typedef void show_fn(const struct batch_status *object, void *arg);
int objects_each(struct session *s, const struct target *t, int object, struct attropl *want,
		 show_fn *show, void *arg);

/* Call `each` for attributes in the order of list and print: as they are, or when some were asked
 * for, these in reverse. */
void attributes_each(const struct batch_status *object, const struct attropl *asked,
		     void (*each)(const struct attrl *a, void *arg), void *arg);

/* The body of a hook ("application/x-python" or "application/x-config") in base64, malloc'ed; ""
 * when there is none. NULL: pbs_errno says why. */
char *hook_body_get(const struct target *t, const char *hook, const char *content_type);

/* What `help` and `help WORD` print. */
void help_print(const char *word);

#endif
