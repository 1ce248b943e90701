/* SPDX-License-Identifier: Apache-2.0
 *
 * shepherd.h - what the files of keelson-shepherd share.
 */
#ifndef SHEPHERD_H
#define SHEPHERD_H

#include <stdint.h>
#include <sys/types.h>

#include "../spec.h"
#include "keel/service/task.h"

/* Where a start failed, sent by the child through a pipe that a successful exec closes. SETUP and SPOOL are root's
 * doing, TMPDIR is in a folder of the host's; the rest is about what is the user's. */
enum trouble_stage { TROUBLE_NONE, TROUBLE_SETUP, TROUBLE_SPOOL, TROUBLE_TMPDIR, TROUBLE_USER, TROUBLE_HOME,
		     TROUBLE_OUTPUT, TROUBLE_LATE, TROUBLE_PROGRAM };
struct trouble {
	int32_t stage, error;
	char what[240];
};

/* main.c: of the signals that a task of the same user may send us by accident (`kill -1`): only KILL ends us early. The
 * task has none of them ignored; the others are as the nursery was started with. */
void signals_set(void (*handler)(int));

/* child.c: never returns. */
_Noreturn void child_run(struct spec *s, int trouble_fd);
/* Become the user of the task for good (identity.h), where the daemon is root. 0, -errno. */
int privileges_drop(const struct spec *s);

/* nursery.c: serves the daemon. `title`: the room behind our second word, shown by ps. */
enum { NURSERY_OVER, NURSERY_CHILD /* this is a new process: be a shepherd */ };
int nursery_run(char *title);

/* outcome.c: the last line of <id>.TK, durable when it returns. 0 or -errno. */
struct outcome {
	int status;
	pid_t session;
	uint64_t cpu_us, max_rss_kb;
};
int outcome_write(const struct spec *s, const struct outcome *o);
/* Append a line to <id>.TK. */
void record_append(const struct spec *s, const char *line);
/* All of <id>.TK; NULL: it cannot be read. Malloc'ed. */
char *diary_text(const struct spec *s);
/* What stands behind `word` in the last line of a text that begins with it. Malloc'ed; NULL: there is none, or no text. */
char *text_last(const char *text, const char *word);
/* The same, of <id>.TK as it is now. */
char *record_last(const struct spec *s, const char *word);

/* spool.c: with root's rights in folders where everybody may write. */
int spool_create(const struct spec *s, const char *path); /* an empty file of the user; open, or -errno */
int spool_move(const char *from, const char *to);	  /* whatever is there now. 0 or -errno */
/* The user's directory for the task, under another name where that one is a stranger's. */
void tmpdir_make(struct spec *s);

/* deliver.c: as the user: put the output where it belongs, remove the task's directories. */
void deliver(struct spec *s, int status, const char *notice);
/* "as cp does". 0 or -errno */
int file_copy(const char *from, const char *to, int flags);

/* courier.c: what `deliver` could not place is kept. Bits: 1 stdout, 2 stderr were not placed. */
int courier_run(struct spec *s, int status);
/* Nothing is placed and nothing is kept: the task has not begun. */
void courier_clean(const struct spec *s);

/* proceed.c: a shepherd was killed: end its task for it. How the task ended; -ENOENT: it has not begun, and is gone. */
int proceed(struct spec *s, struct outcome *ret);

/* message.c: the spec in an open file. 0 or -errno. */
int spec_load(int fd, struct spec *ret);
/* A line of fd 0 into the output of the task whose spec is SPEC_FD, as its user. An exit status. */
int message_append(int files);

/* tree.c: remove a directory and all below it, following no link. */
void tree_remove(const char *path);

#endif
