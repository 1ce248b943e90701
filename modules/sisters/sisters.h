/* SPDX-License-Identifier: Apache-2.0
 *
 * sisters.h - what the files of this module share.
 *
 * A job over several hosts that has a part here is a `struct job`: made from what service part says of it, at any moment,
 * and gone with the part. Hosts are named in messages, never numbered: a job that shrinks keeps our indexes.
 */
#ifndef SISTERS_SISTERS_H
#define SISTERS_SISTERS_H

#include <stdio.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include "keel/keel.h"
#include "keel/link.h"
#include "keel/service/carrier.h"
#include "keel/service/part.h"
#include "keel/service/sister.h"
#include "keel/strings.h"
#include "primary.h"
#include "sister.h"

#define TICK_MS 1000
#define END_AGAIN_MS 2000
#define ID_MAX 256
#define ITEMS_MAX 64	    /* of a report of usage */
#define PIECE_MAX 65536	    /* bytes of output in a message */
#define CALLS_MAX 4096	    /* of a job, without an answer */
#define CALLS_BYTES_MAX (16u << 20) /* that these have; a link is shared with other jobs */
#define TASKS_MAX 100000    /* of a job, on this host, for others */
#define PBSE_SYSTEM 15010
#define PBSE_UNKSIG 15013
#define PBSE_NOSUP 15029
#define PBSE_HOOK_REJECT 15169
#define TM_SYSTEM 17000
#define TM_NOTFOUND 17006

struct conf {
	int64_t sister_join_job_alarm, job_launch_delay, max_poll_downtime;
	int64_t end_delay, end_within, act_within;
};

enum limit { LIMIT_JOIN, LIMIT_PROLOGUE, LIMIT_DOWNTIME, LIMIT_ACT, LIMIT_END, LIMITS };

/* Output of a sister's tasks: on the sister what the primary has, on the primary what it has of that host. */
struct stream {
	int64_t at;
	int64_t begun, begun_ms; /* on a sister: bytes of a line without an end, and since when no more have come */
	int64_t sent_ms;  /* a piece is under way since; 0: none */
	bool known, end;  /* on a sister: the primary has said it on this link; all is there */
};

struct host {
	char *name, *address, *key;
	bool expected; /* by the carrier, for this job */
	bool placed, with_server; /* placed: it is known whether it shares the server's process, and its link */
	struct stream streams[2];
};

/* A tap that waits for a step of the primary. The first of a job's is under way. */
struct gate {
	struct keel_mod *mod;
	struct job *job;
	enum primary_step step;
	char name[PRIMARY_NAME_MAX + 1];
	struct keel_hold *hold;
	bool decided, late;
	int32_t code; /* 0: it passes */
	char text[256];
	struct gate *prev, *next;
};

/* A question of a task manager about another host: kept until it is answered, sent again at each link. */
struct call {
	uint64_t number;
	bool is_spawn;
	char *from, *to; /* hosts */
	uint32_t task;
	char *name, *dir, **argv, **env; /* of a signal; of a task */
	size_t bytes; /* of these */
	struct keel_mod *me;
	keel_part_done *done; /* NULL: it is another host's, `from` */
	void *arg;
	struct call *prev, *next;
};

/* A task on this host that another host had started, or one elsewhere that this host had. */
struct far_task {
	uint32_t number;
	char *host;
	bool answered, over; /* here: the answer to its call is known; it has ended, and the other host may not know it */
	uint64_t call;
	int32_t code, status;
	UT_hash_handle hh;
};

struct acting { /* arg of act() of the pure states */
	struct keel_mod *mod;
	struct job *job;
};

struct job {
	char *id;
	int64_t run;
	uint32_t self, n;
	struct host *hosts;
	struct primary primary; /* self is 0 */
	struct sister sister;	/* else */
	struct gate *gates;
	struct call *calls;
	size_t calls_bytes;
	struct far_task *here, *there;
	int64_t ends_ms; /* when ends of tasks that are not known there are said again; 0: there are none */
	char **items; /* a sister's usage at its end, NULL-terminated */
	int record;   /* file of what the streams have; -1: none yet */
	struct acting acting;
	bool joined;  /* logged */
	bool found;   /* when this daemon started: tasks that it had elsewhere are not known */
	UT_hash_handle hh;
};

struct listener {
	struct keel_mod *me;
	struct keel_sister_events events;
	struct listener *next;
};

struct state {
	struct job *jobs;
	struct listener *listeners;
	struct keel_timer *tick;
	uint64_t number;
	int64_t said_ms[LIMITS]; /* by mom_priv/config; 0: not there */
	bool stopping;
};

/* limit.c */
int64_t limit_ms(struct keel_mod *mod, enum limit which);
extern const struct keel_mom_directive_def sister_join_job_alarm_directive, job_launch_delay_directive, max_poll_downtime_directive;

/* job.c */
struct job *job_find(struct keel_mod *mod, const char *id, int64_t run); /* NULL: none */
/* The job of a part over several hosts, made when it is new; NULL: it is on one host, or there is no memory, which is logged. */
struct job *job_of(struct keel_mod *mod, const struct keel_part *part);
void job_drop(struct keel_mod *mod, struct job *j);
void job_resized(struct keel_mod *mod, struct job *j, const struct keel_part *part);
int job_host(const struct job *j, const char *name); /* -1: none */

/* pair.c */
void pair_expect(struct keel_mod *mod, struct job *j, uint32_t host);
/* The peer of the link to a host: its name, or "server" when it is in the server's process. */
const char *pair_peer(struct host *h);
int pair_host(const struct job *j, const char *peer); /* -1: no host of the job */
void pair_release(struct job *j, uint32_t host);

/* gate.c: taps of the primary */
keel_verdict on_arrival(struct keel_call *c, const struct keel_ev_task_begin *ev);
keel_verdict on_begin(struct keel_call *c, const struct keel_ev_task_begin *ev);
keel_verdict on_prologue(struct keel_call *c, const struct keel_ev_task_prologue *ev);
keel_verdict on_act(struct keel_call *c, const struct keel_ev_task_act *ev);
keel_verdict on_preterm(struct keel_call *c, const struct keel_ev_task_preterm *ev);
keel_verdict on_epilogue(struct keel_call *c, const struct keel_ev_task_epilogue *ev);
void gate_decide(struct job *j, int32_t code, const char *text);
void gates_free(struct job *j);

/* lead.c: what a primary does */
void lead_init(struct keel_mod *mod, struct job *j, const struct keel_part *part);

/* follow.c: what a sister does */
void follow_init(struct keel_mod *mod, struct job *j, const struct keel_part *part);

/* message.c */
struct keel_out *message(struct keel_mod *mod, const struct job *j);
void message_send(struct keel_mod *mod, const struct job *j, uint32_t host, const char *name, struct keel_out *out);
int32_t messages_listen(struct keel_mod *mod);

/* output.c */
void output_pump(struct keel_mod *mod, struct job *j); /* a sister: the next pieces */
void output_link(struct job *j);		       /* a sister: a new link */
void output_say(struct keel_mod *mod, struct job *j, uint32_t host); /* a primary: what it has */
void output_recall(struct keel_mod *mod, struct job *j);
void output_forget(struct keel_mod *mod, struct job *j);
void output_sweep(struct keel_mod *mod);

/* task.c, call.c, errand.c, over.c */
extern const struct keel_sister_api sister_api;
void tasks_over(struct keel_mod *mod, const struct keel_part *part, uint32_t number, int32_t status);
void tasks_link(struct keel_mod *mod, struct job *j, uint32_t host);
void tasks_lost(struct keel_mod *mod, struct job *j, uint32_t host);
void tasks_tick(struct keel_mod *mod, struct job *j, int64_t now);
void tasks_free(struct keel_mod *mod, struct job *j);

typedef void message_fn(struct keel_mod *, struct job *, uint32_t host, const struct keel_msg *);
message_fn on_output, on_got, on_spawn, on_signal, on_spawned, on_over, on_over_known, on_host_lost;

#endif
