/* SPDX-License-Identifier: Apache-2.0
 *
 * group.h - the cgroup (v2) of a task: what is in it is frozen and killed as a whole, forks included. Where the system lets the
 * daemon bound memory there, that; else a second one of the first kind (v1).
 * Made below the daemon's own where that is allowed; a task may be without one.
 */
#ifndef EXECUTOR_GROUP_H
#define EXECUTOR_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/* Where groups may be made; the caller frees it. NULL: nowhere. */
char *group_home(void);
/* A new one for a task; the caller frees it. NULL: it cannot be made. */
char *group_make(const char *home, const char *id);
/* 0; fails with -errno. Freezing does not wait for processes that are in the kernel at the moment. */
int group_freeze(const char *group);
int group_thaw(const char *group);
int group_kill(const char *group);
/* The calling process moves in. */
int group_enter(const char *group);
int group_move(const char *group, int pid); /* a process from elsewhere */
void group_remove(const char *group);

/* Where groups of the first kind that bound memory may be made; the caller frees it. NULL: nowhere. */
char *group_memory_home(void);
/* What is in it may have so much memory, and no more by swapping; more than that ends it. < 0: no bound any more. 0; fails with
 * -errno, -ENOENT where this group bounds no memory. */
int group_bound(const char *group, int64_t bytes);
/* How many of its processes the kernel has ended for that, and the most it had. 0: none, or it is not known. */
int64_t group_kills(const char *group);
int64_t group_peak_kb(const char *group);

#endif
