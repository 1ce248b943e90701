/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - from a start message to a shepherd: task_begin, then a worker thread (spawn.c). How it goes on behind the setup:
 * threshold.c. At the end of the shepherd, what became of its task.
 * The launch keeps its task alive; a task discarded meanwhile ends at the end of it.
 */
#include "executor.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "duration.h"
#include "keel/strings.h"
#include "proc.h"

#define USER_FRESH_MS 1000 /* a user who leaves a group starts no task as its member afterwards */

struct user_entry {
	struct user user;
	int64_t until_ms;
	UT_hash_handle hh;
};

/* The launch is done; `arg` of worker and gates. */
struct flight {
	struct launch l; /* first: spawn_work() gets its address */
	struct task *task;
};

void launch_free(struct launch *l)
{
	if (!l)
		return;
#define LAUNCH_TEXT_FREE(key, member) free(l->member);
	LAUNCH_TEXTS(LAUNCH_TEXT_FREE)
	free(l->id);
	free(l->script);
	free(l->pbs_home);
	free(l->host);
	free(l->server);
	free(l->shepherd);
	free(l->tmpdir);
	free(l->jobdir_root);
	free(l->groups_dir);
	free(l->group_path);
	free(l->memory_dir);
	free(l->bound_path);
	part_free(l->part);
	keel_strings_free(l->usecp);
	user_fini(&l->account_of);
	free(l);
}

static struct user_entry *user_cached(struct keel_mod *mod, const char *name)
{
	struct state *st = mod->state;
	struct user_entry *u;

	HASH_FIND_STR(st->mom.users, name, u);
	if (u && u->until_ms < keel_now_ms(mod)) {
		HASH_DEL(st->mom.users, u);
		user_fini(&u->user);
		free(u);
		u = NULL;
	}
	return u;
}

static void user_remember(struct keel_mod *mod, const struct launch *l)
{
	struct state *st = mod->state;
	struct user_entry *u;

	if (!l->resolved || user_cached(mod, l->user))
		return;
	u = calloc(1, sizeof(*u));
	if (!u || user_copy(&l->account_of, &u->user) < 0) {
		free(u);
		return;
	}
	u->until_ms = keel_now_ms(mod) + USER_FRESH_MS;
	HASH_ADD_KEYPTR(hh, st->mom.users, u->user.name, strlen(u->user.name), u);
	if (!u->hh.tbl) {
		user_fini(&u->user);
		free(u);
	}
}

void users_fini(struct state *st)
{
	struct user_entry *u, *next;

	HASH_ITER(hh, st->mom.users, u, next) {
		HASH_DEL(st->mom.users, u);
		user_fini(&u->user);
		free(u);
	}
}

/* Installed under PBS_EXEC, or below the daemon's own folder (a build tree). */
static char *shepherd_path(struct keel_mod *mod)
{
	static const char installed[] = "/libexec/keelson/keelson-shepherd";
	const struct conf *cf = mod->conf;
	char own[4096], *path = NULL, *slash;
	ssize_t n;

	if (cf->shepherd && *cf->shepherd)
		return strdup(cf->shepherd);
	if (asprintf(&path, "%s%s", keel_exec_dir(mod), installed) < 0)
		return NULL;
	if (access(path, X_OK) == 0)
		return path;
	n = readlink("/proc/self/exe", own, sizeof(own) - sizeof(installed));
	if (n <= 0)
		return path;
	own[n] = '\0';
	slash = strrchr(own, '/');
	strcpy(slash ? slash : own, installed);
	if (access(own, X_OK) < 0)
		return path; /* named in the error */
	free(path);
	return strdup(own);
}

char *launch_program(struct keel_mod *mod, const char *name)
{
	char *path = shepherd_path(mod), *slash = path ? strrchr(path, '/') : NULL, *found = NULL;

	if (path && asprintf(&found, "%.*s/%s", slash ? (int)(slash - path) : 1, slash ? path : ".", name) < 0)
		found = NULL;
	free(path);
	return found;
}

/* What the worker needs to know of this host. */
static bool host_copy(struct keel_mod *mod, struct launch *l)
{
	const struct state *st = mod->state;
	const struct conf *cf = mod->conf;
	struct user_entry *u = l->user ? user_cached(mod, l->user) : NULL;
	const char *tmpdir = directive_tmpdir(mod);

	l->pbs_home = strdup(keel_home(mod));
	l->mom_socket = keel_client_socket(mod);
	l->host = strdup(keel_host_name(mod));
	l->shepherd = shepherd_path(mod);
	l->nursery = &((struct state *)mod->state)->mom.nursery;
	l->world = st->mom.world;
	l->room = cf->room;
	l->tmpdir = tmpdir && *tmpdir ? strdup(tmpdir) : NULL;
	l->no_sister_nodes = st->mom.said.no_sister_nodefile;
	l->jobdir_shared = st->mom.said.jobdir_shared;
	l->jobdir_root = st->mom.said.jobdir_root ? strdup(st->mom.said.jobdir_root) : NULL;
	l->groups_dir = st->mom.freezer_dir ? strdup(st->mom.freezer_dir) : NULL;
	l->memory_dir = st->mom.memory_dir ? strdup(st->mom.memory_dir) : NULL;
	l->start_ms = cf->start_limit;
	l->deliver_ms = cf->deliver_limit;
	l->resolved = u && user_copy(&u->user, &l->account_of) == 0;
	l->usecp = keel_strings_copy(directive_usecp(mod), keel_strings_count(directive_usecp(mod)));
	return l->pbs_home && l->host && l->shepherd && l->usecp;
}

struct launch *launch_bare(struct keel_mod *mod, const char *id, int64_t run)
{
	struct launch *l = calloc(1, sizeof(*l));

	if (l && (l->id = strdup(id)) && host_copy(mod, l)) {
		l->run = run;
		return l;
	}
	launch_free(l);
	return NULL;
}

/* The job's hosts, from the message; of an older server this one alone. NULL: they are not what they should be. */
static struct part *part_of_message(struct keel_mod *mod, const struct keel_msg *m, int64_t ncpus)
{
	struct part *p = part_alone(keel_host_name(mod), ncpus);
	uint32_t n_hosts = 0;
	const char *const *hosts = keel_msg_strings(m, "hosts", &n_hosts);
	const char *nodes = keel_msg_str(m, "nodes"), *text;
	char *numbers = hosts && nodes ? part_nodes_of_file(hosts, n_hosts, nodes) : NULL;
	int64_t index = keel_msg_int(m, "index", 0);
	int r = p ? 0 : -ENOMEM;

	if (r == 0 && hosts)
		r = part_set_hosts(p, hosts, n_hosts, numbers);
	free(numbers);
	if (r == 0 && (index < 0 || index >= (int64_t)p->view.n_hosts))
		r = -EPROTO;
	if (r == 0 && (text = keel_msg_str(m, "cookie")))
		r = part_set_text(&p->cookie, text);
	if (r == 0 && (text = keel_msg_str(m, "tolerate")))
		r = part_set_text(&p->tolerate, text);
	if (r == 0 && (text = keel_msg_str(m, "user")))
		r = part_set_text(&p->user, text);
	if (r < 0) {
		part_free(p);
		return NULL;
	}
	p->view.index = (uint32_t)index;
	p->view.rerunable = keel_msg_int(m, "rerunable", 1) != 0;
	part_sync(p);
	return p;
}

static struct launch *launch_read(struct keel_mod *mod, const struct keel_msg *m, const char *id,
				  int64_t run)
{
	struct flight *f = calloc(1, sizeof(*f));
	struct launch *l = f ? &f->l : NULL;
	const void *script;
	const char *text;
	bool whole = l != NULL;

	if (!l)
		return NULL;
	l->pidfd = l->talk = -1;
	l->run = run;
	l->ncpus = keel_msg_int(m, "ncpus", 1);
	l->ompthreads = keel_msg_int(m, "ompthreads", 0);
	l->job_ncpus = keel_msg_int(m, "job_ncpus", l->ncpus);
	l->id = strdup(id);
#define LAUNCH_TEXT_READ(key, member)                                                              \
	text = keel_msg_str(m, key);                                                               \
	l->member = text ? strdup(text) : NULL;                                                    \
	whole = whole && (!text || l->member);
	LAUNCH_TEXTS(LAUNCH_TEXT_READ)
	script = keel_msg_bytes(m, "script", &l->script_len);
	l->has_script = !l->executable;
	l->script = malloc(l->script_len + 1u);
	if (l->script && script)
		memcpy(l->script, script, l->script_len);
	if (!script)
		l->script_len = 0;
	l->part = part_of_message(mod, m, l->ncpus);
	if (!l->part && !l->status)
		launch_fail(l, KEEL_TASK_RETRY, "the start message does not say which hosts the job has");
	if (!whole || !l->id || !l->script || !host_copy(mod, l) || (l->part && launch_cookie(l) < 0)) {
		launch_free(l);
		return NULL;
	}
	l->has_script = l->has_script && l->part && !l->part->view.index;
	if (keel_msg_int(m, "restart", 0) && !checkpoint_restart(mod, l) && !l->status) {
		launch_free(l);
		return NULL;
	}
	return l;
}

/* ---- its shepherd is gone ------------------------------------------------------------------------------ */

static void followed(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct flight *f = arg;
	struct task *t = f->task;

	st->mom.launching--;
	t->launch = NULL;
	if (f->l.status) {
		keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "%s", f->l.why);
		launch_over(mod, t);
	} else {
		t->shepherd = f->l.pid;
		t->shepherd_start = f->l.start;
		t->pidfd = f->l.pidfd;
		t->talk = f->l.talk;
		launch_watch(mod, t);
		talk_begin(mod, t);
		if (t->discarded)
			stop_discard(mod, t);
	}
	launch_free(&f->l);
}

/* Its shepherd was killed: another one ends its processes, places its output, removes its directories. */
static bool follow(struct keel_mod *mod, struct task *t)
{
	struct state *st = mod->state;
	struct flight *f = t->followed ? NULL : calloc(1, sizeof(*f));

	if (!f)
		return false;
	t->followed = true;
	f->l.pidfd = f->l.talk = -1;
	f->l.follows = true;
	f->l.run = t->run;
	f->l.id = strdup(t->id);
	f->task = t;
	if (!f->l.id || !host_copy(mod, &f->l) || keel_work(mod, follow_work, followed, f) < 0) {
		launch_free(&f->l);
		return false;
	}
	keel_log(mod, KEEL_LOG_ERROR, "Job", t->id,
		 "the shepherd of the task was killed; what is left of the task is ended");
	keel_watch_cancel(t->watch);
	t->watch = NULL;
	talk_end(t);
	t->shepherd = 0;
	t->launch = &f->l;
	st->mom.launching++;
	return true;
}

/* It has ended, by its diary. */
static void end_take(struct keel_mod *mod, struct task *t, const struct diary *d)
{
	if (d->cpu_us / 1000 > t->usage.cput_ms)
		t->usage.cput_ms = d->cpu_us / 1000;
	if (!t->settled) {
		epilogue_begin(mod, t, d->status); /* it comes back here */
		return;
	}
	t->missed = d->placed < 0 ? 0 : (d->placed & 1) + (d->placed >> 1 & 1);
	if (t->missed)
		kept_take(mod, t, d);
	if (d->unrun[0])
		kept_remark(mod, t, d);
	task_ended(mod, t, d->status);
}

void launch_over(struct keel_mod *mod, struct task *t)
{
	struct state *st = mod->state;
	struct diary d = { .uid = (uid_t)-1 };
	bool known = record_read(st->mom.jobs_dir, t->id, &d) == 0 && d.run == t->run, begun;

	if (!t->session)
		t->session = d.session;
	begun = t->session || (known && d.started);
	if ((known && d.placed < 0 && follow(mod, t)) || t->settling)
		return;
	if (t->why[0] && !begun) {
		task_refused(mod, t, t->status, t->why);
	} else if (known && d.ended) {
		end_take(mod, t, &d);
	} else if (!begun) {
		/* The shepherd is gone without a word of how the task ended, and no other could do the rest. */
		task_refused(mod, t, KEEL_TASK_RETRY, t->why[0] ? t->why : "the start was interrupted");
	} else {
		proc_kill_strays(t->session, NULL, NULL, d.shepherd_start, d.uid);
		task_ended(mod, t, 256 + SIGKILL);
	}
}

static void end_noticed(struct keel_mod *mod, void *arg)
{
	struct task *t = arg;

	keel_watch_cancel(t->watch);
	t->watch = NULL;
	close(t->pidfd);
	t->pidfd = -1;
	talk_drain(mod, t);
	if (!t->session && !t->why[0] && t->state == TASK_BEGIN && !t->ready)
		snprintf(t->why, sizeof(t->why), "the shepherd of the task ended at once"), t->status = KEEL_TASK_RETRY;
	launch_over(mod, t);
}

void launch_watch(struct keel_mod *mod, struct task *t)
{
	t->watch = keel_watch_fd(mod, t->pidfd, end_noticed, t);
	if (!t->watch)
		keel_log(mod, KEEL_LOG_ERROR, "Job", t->id,
			 "the end of the task cannot be watched: no memory");
}

static void task_take(struct keel_mod *mod, struct task *t, const struct launch *l)
{
	int n;
	bool kept;

	t->shepherd = l->pid;
	t->shepherd_start = l->start;
	t->pidfd = l->pidfd;
	t->talk = l->talk;
	t->began_ms = keel_now_ms(mod);
	t->next_usage_ms = t->began_ms + 1000;
	modify_begin(mod, t, l);
	t->ncpus = l->job_ncpus;
	/* Files that are placed at the end: not the joined one, not those kept where they were written. */
	n = l->join && (strcmp(l->join, "oe") == 0 || strcmp(l->join, "eo") == 0) ? 1 : 2;
	kept = l->keep && strcmp(l->keep, "n") != 0 && !output_indirect(l);
	if (!t->part->view.index && output_indirect(l))
		keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "Direct write is requested for job: %s, but the destination is not usecp-able from %s",
			 t->id, keel_host_name(mod));
	if (kept && strchr(l->keep, 'o') && !(l->join && strcmp(l->join, "eo") == 0))
		n--;
	if (kept && strchr(l->keep, 'e') && !(l->join && strcmp(l->join, "oe") == 0))
		n--;
	t->streams = n;
	t->dir = launch_dir(l);
	t->makes_dir = launch_makes_dir(l);
	t->user = l->user ? strdup(l->user) : NULL;
	t->freezer = l->group_path ? strdup(l->group_path) : NULL;
	t->bound = l->bound_path ? strdup(l->bound_path) : NULL;
	t->part->view.uid = l->account_of.uid;
	launch_watch(mod, t);
	talk_begin(mod, t);
	usage_tick(mod);
	if (t->discarded)
		stop_discard(mod, t);
	else if (t->kill_delay >= 0)
		stop_kill(mod, t, t->kill_delay);
}

static void spawned(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct flight *f = arg;
	struct task *t = f->task;

	st->mom.launching--;
	t->launch = NULL;
	user_remember(mod, &f->l);
	t->lacks = !f->l.own && (f->l.status == KEEL_TASK_RETRY || f->l.status == KEEL_TASK_BAD_USER);
	if (f->l.status)
		task_refused(mod, t, f->l.status, f->l.why);
	else
		task_take(mod, t, &f->l);
	launch_free(&f->l);
}

static void flight_refuse(struct keel_mod *mod, struct flight *f, int32_t status, const char *why)
{
	struct task *t = f->task;

	t->launch = NULL;
	t->gate = NULL;
	task_refused(mod, t, status, why);
	launch_free(&f->l);
}

static void launch_spawn(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct flight *f = arg;

	if (st->stopping) {
		f->task->launch = NULL;
		launch_free(&f->l);
		return;
	}
	if (f->task->discarded) {
		flight_refuse(mod, f, KEEL_TASK_RETRY, "the task was withdrawn");
		return;
	}
	f->l.bound_kb = f->task->bound_kb;
	st->mom.launching++;
	if (keel_work(mod, spawn_work, spawned, f) < 0) {
		st->mom.launching--;
		flight_refuse(mod, f, KEEL_TASK_RETRY, "no worker thread for the start");
	}
}

/* A refusal whose number says what shall become of the job goes to the server as it is. */
static int32_t refusal_status(int32_t code)
{
	bool says = code == PBSE_HOOKERROR || code == PBSE_HOOK_REJECT_RERUNJOB || code == PBSE_HOOK_REJECT_DELETEJOB;

	return code < 0 || says ? code : HOOK_REFUSED;
}

static void gate_done(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct flight *f = arg;
	struct task *t = f->task;

	t->gate = NULL;
	t->refused_code = o->verdict == KEEL_REJECT ? o->code : 0;
	if (t->discarded || t->kill_delay >= 0 || st->stopping)
		flight_refuse(mod, f, KEEL_TASK_RETRY, "the task was withdrawn");
	else if (t->why[0]) /* part_fail() */
		flight_refuse(mod, f, t->status, t->why);
	else if (o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL)
		flight_refuse(mod, f, refusal_status(o->verdict == KEEL_REJECT ? o->code : 0), o->text && *o->text ? o->text : "refused by the host");
	else
		names_settle(mod, &f->l, launch_spawn, f);
}

void launch_withdraw(struct keel_mod *mod, struct task *t)
{
	if (t->gate) /* -ENOENT: it is on a worker */
		keel_end(mod, t->gate);
}

static void launch_go(struct keel_mod *mod, struct task *t, struct launch *l)
{
	struct flight *f = (struct flight *)l;

	if (l->status) { /* it cannot be gone on with */
		task_refused(mod, t, l->status, l->why);
		launch_free(l);
		return;
	}
	f->task = t;
	t->launch = l;
	t->gate = f;
	t->part = l->part;
	l->facts = l->part;
	l->part = NULL;
	t->begin_raised = true;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_task_begin,
		.event = KEEL_EVENT(task_begin, .id = l->id, .user = l->user ? l->user : ""),
		.done = gate_done, .arg = f });
}

void launch_next(struct keel_mod *mod, struct launch *l)
{
	struct task *t = task_create(mod, l->id, l->run);

	if (t)
		launch_go(mod, t, l);
	else
		launch_free(l);
}

void launch_begin(struct keel_mod *mod, const struct keel_msg *m)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(m, "id");
	int64_t run = keel_msg_int(m, "run", -1);
	struct task *t;
	struct launch *l;

	/* Ids become file names. */
	if (!id || !isdigit((unsigned char)id[0]) || strlen(id) > NURSERY_ID_MAX || run < 0 ||
	    id[strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_[]")]) {
		keel_log(mod, KEEL_LOG_ERROR, "Req", "start", "a start message without proper id");
		return;
	}
	t = task_find(st, id);
	if (t && (t->run > run || (t->next && t->next->run >= run)))
		return; /* stale */
	if (t && t->run == run) {
		task_report(mod, t); /* a repeated message */
		return;
	}
	if (t && t->state != TASK_ENDED && t->state != TASK_REFUSED) {
		/* An older run that has not ended yet: it is ended first, the new one follows. */
		l = launch_read(mod, m, id, run);
		if (l) {
			launch_free(t->next);
			t->next = l;
			stop_discard(mod, t);
		}
		return;
	}
	if (t)
		task_free(mod, t);
	t = task_create(mod, id, run);
	if (!t)
		return;
	l = launch_read(mod, m, id, run);
	if (l)
		launch_go(mod, t, l);
	else
		task_refused(mod, t, KEEL_TASK_RETRY, "no memory to start the task");
}
