/* SPDX-License-Identifier: Apache-2.0
 *
 * shepherd.h - what the files of keelson-shepherd share.
 */
#ifndef SHEPHERD_H
#define SHEPHERD_H

#include <stdint.h>
#include <sys/types.h>

#include "../spec.h"

/* Where a start failed, sent by the child through a pipe that a successful exec closes. */
enum trouble_stage { TROUBLE_NONE, TROUBLE_SETUP, TROUBLE_USER, TROUBLE_HOME, TROUBLE_OUTPUT,
		     TROUBLE_PROGRAM };
struct trouble {
	int32_t stage, error;
	char what[240];
};

/* child.c: never returns. */
_Noreturn void child_run(struct spec *s, int trouble_fd);
/* Become the user for good: groups, gid, uid, and check that root cannot be taken back. 0, -errno. */
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
/* Where the streams go now, as the last lines of <id>.TK about them say. */
void places_read(struct spec *s);
/* Append a line to <id>.TK. */
void record_append(const struct spec *s, const char *line);

/* deliver.c: as the user. Bits: 1 stdout, 2 stderr could not be placed. */
int deliver(struct spec *s, int status, const char *notice);
/* The last "notice" line of <id>.TK, malloc'ed or NULL. */
char *notice_read(const struct spec *s);

/* tree.c: remove a directory and all below it, following no link. */
void tree_remove(const char *path);

#endif
