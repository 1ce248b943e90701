/* SPDX-License-Identifier: Apache-2.0
 *
 * task-manager.h - what the files of this module share.
 *
 *	job (a part of this host) -+- clients: a program that called tm_init(); its stream is a request that stays open
 *	                           +- tasks that were started from this host, wherever they are
 *	                           +- events: what a client waits for; each is sent once, on its stream
 *	                           '- values that tasks have published
 *
 * A job is made when a client comes, or a part is found at start, and goes with its part. An event without a client stays until
 * the service that works on it has called back; one without a job belongs to nothing else and is freed then.
 */
#ifndef TASK_MANAGER_H
#define TASK_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include "keel/keel.h"
#include "keel/service/part.h"
#include "keel/service/sister.h"
#include "keel/text.h"

/* Error numbers of the interface, as tm_.h has them for users. */
enum tm_error {
	TM_OKAY = 0,
	TM_ESYSTEM = 17000,
	TM_ENOTCONNECTED = 17002,
	TM_ENOTIMPLEMENTED = 17004,
	TM_ENOTFOUND = 17006,
	TM_ESESSION = 17008,
	TM_EUSER = 17009,
	TM_EOWNER = 17010,
	TM_ENOPROC = 17011,
	TM_EHOOK = 17012,
};

#define CLIENTS_MAX 200         /* of a job on one host */
#define EVENTS_MAX 16384       /* that clients of a job wait for, on one host */
#define TASKS_MAX 65536        /* of a job that are known here; then those that ended first are forgotten */
#define PUBLISHED_MAX (1 << 20) /* bytes of a job, on one host */
#define NAME_LENGTH_MAX 255    /* of a published value */
#define UNREAD_MAX (4 << 20)   /* bytes of events of a job that wait until its clients read: later ones bring an error */
#define NUMBER_BITS 20         /* of a task's number: the counter of the host that started it; above it that host's slot in the run */

struct conf {
	bool attach;
};

struct job;
struct client;

/* What a client waits for. */
struct event {
	struct job *job;       /* NULL: gone */
	struct client *client; /* NULL: gone */
	int64_t number;	       /* the client's */
	uint32_t task;	       /* that it starts, or whose end it waits for */
	struct event *prev, *next; /* of its job */
	struct event *also;    /* another that waits for the end of the same task, or to be sent */
	struct keel_out *out;  /* of one that is to be sent */
	uint32_t len;	       /* of it, while it waits */
};

struct client {
	struct job *job;
	struct keel_req *stream;
	int64_t token;	       /* by which its requests name it */
	uint32_t task;
	char **hosts;	       /* of the job when it came: node numbers of a client do not change */
	uint32_t n_hosts;
	uint32_t *nodes;       /* node number: index in hosts */
	uint32_t n_nodes;
	bool full;	       /* it reads too slowly: what is ready waits */
	struct event *ready;
	struct client *prev, *next;
};

enum { TASK_STARTING = -3, TASK_RUNS = -2 };
struct task {
	uint32_t number;
	int32_t status; /* >= 0: as it ended; -1: its host is lost */
	char *host;
	struct event *waiting; /* for its end */
	UT_hash_handle hh;     /* in the order in which they were started */
};

struct value {
	char *key; /* "task name" */
	void *bytes;
	uint32_t len;
	UT_hash_handle hh;
};

struct job {
	char *id;
	int64_t run;
	uint32_t slot;	/* of this host in the run */
	uint32_t next;	/* counter of the next task */
	bool found, moved; /* at start: tasks of before are not known; then the counter has gone on elsewhere */
	struct client *clients;
	uint32_t n_clients;
	struct task *tasks;
	struct event *events;
	uint32_t n_events, n_unread; /* unread: bytes */
	struct value *values;
	uint32_t n_published;
	UT_hash_handle hh;
};

struct state {
	struct keel_mod *mod;
	struct job *jobs;
	int64_t next_token;
	int32_t attach_said; /* $attach_allow of mom_priv/config: 0 or 1; -1: it says nothing */
};

/* ---- job.c ------------------------------------------------------------------------------------------------------ */
/* The job of a part of this host, made when there is none; NULL without memory. */
struct job *job_of(struct state *, const struct keel_part *);
struct job *job_find(struct state *, const char *id, int64_t run);
/* Its clients get an end, its events are dropped. */
void job_destroy(struct state *, struct job *);
/* A number that no task of the run has, as far as this host knows. */
uint32_t job_number(struct job *);

/* ---- task.c ----------------------------------------------------------------------------------------------------- */
struct task *task_find(struct job *, uint32_t number);
/* NULL without memory. */
struct task *task_add(struct job *, uint32_t number, const char *host);
void task_remove(struct job *, struct task *);
/* It has ended: those that wait get its status. One that is not known is remembered. */
void task_over(struct state *, struct job *, uint32_t number, int32_t status);
/* Values: 0, -ENOMEM, -E2BIG. */
int32_t value_put(struct job *, uint32_t task, const char *name, const void *bytes, uint32_t len);
const struct value *value_find(struct job *, uint32_t task, const char *name);
void values_destroy(struct job *);

/* ---- client.c --------------------------------------------------------------------------------------------------- */
/* A client, whose stream is `req`, with what it gets first sent. NULL: it was refused. */
struct client *client_create(struct state *, struct job *, const struct keel_part *, struct keel_req *req, uint32_t task);
/* Its stream is gone, or gets an end: a code and its text. */
void client_destroy(struct client *);
void client_end(struct client *, int32_t code, const char *text);
/* The client that this request names, and whose user sends it; NULL: it was refused. */
struct client *client_of(struct state *, struct keel_req *);
/* NULL: the request was refused. */
struct event *event_create(struct client *, struct keel_req *);
/* It is over, and freed. `out` (moved, may be NULL) has what it brought, code 0; else the code says why not. */
void event_end(struct state *, struct event *, int32_t code, struct keel_out *out);

/* ---- request.c -------------------------------------------------------------------------------------------------- */
/* Is it the job's cookie? Takes the same time for each wrong one; NULL is none. */
bool cookie_fits(const char *is, const char *said);
extern const struct keel_request_def tm_init, tm_spawn, tm_kill, tm_obit, tm_taskinfo, tm_rescinfo, tm_publish, tm_subscribe;
/* ---- attach.c --------------------------------------------------------------------------------------------------- */
extern const struct keel_request_def tm_attach;
extern const struct keel_mom_directive_def attach_directive;
/* What a code of another module is for a client. */
int32_t tm_code(int32_t code);

/* ---- rescinfo.c: pure ------------------------------------------------------------------------------------------- */
/* The sum of each resource in a part of an exec_vnode, "mem=2048kb,ncpus=3". */
void resources_text(const char *vnodes, struct keel_text *);

#endif
