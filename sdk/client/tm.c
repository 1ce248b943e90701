/* SPDX-License-Identifier: Apache-2.0
 *
 * tm.c - tasks of a job, for programs that run in it.
 *
 *	tm_init() -> request tm_init, whose parts are a greeting and events; it stays open as long as the connection
 *	tm_x()    -> a request, whose correlation id is the event's number; its reply says at most that it was refused
 *
 * When the daemon of this host restarts, the connection is made again: ends of tasks are waited for on, any other event that was
 * outstanding ends with TM_ESYSTEM, for what it was about may have been done.
 */
#include "tm.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pbs_error.h"
#include "tm_events.h"
#include "tm_link.h"

#define STREAM_CORR (UINT64_C(1) << 32) /* of the request tm_init; no event has it */
#define AGAIN_SECONDS 60
#define AGAIN_NS 100000000L
#define GREETING_MS 60000
#define NODES_MAX 1000000 /* of a job */

static struct {
	bool begun;	 /* tm_init() has succeeded */
	bool lost;	 /* for good */
	int64_t again_s; /* > 0: the connection is gone, and tried again until then */
	struct tm_link link;
	int64_t client;	 /* by which the daemon knows this program */
	int node, n_nodes;
	int refused;	 /* the code of a stream that ended */
	struct tm_events events;
} tm = { .link.fd = -1 };

/* ---- receive ----------------------------------------------------------------------------------------------------- */
static int64_t clock_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Events whose end cannot be known are over; those about ends of tasks are requested once more. */
static void connection_gone(void)
{
	tm_link_close(&tm.link);
	tm.client = 0;
	for (unsigned i = 0; i < sizeof(tm.events.bucket) / sizeof(tm.events.bucket[0]); i++) {
		for (struct tm_event *e = tm.events.bucket[i], *next; e != NULL; e = next) {
			next = e->next;
			if (e->kind != TM_EVENT_OBIT)
				tm_event_end(&tm.events, e, TM_ESYSTEM, NULL, 0);
		}
	}
	if (tm.begun && !tm.lost && tm.again_s == 0)
		tm.again_s = clock_s() + AGAIN_SECONDS;
}

/* What comes first on a stream. */
static void greeting_take(const struct pack_value *body)
{
	int64_t nodes = pack_int(body, "nodes", 0), node = pack_int(body, "node", 0);

	if (nodes < 0 || nodes > NODES_MAX || node < 0 || node > nodes) {
		tm.refused = TM_ESYSTEM; /* it is no daemon that says so */
		tm.lost = true;
		return;
	}
	tm.client = pack_int(body, "client", 0);
	tm.node = (int)node;
	tm.n_nodes = (int)nodes;
}

static void stream_take(const struct frame *f, const struct pack_value *body)
{
	struct tm_event *e = tm_event_find(&tm.events, (tm_event_t)pack_int(body, "event", 0));

	if (f->type == WIRE_REPLY) {
		tm.refused = (int)pack_int(body, "code", TM_ESYSTEM);
		tm.lost = tm.refused != PBSE_SVRDOWN;
	} else if (tm.client == 0) {
		greeting_take(body);
	} else if (e != NULL) {
		tm_event_end(&tm.events, e, (int)pack_int(body, "code", TM_ESYSTEM), f->body, f->len);
	}
}

static void answer_take(const struct frame *f)
{
	struct pack body;
	struct tm_event *e;
	int64_t code;

	if (pack_open(&body, f->body, f->len) < 0)
		return;
	if (f->corr == STREAM_CORR) {
		stream_take(f, &body.root);
	} else if (f->type == WIRE_REPLY && (code = pack_int(&body.root, "code", 0)) != 0) {
		e = tm_event_find(&tm.events, (tm_event_t)f->corr);
		if (e != NULL)
			tm_event_end(&tm.events, e, code >= TM_ESYSTEM ? (int)code : TM_ESYSTEM, NULL, 0);
	}
	pack_fini(&body);
}

/* Takes what has come, after having waited for at most so long. */
static void receive(int wait_ms)
{
	struct frame f;
	int ret = tm_link_read(&tm.link, wait_ms), got = 0;

	while (tm.link.fd >= 0 && (got = tm_link_next(&tm.link, &f)) == 1) {
		if (f.type == WIRE_GOODBYE)
			ret = -ECONNRESET;
		else
			answer_take(&f);
	}
	if (ret < 0 || got < 0 || tm.refused != 0)
		connection_gone();
}

/* ---- connect ----------------------------------------------------------------------------------------------------- */
/* A number of the environment; -1: it is missing or none. */
static long long number_of(const char *name, int base)
{
	const char *text = getenv(name);
	char *end;
	long long n;

	if (text == NULL || *text == '\0')
		return -1;
	n = strtoll(text, &end, base);
	return *end != '\0' || n < 0 || n > UINT_MAX ? -1 : n;
}

static int stream_open(void)
{
	const struct arg args[] = {
		arg_str("job", getenv("PBS_JOBID")),
		arg_str("cookie", getenv("PBS_JOBCOOKIE")),
		arg_int("task", number_of("PBS_TASKNUM", 16)),
	};
	int64_t until_s = clock_s() + GREETING_MS / 1000;

	tm.client = 0;
	tm.refused = 0;
	if (tm_link_open(&tm.link) < 0)
		return TM_ESYSTEM;
	if (tm_link_send(&tm.link, "tm_init", args, sizeof(args) / sizeof(args[0]), STREAM_CORR) < 0)
		connection_gone();
	while (tm.link.fd >= 0 && tm.client == 0 && clock_s() < until_s)
		receive(1000);
	if (tm.client != 0)
		return TM_SUCCESS;
	tm_link_close(&tm.link);
	return tm.refused >= TM_ESYSTEM ? tm.refused : tm.refused != 0 ? TM_ESYSTEM : TM_ENOTCONNECTED;
}

/* Sends the request of an event, which ends when that is refused. */
static void request_send(struct tm_event *e, const char *name, struct arg *args, size_t n)
{
	args[n++] = arg_str("job", getenv("PBS_JOBID"));
	args[n++] = arg_int("client", tm.client);
	args[n++] = arg_int("event", e->number);
	if (tm_link_send(&tm.link, name, args, n, (uint64_t)e->number) < 0)
		connection_gone();
}
#define OWN_ARGS 3

static void obit_send(struct tm_event *e)
{
	struct arg args[2 + OWN_ARGS] = { arg_int("task", e->task), arg_int("node", e->where) };

	request_send(e, "tm_obit", args, 2);
}

/* The connection is gone: tries once to have it again. */
static void connect_again(void)
{
	if (stream_open() != TM_SUCCESS) {
		tm.lost = tm.lost || clock_s() >= tm.again_s;
		return;
	}
	tm.again_s = 0;
	for (unsigned i = 0; i < sizeof(tm.events.bucket) / sizeof(tm.events.bucket[0]); i++)
		for (struct tm_event *e = tm.events.bucket[i], *next; e != NULL && tm.link.fd >= 0; e = next) {
			next = e->next;
			obit_send(e);
		}
}

int tm_init(void *info, struct tm_roots *roots)
{
	long long task = number_of("PBS_TASKNUM", 16), parent = number_of("KEELSON_TASK_PARENT", 16);
	int ret;

	(void)info;
	if (tm.begun)
		return TM_BADINIT;
	if (getenv("PBS_JOBID") == NULL || getenv("PBS_JOBCOOKIE") == NULL || task <= 0 || number_of("PBS_NODENUM", 10) < 0 ||
	    number_of("PBS_MOMPORT", 10) < 0)
		return TM_EBADENVIRONMENT;
	tm.lost = false;
	tm.again_s = 0;
	ret = stream_open();
	if (ret != TM_SUCCESS)
		return ret;
	if (tm_task_known((tm_task_id)task, tm.node) < 0) {
		tm_link_close(&tm.link);
		return TM_ESYSTEM;
	}
	tm.begun = true;
	if (roots != NULL)
		*roots = (struct tm_roots){
			.tm_me = (tm_task_id)task, .tm_parent = parent > 0 ? (tm_task_id)parent : TM_NULL_TASK,
			.tm_nnodes = tm.n_nodes, .tm_taskpoolid = -1,
		};
	return TM_SUCCESS;
}

int tm_finalize(void)
{
	if (!tm.begun)
		return TM_BADINIT;
	tm_link_close(&tm.link);
	tm_events_clear(&tm.events);
	tm_tasks_clear();
	tm.begun = false;
	return TM_SUCCESS;
}

int tm_fd(void)
{
	return tm.begun ? tm.link.fd : -1;
}

/* ---- poll -------------------------------------------------------------------------------------------------------- */
static void wait_some(bool wait)
{
	static const struct timespec pause = { .tv_nsec = AGAIN_NS };

	if (tm.link.fd >= 0) {
		receive(wait ? -1 : 0);
	} else if (!tm.lost) {
		connect_again();
		if (wait && tm.link.fd < 0 && !tm.lost)
			nanosleep(&pause, NULL);
	}
}

static int event_deliver(struct tm_event *e, tm_event_t *result_event, int *tm_errno)
{
	struct pack body;
	int code = e->code;

	if (code == 0 && (e->body == NULL || pack_open(&body, e->body, e->len) < 0)) {
		code = TM_ESYSTEM;
	} else if (code == 0) {
		code = tm_event_fill(e, &body.root);
		pack_fini(&body);
	}
	*result_event = e->number;
	if (tm_errno != NULL)
		*tm_errno = code;
	tm_event_free(e);
	return TM_SUCCESS;
}

int tm_poll(tm_event_t poll_event, tm_event_t *result_event, int wait, int *tm_errno)
{
	struct tm_event *e;

	if (!tm.begun)
		return TM_BADINIT;
	if (result_event == NULL)
		return TM_ENOTIMPLEMENTED;
	*result_event = TM_ERROR_EVENT;
	if (poll_event != TM_NULL_EVENT)
		return TM_ENOTIMPLEMENTED;
	for (bool looked = false;; looked = true) {
		e = tm_event_take(&tm.events);
		if (e != NULL)
			return event_deliver(e, result_event, tm_errno);
		if (tm.lost)
			return TM_ENOTCONNECTED;
		if (tm.events.n == 0)
			return TM_ENOTFOUND;
		if (looked && !wait) {
			*result_event = TM_NULL_EVENT;
			return TM_SUCCESS;
		}
		wait_some(wait);
	}
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */
/* Returns an event to be sent, or NULL with the error. */
static struct tm_event *event_begin(enum tm_kind kind, tm_event_t *event, int *ret)
{
	struct tm_event *e = NULL;

	if (!tm.begun)
		*ret = TM_BADINIT;
	else if (tm.lost)
		*ret = TM_ENOTCONNECTED;
	else
		*ret = (e = tm_event_add(&tm.events, kind)) != NULL ? TM_SUCCESS : TM_ESYSTEM;
	if (e != NULL && event != NULL)
		*event = e->number;
	return e;
}

/* The same with its request: `args` has OWN_ARGS more places. */
static int event_send(struct tm_event *e, const char *name, struct arg *args, size_t n)
{
	if (tm.link.fd < 0)
		connect_again();
	if (tm.link.fd >= 0)
		request_send(e, name, args, n);
	else
		tm_event_end(&tm.events, e, TM_ESYSTEM, NULL, 0);
	return TM_SUCCESS;
}

int tm_nodeinfo(tm_node_id **list, int *nnodes)
{
	if (!tm.begun)
		return TM_BADINIT;
	*list = malloc(((size_t)tm.n_nodes + 1) * sizeof(**list));
	if (*list == NULL)
		return TM_ESYSTEM;
	for (int i = 0; i < tm.n_nodes; i++)
		(*list)[i] = i;
	(*list)[tm.n_nodes] = TM_ERROR_NODE;
	*nnodes = tm.n_nodes;
	return TM_SUCCESS;
}

int tm_atnode(tm_task_id tid, tm_node_id *node)
{
	if (!tm.begun)
		return TM_BADINIT;
	*node = tm_task_node(tid);
	return *node == TM_ERROR_NODE ? TM_ENOTFOUND : TM_SUCCESS;
}

int tm_spawn(int argc, char **argv, char **envp, tm_node_id where, tm_task_id *tid, tm_event_t *event)
{
	struct arg args[3 + OWN_ARGS];
	struct tm_event *e;
	size_t n_env = 0;
	int ret;

	if (!tm.begun)
		return TM_BADINIT;
	if (argc <= 0 || argv == NULL || argv[0] == NULL || argv[0][0] == '\0')
		return TM_ENOTFOUND;
	e = event_begin(TM_EVENT_SPAWN, event, &ret);
	if (e == NULL)
		return ret;
	e->value = tid;
	e->where = where;
	while (envp != NULL && envp[n_env] != NULL)
		n_env++;
	args[0] = arg_int("node", where);
	args[1] = arg_strs("argv", argv, (size_t)argc);
	args[2] = arg_strs("env", envp, n_env);
	return event_send(e, "tm_spawn", args, 3);
}

/* One about a task that is known. */
static int task_event(enum tm_kind kind, const char *name, tm_task_id tid, struct arg extra, void *value, tm_event_t *event)
{
	struct arg args[3 + OWN_ARGS] = { arg_int("task", tid), arg_int("node", tm_task_node(tid)), extra };
	struct tm_event *e;
	int ret;

	if (!tm.begun)
		return TM_BADINIT;
	if (tm_task_node(tid) == TM_ERROR_NODE)
		return TM_ENOTFOUND;
	e = event_begin(kind, event, &ret);
	if (e == NULL)
		return ret;
	e->task = tid;
	e->where = tm_task_node(tid);
	e->value = value;
	return event_send(e, name, args, 3);
}

int tm_kill(tm_task_id tid, int sig, tm_event_t *event)
{
	return task_event(TM_EVENT_KILL, "tm_kill", tid, arg_int("signal", sig), NULL, event);
}

int tm_obit(tm_task_id tid, int *obitval, tm_event_t *event)
{
	return task_event(TM_EVENT_OBIT, "tm_obit", tid, arg_int("version", 1), obitval, event);
}

/* One about a node. */
static int node_event(enum tm_kind kind, const char *name, tm_node_id node, void *value, int room, int *amount, tm_event_t *event)
{
	struct arg args[1 + OWN_ARGS] = { arg_int("node", node) };
	struct tm_event *e;
	int ret;

	e = event_begin(kind, event, &ret);
	if (e == NULL)
		return ret;
	e->where = node;
	e->value = value;
	e->room = room;
	e->amount = amount;
	return event_send(e, name, args, 1);
}

int tm_taskinfo(tm_node_id node, tm_task_id *tid_list, int list_size, int *ntasks, tm_event_t *event)
{
	return node_event(TM_EVENT_TASKS, "tm_taskinfo", node, tid_list, list_size, ntasks, event);
}

int tm_rescinfo(tm_node_id node, char *resource, int len, tm_event_t *event)
{
	return node_event(TM_EVENT_RESOURCES, "tm_rescinfo", node, resource, len, NULL, event);
}

int tm_publish(char *name, void *info, int nbytes, tm_event_t *event)
{
	struct arg args[2 + OWN_ARGS] = { arg_str("name", name), arg_bin("value", info, nbytes > 0 ? (size_t)nbytes : 0) };
	struct tm_event *e;
	int ret;

	e = event_begin(TM_EVENT_PUBLISH, event, &ret);
	return e != NULL ? event_send(e, "tm_publish", args, 2) : ret;
}

int tm_subscribe(tm_task_id tid, char *name, void *info, int len, int *amount, tm_event_t *event)
{
	struct arg args[2 + OWN_ARGS] = { arg_int("task", tid), arg_str("name", name) };
	static int unused;
	struct tm_event *e;
	int ret;

	e = event_begin(TM_EVENT_SUBSCRIBE, event, &ret);
	if (e == NULL)
		return ret;
	e->value = info;
	e->room = len;
	e->amount = amount != NULL ? amount : &unused;
	return event_send(e, "tm_subscribe", args, 2);
}

/* ---- attach ------------------------------------------------------------------------------------------------------ */
/* The reply to the only request of this connection. */
static int reply_wait(struct tm_link *l, tm_task_id *tid)
{
	struct frame f;
	struct pack body;
	int64_t code;
	int got;

	while ((got = tm_link_next(l, &f)) == 0)
		if (tm_link_read(l, -1) < 0)
			return TM_ENOTCONNECTED;
	if (got < 0 || f.type != WIRE_REPLY || pack_open(&body, f.body, f.len) < 0)
		return TM_ENOTCONNECTED;
	code = pack_int(&body.root, "code", TM_ESYSTEM);
	if (code == 0 && tid != NULL)
		*tid = (tm_task_id)pack_int(&body.root, "task", TM_NULL_TASK);
	pack_fini(&body);
	if (code == PBSE_UNKREQ)
		return TM_ENOTIMPLEMENTED; /* a daemon without tasks */
	return code == 0 || code >= TM_ESYSTEM ? (int)code : TM_ESYSTEM;
}

int tm_attach(char *jobid, char *cookie, pid_t pid, tm_task_id *tid, char *host, int port)
{
	const struct arg args[] = { arg_str("job", jobid), arg_str("cookie", cookie), arg_int("pid", pid) };
	struct tm_link l = { .fd = -1 };
	int ret = TM_ENOTCONNECTED;

	(void)host;
	(void)port;
	if (tm_link_open(&l) < 0)
		return TM_ESYSTEM;
	if (tm_link_send(&l, "tm_attach", args, sizeof(args) / sizeof(args[0]), 1) == 0)
		ret = reply_wait(&l, tid);
	tm_link_close(&l);
	return ret;
}

/* ---- what no program uses ----------------------------------------------------------------------------------------- */
static int not_implemented(void)
{
	return tm.begun ? TM_ENOTIMPLEMENTED : TM_BADINIT;
}

int tm_notify(int tm_signal)
{
	(void)tm_signal;
	return not_implemented();
}

int tm_alloc(char *resources, tm_event_t *event)
{
	(void)resources, (void)event;
	return not_implemented();
}

int tm_dealloc(tm_node_id node, tm_event_t *event)
{
	(void)node, (void)event;
	return not_implemented();
}

int tm_create_event(tm_event_t *event)
{
	(void)event;
	return not_implemented();
}

int tm_destroy_event(tm_event_t *event)
{
	(void)event;
	return not_implemented();
}

int tm_register(tm_whattodo_t *what, tm_event_t *event)
{
	(void)what, (void)event;
	return not_implemented();
}
