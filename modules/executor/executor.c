/* SPDX-License-Identifier: Apache-2.0
 *
 * executor.c - work on execution hosts: service "task" on a server, the tasks themselves on a host.
 *
 * server half   start.c; dispatch.c orders; report.c what hosts say; resync.c a host is back
 * host half     task.c table and states; launch.c, spawn.c start; stop.c signals; usage.c; recover.c
 * shepherd/     the program that watches over one task and outlives this daemon
 *
 * Messages between the halves, each naming the job and its run:
 *   to a host      task.start .modify .signal .kill .checkpoint .message .discard .forget, task.who .strange
 *   to the server  task.hello .got .started .refused .used .ended .answer .unknown .gone
 */
#include "executor.h"
#include "group.h"
#include "keel/service/sister.h"

#include <errno.h>
#include <stdlib.h>

static const struct keel_conf_rule conf_rules[] = {
	KEEL_CONF_RULE(DURATION, struct conf, kill_delay, .fallback = "10s", .min = 0, .max = 3600000,
		       .doc = "from TERM to KILL when a task exceeds a limit"),
	KEEL_CONF_RULE(DURATION, struct conf, usage_interval, .fallback = "10s", .min = 1000,
		       .max = 3600000, .doc = "how often the use of a task is reported"),
	KEEL_CONF_RULE(DURATION, struct conf, answer_within, .fallback = "60s", .min = 1000,
		       .max = 86400000, .doc = "on a server: a host that is connected and has not answered "
		       "by then a signal, suspension, resumption, deletion or message fails it"),
	KEEL_CONF_RULE(DURATION, struct conf, checkpoint_within, .fallback = "1h", .min = 1000,
		       .max = 172800000, .doc = "the same for a checkpoint, whose program may take its time"),
	KEEL_CONF_RULE(DURATION, struct conf, start_limit, .fallback = "2min", .min = 100, .max = 86400000,
		       .doc = "how long a task may take from its first process to its program; later it is killed"),
	KEEL_CONF_RULE(DURATION, struct conf, deliver_limit, .fallback = "5min", .min = 100, .max = 86400000,
		       .doc = "how long the output of an ended task may take to be placed; later it is kept in "
			      "undelivered"),
	KEEL_CONF_RULE(INT, struct conf, ncpus, .fallback = "0", .min = 0, .max = 1000000,
		       .doc = "processors of this host; 0: as found"),
	KEEL_CONF_RULE(SIZE, struct conf, mem, .fallback = "0",
		       .doc = "memory of this host; 0: as found"),
	KEEL_CONF_RULE(INT, struct conf, vnodes, .fallback = "1", .min = 1, .max = 100000,
		       .doc = "vnodes of this host: 1: named as the host, else host[0], host[1] ..."),
	KEEL_CONF_RULE(STRING, struct conf, sharing, .fallback = "default_shared",
		       .doc = "of its vnodes: default_shared, default_excl, default_exclhost, ignore_excl, "
			      "force_excl or force_exclhost"),
	KEEL_CONF_RULE(STRING, struct conf, shepherd, .fallback = "",
		       .doc = "path of keelson-shepherd; empty: as installed"),
	KEEL_CONF_RULE(STRING, struct conf, tmpdir, .fallback = "/var/tmp",
		       .doc = "where each task gets its own TMPDIR; empty: nowhere"),
	KEEL_CONF_RULE(STRING, struct conf, checkpoint_abort, .fallback = "",
		       .doc = "\"<seconds> !/program words...\": saves a task, its session %sid of job %jobid, "
			      "into the directory %path; empty: tasks cannot be saved"),
	KEEL_CONF_RULE(STRING, struct conf, restart, .fallback = "",
		       .doc = "\"<seconds> !/program words...\": what a saved task's user runs to go on with "
			      "it; %jobid, %path"),
	KEEL_CONF_RULE(LIST, struct conf, usecp,
		       .doc = "\"host:/prefix /local/prefix\": files of that host that are seen here"),
	KEEL_CONF_RULE(SIZE, struct conf, room, .fallback = "1mb",
		       .doc = "a host with less room in spool or mom_priv takes no tasks"),
	KEEL_CONF_RULE(DURATION, struct conf, health_interval, .fallback = "5min", .min = 1000,
		       .max = 3600000, .doc = "how often a host looks whether it can take tasks: room, "
		       "processes, names; every 10 s at least while it cannot"),
	KEEL_CONF_RULE(BOOL, struct conf, freezer, .fallback = "true",
		       .doc = "each task in a cgroup (v2) of its own where that can be made: frozen and killed as a whole"),
	KEEL_CONF_RULE(BOOL, struct conf, first_host_only, .fallback = "false",
		       .doc = "start a job over several hosts, on its first host alone: to try placement out"),
};

KEEL_USE(link);
KEEL_USE(blob);
KEEL_USE_OPT(sister);

static const struct keel_service_def service = {
	.size = sizeof(struct keel_service_def), .version = 1, .name = "task",
	.doc = "work on execution hosts", .table = &task_api,
};
static const struct keel_service_def part_service = {
	.size = sizeof(struct keel_service_def), .version = 1, .name = "part",
	.doc = "what this host has of a job", .table = &part_api,
};
static const struct keel_contrib contribs[] = {
	KEEL_ROW(SERVICE, service),
	KEEL_ROW(SERVICE, part_service),
	KEEL_ROW(MOM_DIRECTIVE, usecp_directive),
	KEEL_ROW(MOM_DIRECTIVE, tmpdir_directive),
	KEEL_ROW(MOM_DIRECTIVE, jobdir_root_directive),
	KEEL_ROW(MOM_DIRECTIVE, gen_nodefile_on_sister_mom_directive),
};

static keel_verdict job_known(struct keel_call *call, const struct keel_ev_job_known *ev)
{
	resync_known(call->mod, ev->job);
	return KEEL_NEXT;
}

/* A job over several hosts needs what makes its parts one job, and hosts that reach each other. */
static keel_verdict hosts_check(struct keel_call *call, const struct spread *s)
{
	struct state *st = keel_state(call);
	char text[600];

	if (!keel_has(sister))
		return keel_reject(call, PBSE_NOSUP,
				   "jobs over several hosts cannot be started without a module that offers the service sister: "
				   "ask for chunks that fit on one host, with -l place=pack");
	for (uint32_t i = 0; i < s->n_hosts; i++) {
		const struct host *h = host_find(st, s->host[i]->name);

		if (!h || h->asked || (h->address && h->key))
			continue; /* one that is away, or has yet to say it, has its own error */
		snprintf(text, sizeof(text), "host %.300s has said no address where the other hosts of a job reach it: "
			 "its link's configuration is to name one it listens on", s->host[i]->name);
		return keel_reject(call, PBSE_NOSUP, "%s", text);
	}
	return KEEL_NEXT;
}

static keel_verdict start_now(struct keel_call *call, const struct keel_ev_start_now *ev)
{
	const struct conf *cf = call->mod->conf;
	struct spread s;
	keel_verdict v = KEEL_NEXT;

	if (dispatch_hosts(call->mod, ev->exec_vnode, &s) < 0)
		return KEEL_NEXT; /* the start itself fails */
	if (cf->first_host_only)
		spread_cut(&s);
	if (s.n_hosts > 1)
		v = hosts_check(call, &s);
	if (v == KEEL_NEXT && !ev->dry)
		v = start_wait(call, ev->id, &s);
	spread_fini(&s);
	return v;
}

static keel_verdict peer_up(struct keel_call *call, const struct keel_ev_peer_up *ev)
{
	struct state *st = keel_state(call);

	if (ev->daemon & KEEL_MOM && keel_daemon(call->mod) & KEEL_SERVER)
		resync_peer_up(call->mod, ev->peer);
	if (ev->daemon & KEEL_SERVER && keel_daemon(call->mod) & KEEL_MOM) {
		st->mom.last_start = 0;
		host_hello(call->mod);
	}
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_known, job_known),
	KEEL_TAP(start_now, start_now),
	KEEL_TAP(peer_up, peer_up),
	KEEL_TAP(peer_down, on_peer_down),
	KEEL_TAP(job_explain, on_job_explain),
};

/* Each comes from one half of the module and is for the other. */
static const struct {
	const char *name;
	message_fn *fn;
	uint32_t from;
} messages[] = {
	{ "task.started", on_started, KEEL_MOM },
	{ "task.refused", on_refused, KEEL_MOM },
	{ "task.used", on_used, KEEL_MOM },
	{ "task.ended", on_ended, KEEL_MOM },
	{ "task.answer", on_answer, KEEL_MOM },
	{ "task.unknown", on_unknown, KEEL_MOM },
	{ "task.health", on_health, KEEL_MOM },
	{ "task.hello", on_hello, KEEL_MOM },
	{ "task.got", on_got, KEEL_MOM },
	{ "task.released", on_released, KEEL_MOM },
	{ "task.gone", on_discarded, KEEL_MOM },
	{ "task.pruned", on_pruned, KEEL_MOM },
	{ "task.start", on_start, KEEL_SERVER },
	{ "task.forget", on_forget, KEEL_SERVER },
	{ "task.who", on_who, KEEL_SERVER },
	{ "task.signal", on_signal, KEEL_SERVER },
	{ "task.kill", on_kill, KEEL_SERVER },
	{ "task.discard", on_discard, KEEL_SERVER },
	{ "task.checkpoint", on_checkpoint, KEEL_SERVER },
	{ "task.message", on_message, KEEL_SERVER },
	{ "host.stop", on_stop, KEEL_SERVER },
	{ "task.modify", on_modify, KEEL_SERVER },
	{ "task.strange", on_strange, KEEL_SERVER },
	{ "task.release", on_release, KEEL_SERVER },
	{ "task.left", on_left, KEEL_SERVER },
	{ "task.prune_done", on_prune_done, KEEL_SERVER },
	{ "task.resize", on_resize, KEEL_SERVER },
};

static int32_t executor_init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	int32_t r = 0;

	nursery_init(&st->mom.nursery);
	proc_world(st->mom.world);
	st->mom.last_start = INT64_MAX;

	st->server.began_ms = keel_now_ms(mod);
	st->server.last_start = st->server.began_ms; /* above those of an executor that was here before */
	for (size_t i = 0; i < KEEL_COUNT(messages) && r == 0; i++)
		if (keel_daemon(mod) & ~messages[i].from)
			r = keel_link_on(mod, messages[i].name, messages[i].from, messages[i].fn);
	return r ? keel_error(err, r, "messages of tasks cannot be received: the link group refuses "
				      "their names; is another executor loaded?")
		 : 0;
}

/* All modules have started. */
static void started(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct task *t, *next;

	(void)arg;
	st->started = true;
	parts_found(mod);
	HASH_ITER(hh, st->mom.tasks, t, next)
		if (t->found_over) {
			t->found_over = false;
			launch_over(mod, t);
		}
	if (keel_daemon(mod) & KEEL_MOM && keel_link_is_up(mod, "server"))
		host_hello(mod);
	if (keel_daemon(mod) & KEEL_SERVER)
		resync_begin(mod);
}

static int32_t executor_start(struct keel_mod *mod, struct keel_err *err)
{
	const bool on_mom = keel_daemon(mod) & KEEL_MOM;
	int32_t r = on_mom ? recover(mod, err) : 0;

	if (r < 0 || (r = keel_defer(mod, started, NULL)) < 0 || !on_mom)
		return r;
	if (((const struct conf *)mod->conf)->freezer)
		((struct state *)mod->state)->mom.freezer_dir = group_home();
	((struct state *)mod->state)->mom.memory_dir = group_memory_home();
	health_look(mod);
	store_recover(mod);
	return 0;
}

/* A worker thread still writes into what fini() would free. */
static int32_t executor_busy(struct keel_mod *mod, struct keel_err *err)
{
	const struct state *st = mod->state;

	if (st->mom.launching || st->mom.sampling || st->mom.chores || st->mom.checking_ms)
		return keel_error(err, -EBUSY, "%u tasks are being started%s; try again", st->mom.launching,
				  st->mom.chores ? ", programs are running for users" : "");
	return 0;
}

static void executor_stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->stopping = true;
	keel_timer_cancel(st->mom.health_timer);
	st->mom.health_timer = NULL;
}

static void executor_fini(struct keel_mod *mod)
{
	server_fini(mod);
	mom_fini(mod);
	directives_fini(mod);
}

KEEL_MODULE(.name = "executor", .version = "1.0", .vendor = "Keelson",
	    .summary = "runs jobs on execution hosts", .roles = KEEL_SERVER | KEEL_MOM,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, conf_rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .init = executor_init,
	    .start = executor_start, .busy = executor_busy, .stop = executor_stop,
	    .fini = executor_fini);
