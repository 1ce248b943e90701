/* SPDX-License-Identifier: Apache-2.0
 *
 * proc.h - processes of a task, read from /proc. A task's processes are the descendants of its
 * shepherd, which adopts orphans (child subreaper), so nothing escapes by setsid() or double fork.
 */
#ifndef EXECUTOR_PROC_H
#define EXECUTOR_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc {
	pid_t pid, parent, session;
	char state;           /* R S D T Z ... */
	uint64_t ticks;       /* user + system time of itself */
	uint64_t child_ticks; /* of children it waited for */
	uint64_t start;       /* ticks after boot: with the pid, a name that is never reused */
	uint64_t vmem, rss;   /* bytes, pages */
};

/* Reads /proc/<pid>/stat. 0; fails with -ESRCH (there is no such process) or -EPROTO (unexpected text). */
int proc_read(pid_t pid, struct proc *ret);
/* The text of such a file, untrusted: the command name may hold anything. 0; fails with -EPROTO. */
int proc_parse(const char *text, struct proc *ret);

/* Every process, sorted by pid; the caller frees *ret. 0; fails with -errno. */
int proc_snapshot(struct proc **ret, size_t *ret_n);
const struct proc *proc_find(const struct proc *all, size_t n, pid_t pid);

/* The pids below `top` (not itself, no zombies), breadth first. The caller frees *ret, which may be NULL with 0 of
 * them. 0; fails with -errno. */
int proc_descendants(pid_t top, pid_t **ret, size_t *ret_n);

/* Signals every descendant of `top`, again until no new one appears. Returns how many were signalled. */
int proc_kill(pid_t top, int signum);
/* One pass of KILL over the descendants of `top`, each as it is found. Returns how many were alive; 0 counts when the
 * caller sees it twice (see proc_stop). */
int proc_kill_pass(pid_t top);
/* KILL what a task has left whose shepherd is gone: what is in its session, or was started with the string `cookie`
 * in its environment (NULL: none) and `node` beside it (NULL: with any), and their children; nothing that is older than `since`, the shepherd's start, or
 * runs as another user than `uid`: a session's number may be another's by now. -1: any but root. */
void proc_kill_strays(pid_t session, const char *cookie, const char *node, uint64_t since, uid_t uid);
/* One pass of SIGSTOP, or of 0, over those that can still run. Returns how many there were: the caller repeats it until
 * it has seen 0 twice, because a fork may have been under way, and the kernel's list of children has gaps while it changes. Fails
 * with -ESRCH when there was none, or -errno. */
int proc_stop(pid_t top, int signum);

/* What pids mean something in: this start of the machine, and the namespace. "" unknown. */
#define PROC_WORLD_SIZE 96
/* Time since the machine was started, suspended or not: no clock that anybody sets. */
int64_t proc_up_ms(void);
void proc_world(char world[PROC_WORLD_SIZE]);

#endif
