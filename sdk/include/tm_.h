/* SPDX-License-Identifier: Apache-2.0
 *
 * tm_.h - tasks of a job: types and numbers. Include tm.h. Values are the ABI.
 */
#ifndef TM__H
#define TM__H

#ifdef __cplusplus
extern "C" {
#endif

typedef int tm_host_id;
typedef int tm_node_id; /* a node number: a line of $PBS_NODEFILE, from 0 */
typedef int tm_event_t;
typedef unsigned int tm_task_id;

#define TM_ERROR_NODE ((tm_node_id)-1)
#define TM_NULL_EVENT ((tm_event_t)0)
#define TM_ERROR_EVENT ((tm_event_t)-1)
#define TM_NULL_TASK ((tm_task_id)0)
#define TM_INIT_TASK ((tm_task_id)1) /* the job's program */

/* Requests; callers need none of these. */
#define TM_INIT 100
#define TM_TASKS 101
#define TM_SPAWN 102
#define TM_SIGNAL 103
#define TM_OBIT 104
#define TM_RESOURCES 105
#define TM_POSTINFO 106
#define TM_GETINFO 107
#define TM_GETTID 108
#define TM_REGISTER 109
#define TM_RECONFIG 110
#define TM_ACK 111
#define TM_FINALIZE 112
#define TM_ATTACH 113
#define TM_OKAY 0
#define TM_ERROR 999

/* Errors. */
#define TM_SUCCESS 0
#define TM_ESYSTEM 17000	  /* the host cannot do it, or is lost */
#define TM_ENOEVENT 17001
#define TM_ENOTCONNECTED 17002	  /* refused, or the connection is lost */
#define TM_EUNKNOWNCMD 17003
#define TM_ENOTIMPLEMENTED 17004
#define TM_EBADENVIRONMENT 17005  /* not in a job */
#define TM_ENOTFOUND 17006	  /* no such task, node, job or value */
#define TM_BADINIT 17007	  /* tm_init() has not been called, or twice */
#define TM_ESESSION 17008	  /* the session is part of a job already */
#define TM_EUSER 17009		  /* the caller is not the job's user */
#define TM_EOWNER 17010		  /* the process is not of the job's user */
#define TM_ENOPROC 17011	  /* there is no such process */
#define TM_EHOOK 17012		  /* refused by a hook */

#define TM_TODO_NOP 5000
#define TM_TODO_CKPT 5001
#define TM_TODO_MOVE 5002
#define TM_TODO_QUIT 5003

struct tm_roots {
	tm_task_id tm_me, tm_parent;
	int tm_nnodes, tm_ntasks, tm_taskpoolid;
	tm_task_id *tm_tasklist;
};

struct tm_whattodo {
	int tm_todo;
	tm_task_id tm_what;
	tm_node_id tm_where;
};
typedef struct tm_whattodo tm_whattodo_t;

#ifdef __cplusplus
}
#endif

#endif
