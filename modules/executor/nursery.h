/* SPDX-License-Identifier: Apache-2.0
 *
 * nursery.h - where shepherds come from: one small process that forks them, so that starting a task does
 * not cost a program start of its own. It ends when the daemon does; its shepherds stay.
 */
#ifndef EXECUTOR_NURSERY_H
#define EXECUTOR_NURSERY_H

#include <pthread.h>
#include <sys/types.h>

#define NURSERY_WORD "nursery" /* in the place of the job's id; ids begin with a digit */
#define NURSERY_TALK 3	       /* its socket */
#define NURSERY_ID_MAX 230 /* files are named after it, with up to 21 characters more */

struct nursery {
	pthread_mutex_t lock;
	int fd; /* -1: none is running */
	pid_t pid;
};

/* Daemon side; any thread. */
void nursery_init(struct nursery *n);
void nursery_fini(struct nursery *n);
/* Forks a shepherd for the job `id` with these descriptors, which stay the caller's. Returns its pid, or fails with
 * -errno. A nursery that is gone is started again. */
pid_t nursery_fork(struct nursery *n, const char *program, const char *id, int spec_fd, int talk_fd);

#endif
