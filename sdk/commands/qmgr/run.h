/* SPDX-License-Identifier: Apache-2.0
 *
 * run.h - what each verb does.
 */
#ifndef QMGR_RUN_H
#define QMGR_RUN_H

#include "session.h"

/* Parses and runs a command. Returns its exit status; *ret_quit is set by quit. */
int run_line(struct session *s, const char *line, bool *ret_quit);

target_fn change_run, list_run, print_run, import_run, export_run;

/* Shows each object of class `object` at `t`, all attributes or those of `want`; prints errors.
 * Returns the exit status of list and print; `ret_shown` (may be NULL) counts the objects. */
typedef void show_fn(const struct batch_status *object, void *arg);
int objects_each(struct session *s, const struct target *t, int object, struct attropl *want,
		 show_fn *show, void *arg);

/* Calls `each` for attributes in the order of list and print: that of the reply, or of `requested` reversed. */
void attributes_each(const struct batch_status *object, const struct attropl *requested,
		     void (*each)(const struct attrl *a, void *arg), void *arg);

/* Returns the body of a hook ("application/x-python" or "application/x-config") in base64, which the caller frees; ""
 * if there is none. NULL: the error is in pbs_errno. */
char *hook_body_get(const struct target *t, const char *hook, const char *content_type);

/* Prints `help` and `help WORD`. */
void help_print(const char *word);

#endif
