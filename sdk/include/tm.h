/* SPDX-License-Identifier: Apache-2.0
 *
 * tm.h - tasks of a job: start, signal and wait for programs on the job's hosts. Link with -lpbs.
 *
 * For programs that run in a job. A call that takes an event sends its request and returns; tm_poll() returns the events that have
 * ended, one by one, and only then what the call's pointers name is filled: they must stay until then. A program has one
 * connection, used from one thread. Each function returns TM_SUCCESS or an error.
 */
#ifndef TM_H
#define TM_H

#include <sys/types.h>

#include "tm_.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Connects to this host's daemon; `info` is ignored. It takes PBS_JOBID, PBS_JOBCOOKIE, PBS_NODENUM, PBS_TASKNUM and PBS_MOMPORT
 * from the environment. */
int tm_init(void *info, struct tm_roots *roots);
/* Outstanding events are forgotten, tasks go on. tm_init() may be called again. */
int tm_finalize(void);

/* Waits for an event if `wait`, else looks for one; *result_event is TM_NULL_EVENT when none has ended. `poll_event` is
 * TM_NULL_EVENT. *tm_errno is the event's own error. */
int tm_poll(tm_event_t poll_event, tm_event_t *result_event, int wait, int *tm_errno);

/* Node numbers in the order of $PBS_NODEFILE, *ret_n of them, then TM_ERROR_NODE; the caller frees the list. No event. */
int tm_nodeinfo(tm_node_id **list, int *nnodes);
/* The node of a task that this program has heard of. No event. */
int tm_atnode(tm_task_id tid, tm_node_id *node);

/* Starts a program, argv[0], looked up on that host. `envp` (may be NULL): "NAME=value" beside the job's environment. */
int tm_spawn(int argc, char **argv, char **envp, tm_node_id where, tm_task_id *tid, tm_event_t *event);
int tm_kill(tm_task_id tid, int sig, tm_event_t *event);
/* Ends when the task does: *obitval is its exit status, or 256 and the signal that ended it. */
int tm_obit(tm_task_id tid, int *obitval, tm_event_t *event);

/* Tasks of a node: the first `list_size`, and how many there are. */
int tm_taskinfo(tm_node_id node, tm_task_id *tid_list, int list_size, int *ntasks, tm_event_t *event);
/* "uname:resource=amount,...", cut at `len` bytes. */
int tm_rescinfo(tm_node_id node, char *resource, int len, tm_event_t *event);

/* A value of this task for others on this host; and that of another: at most `len` bytes, *amount is how long it is. */
int tm_publish(char *name, void *info, int nbytes, tm_event_t *event);
int tm_subscribe(tm_task_id tid, char *name, void *info, int len, int *amount, tm_event_t *event);

/* A process becomes part of a job. jobid NULL or "": the caller's only one on this host; the cookie may be missing, host and port
 * are ignored. It waits for the answer and needs no tm_init(). */
int tm_attach(char *jobid, char *cookie, pid_t pid, tm_task_id *tid, char *host, int port);

/* These return TM_ENOTIMPLEMENTED. */
int tm_notify(int tm_signal);
int tm_alloc(char *resources, tm_event_t *event);
int tm_dealloc(tm_node_id node, tm_event_t *event);
int tm_create_event(tm_event_t *event);
int tm_destroy_event(tm_event_t *event);
int tm_register(tm_whattodo_t *what, tm_event_t *event);

/* An extension of this library: what to wait for with poll() beside other things, readable when tm_poll() should be called;
 * -1: not connected. */
int tm_fd(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
