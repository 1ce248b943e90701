/* SPDX-License-Identifier: Apache-2.0
 *
 * shepherd.h - what the files of keelson-shepherd share.
 */
#ifndef SHEPHERD_H
#define SHEPHERD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../order.h"
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

struct outcome {
	int status;
	bool place; /* it did not start, but has output */
	pid_t session;
	uint64_t cpu_us, max_rss_kb;
};

/* main.c: of the signals that a task of the same user may send us by accident (`kill -1`): only KILL ends us early. The
 * task has none of them ignored; the others are as the nursery was started with. */
void signals_set(void (*handler)(int));

/* child.c: none returns. What needs the user's rights before the program may be started; the program, with an order as a module
 * wants it; a task. */
_Noreturn void child_set_up(struct spec *s, const struct order *none, int trouble_fd);
_Noreturn void child_run(struct spec *s, const struct order *o, int trouble_fd);
_Noreturn void child_task(struct spec *s, const struct order *o, int trouble_fd);
/* Becomes the user of the task for good (identity.h), where the daemon is root. 0; fails with -errno, and the caller must
 * not go on. */
int privileges_drop(const struct spec *s);

/* birth.c: from a fork to what the process says of itself, or its program. */
typedef void child_fn(struct spec *s, const struct order *o, int trouble_fd);
/* A process in the task's cgroup that runs fn(). Returns its pid, and where its trouble can be read in *ret_fd, which the
 * caller closes; fails with -errno. */
pid_t birth(struct spec *s, const struct order *o, child_fn *fn, int *ret_fd);
/* The trouble that is there to be read: a stage other than NONE. */
void trouble_read(int fd, struct trouble *ret);
/* The process is its user's by the time: it may be stopped, or hang in a path. Waits as long as a start may take. */
void trouble_wait(const struct spec *s, int fd, pid_t pid, struct trouble *ret);
int trouble_status(const struct trouble *t); /* the exit status of a start that failed so */
bool has_begun(const struct trouble *t);
/* "started SESSION", "refused ..." for the diary, and what the daemon gets, which may differ. */
void trouble_text(const struct spec *s, const struct trouble *t, pid_t pid, char record[512], char talk[512]);

/* daemon.c: messages to and from the daemon. */
struct talk {
	const struct spec *s;
	int fd;	      /* -1: there is no daemon */
	int listener; /* then: where the next one is awaited; -1 */
};
void daemon_say(struct talk *t, const char *text);
/* What `fd` of the two has: the word of a message, with a descriptor in *ret_fd, or -1. False: none; the daemon is gone, or
 * there is a new one, as t->fd says. */
bool daemon_hear(struct talk *t, int fd, char word[32], int *ret_fd);
void daemon_listen(struct talk *t); /* there is no daemon any more */
void daemon_end(struct talk *t);

/* serve.c: from the setup to the last process. What becomes of it: */
enum served { SERVED_ENDED, SERVED_NOTHING /* it has not begun, its files are to go */ };
enum served serve(struct spec *s, struct talk *t, struct outcome *ret);
/* What is left: killed and looked for until there is none. */
void rest_end(const struct spec *s);
/* Says that no process is left, and waits for the daemon's word before the output is placed. */
void place_wait(struct talk *t, int status);

/* nursery.c: serves the daemon. `title`: the room behind our second word, shown by ps. */
enum { NURSERY_OVER, NURSERY_CHILD /* this is a new process: be a shepherd */ };
int nursery_run(char *title);

/* outcome.c: writes the last line of <id>.TK, durable when it returns. 0; fails with -errno. */
int outcome_write(const struct spec *s, const struct outcome *o);
/* Appends a line to <id>.TK; one that fails is left out. */
void record_append(const struct spec *s, const char *line);
/* All of <id>.TK, which the caller frees; NULL: it cannot be read. */
char *diary_text(const struct spec *s);
/* What stands behind `word` in the last line of a text that begins with it; the caller frees it. NULL: there is none, or no
 * text. */
char *text_last(const char *text, const char *word);
/* The same, of <id>.TK as it is now. */
char *record_last(const struct spec *s, const char *word);

/* spool.c: with root's rights in folders where every user may write. */
int spool_create(const struct spec *s, const char *path); /* an empty file of the user, open; fails with -errno */
int spool_move(const char *from, const char *to);	  /* replaces what is there. 0; fails with -errno */
/* Makes the user's directory for the task, under another name where that one is another user's. */
void tmpdir_make(struct spec *s);

/* deliver.c: as the user: put the output where it belongs, remove the task's directories. Why a stream (0 stdout, 1 stderr) could
 * not be placed: `why` is "" for one that was, or has no place here. */
struct undelivered {
	char place[1024], why[512];
};
void deliver(struct spec *s, int status, const char *notice, struct undelivered ret[2]);
/* Copies as cp does. 0; fails with -errno. */
int file_copy(const char *from, const char *to, int flags);

/* courier.c: what `deliver` could not place is kept; where and why is in the diary. Returns bits: 1 stdout, 2 stderr were not placed. */
int courier_run(struct spec *s, int status);
/* Removes the files: the task has not begun, nothing is placed and nothing is kept. */
void courier_clean(struct spec *s, bool place); /* place: the output first */

/* proceed.c: a shepherd was killed: ends its task for it. 0 and how the task ended; fails with -ENOENT when it has not
 * begun, and its files are removed. */
int proceed(struct spec *s, struct outcome *ret);

/* message.c: appends a line of fd 0 to the output of the task whose spec is SPEC_FD, as its user. Returns an exit status: 1 on any
 * error. */
int message_append(int files);

/* tree.c: removes a directory and all below it, following no link; what cannot be removed stays. */
void tree_remove(const char *path);
/* A job's directory may be on a disk that its hosts share: its primary marks it with its run, and a host that leaves, or comes
 * back from an earlier run, does not remove it. 0; fails with -errno. */
int tree_mark(const char *dir, const char *run);
bool tree_is_mine(const char *dir, const char *run, bool primary);

#endif
