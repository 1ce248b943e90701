/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c - service "part": what modules on this host see of a job's part, and may do with it. The work is done elsewhere:
 * member.c tasks, stop.c signals and ends, shrink.c hosts that go, facts.c what is known of hosts.
 */
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TO(me, done, arg) ((struct answer_to){ .me = (me), .done = (done), .arg = (arg) })

uint32_t part_index(const struct task *t)
{
	return t->part ? t->part->view.index : 0;
}

bool is_sister(const struct task *t)
{
	return part_index(t) > 0;
}

const struct keel_part *part_of(const struct task *t)
{
	static const uint32_t states[TASK_STATES] = {
		[TASK_BEGIN] = KEEL_PART_BEGIN, [TASK_RUN] = KEEL_PART_READY, [TASK_STOPPED] = KEEL_PART_STOPPED,
		[TASK_ENDED] = KEEL_PART_ENDED, [TASK_REFUSED] = KEEL_PART_ENDED,
	};
	struct keel_part *v = &t->part->view;

	v->id = t->id;
	v->run = t->run;
	v->state = states[t->state];
	if (t->state == TASK_BEGIN && t->ready && !is_sister(t))
		v->state = KEEL_PART_READY;
	v->started = t->session > 0;
	v->leaving = t->leaving;
	v->session = t->session;
	v->select = t->part->select ? t->part->select : "";
	return v;
}

static struct task *task_of(struct keel_mod *mod, const char *id)
{
	struct task *t = id ? task_find(mod->state, id) : NULL;

	return t && t->part ? t : NULL;
}

/* ---- who listens --------------------------------------------------------------------------------------- */

static void answers_drop(struct state *st, const struct keel_mod *me)
{
	struct task *t, *next;

	HASH_ITER(hh, st->mom.tasks, t, next) {
		if (t->stop_to.me == me)
			t->stop_to = (struct answer_to){ 0 };
		members_unask(t, me);
	}
}

static int32_t part_listen(struct keel_mod *mod, struct keel_mod *me, const struct keel_part_events *events)
{
	struct state *st = mod->state;
	struct part_listener **at = &st->mom.part_listeners, *l;

	while (*at && (*at)->me != me)
		at = &(*at)->next;
	if (*at && !events) {
		l = *at;
		*at = l->next;
		free(l);
	}
	if (!events) {
		answers_drop(st, me);
		return 0;
	}
	l = *at ? *at : calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->me = me;
	memset(&l->events, 0, sizeof(l->events));
	memcpy(&l->events, events, events->size < sizeof(l->events) ? events->size : sizeof(l->events));
	*at = l;
	return 0;
}

void part_fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	for (struct part_listener *l = st->mom.part_listeners, *next; l; l = next) {
		next = l->next;
		free(l);
	}
	st->mom.part_listeners = NULL;
}

void parts_found(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct task *t, *next;

	HASH_ITER(hh, st->mom.tasks, t, next) {
		if (!t->part || t->discarded || t->state == TASK_ENDED || t->state == TASK_REFUSED)
			continue;
		if (is_sister(t) && t->ready)
			PART_TELL(mod, ready, part_of(t));
		else if (!is_sister(t) && t->session)
			PART_TELL(mod, started, part_of(t));
		members_found(mod, t);
	}
}

static const struct keel_part *part_find(struct keel_mod *mod, const char *id)
{
	const struct task *t = task_of(mod, id);

	return t && !t->discarded ? part_of(t) : NULL;
}

static void part_each(struct keel_mod *mod, void (*fn)(struct keel_mod *me, const struct keel_part *, void *arg),
		      struct keel_mod *me, void *arg)
{
	struct state *st = mod->state;
	struct task *t, *next;

	HASH_ITER(hh, st->mom.tasks, t, next)
		if (t->part && !t->discarded)
			fn(me, part_of(t), arg);
}

/* ---- tasks ------------------------------------------------------------------------------------------------- */

static void part_spawn(struct keel_mod *mod, const char *id, const struct keel_part_task *what, struct keel_mod *me,
		       keel_part_done *done, void *arg)
{
	struct task *t = task_of(mod, id);

	if (t)
		member_spawn(mod, t, what, TO(me, done, arg));
	else
		done(me, arg, TM_ENOTFOUND, "the job has no part on this host");
}

static void part_attach(struct keel_mod *mod, const char *id, uint32_t number, int64_t pid, struct keel_mod *me,
			keel_part_done *done, void *arg)
{
	struct task *t = task_of(mod, id);

	if (t)
		member_attach(mod, t, number, pid, TO(me, done, arg));
	else
		done(me, arg, TM_ENOTFOUND, "the job has no part on this host");
}

static void one_signal(struct keel_mod *mod, struct task *t, uint32_t number, const char *name, struct answer_to to)
{
	const struct member *m = member_find(t, number);
	pid_t session = number == 1 ? t->session : m ? m->session : 0;
	int signum = signal_number(name);

	if (session <= 0) {
		answer(mod, &to, TM_ENOTFOUND, "the job has no such task on this host");
	} else if (signum < 0 || signum >= NSIG) {
		answer(mod, &to, PBSE_UNKSIG, NULL);
	} else if (t->state == TASK_STOPPED && signum != SIGKILL) {
		answer(mod, &to, PBSE_BADSTATE, "the job is suspended");
	} else {
		if (m && m->attached)
			attached_signal(t, m, signum);
		else
			member_signal(t, session, signum);
		answer(mod, &to, 0, NULL);
	}
}

static void part_signal(struct keel_mod *mod, const char *id, uint32_t number, const char *name, struct keel_mod *me,
			keel_part_done *done, void *arg)
{
	struct task *t = task_of(mod, id);

	if (!t || !name)
		done(me, arg, TM_ENOTFOUND, "the job has no part on this host");
	else if (number)
		one_signal(mod, t, number, name, TO(me, done, arg));
	else
		stop_act(mod, t, name, TO(me, done, arg));
}

/* ---- ends ---------------------------------------------------------------------------------------------------- */

static int32_t part_end(struct keel_mod *mod, const char *id, int64_t delay_ms)
{
	struct task *t = task_of(mod, id);

	if (!t || !is_sister(t) || t->state == TASK_ENDED || t->state == TASK_REFUSED)
		return -ENOENT;
	stop_kill(mod, t, delay_ms);
	return 0;
}

static int32_t part_abort(struct keel_mod *mod, const char *id)
{
	struct task *t = task_of(mod, id);

	if (t && is_sister(t))
		t->aborted = true;
	return part_end(mod, id, 0);
}

static int32_t part_usage(struct keel_mod *mod, const char *id, char *buf, uint32_t len)
{
	const struct task *t = task_of(mod, id);
	char text[USAGE_ITEMS][48];
	const char *items[USAGE_ITEMS];
	uint32_t n = t ? usage_items(mod, t, text, items) : 0, at = 0;

	for (uint32_t i = 0; i < n && at < len; i++)
		at += (uint32_t)snprintf(buf + at, len - at, "%s%s", i ? "," : "", items[i]);
	return t ? 0 : -ENOENT;
}

static int32_t part_forget(struct keel_mod *mod, const char *id, int64_t run)
{
	struct task *t = task_of(mod, id);

	if (!t || !is_sister(t) || t->run != run)
		return -ENOENT;
	if (t->state != TASK_ENDED && t->state != TASK_REFUSED)
		return -EBUSY;
	task_free(mod, t);
	return 0;
}

static int32_t part_fail(struct keel_mod *mod, const char *id, int32_t status, const char *line)
{
	struct task *t = task_of(mod, id);

	if (!t || t->state == TASK_ENDED || t->state == TASK_REFUSED)
		return -ENOENT;
	if (is_sister(t)) {
		if (line && !t->notice[0]) {
			snprintf(t->notice, sizeof(t->notice), "%s", line);
			keel_log(mod, KEEL_LOG_JOB, "Job", id, "%s", t->notice);
		}
		PART_TELL(mod, failing, part_of(t), status, line);
		return 0;
	}
	if (t->state == TASK_BEGIN) {
		launch_fail_later(mod, t, status, line);
		return 0;
	}
	limit_exceeded(mod, t, status, line);
	return 0;
}

int32_t used_elsewhere(struct keel_mod *mod, struct task *t, const char *host, const char *const *items, uint32_t n)
{
	int32_t r;

	if (!t || !t->part || is_sister(t) || !host || !*host || strlen(host) > 255)
		return -ENOENT;
	r = part_elsewhere_set(t->part, host, items, n);
	if (r == 0)
		record_elsewhere(mod, t, part_elsewhere(t->part, host));
	return r;
}

static int32_t part_add(struct keel_mod *mod, const char *id, const char *host, const char *const *items, uint32_t n)
{
	return used_elsewhere(mod, task_of(mod, id), host, items, n);
}

/* ---- points of a sister that its primary orders ------------------------------------------------------------------ */

static void ordered_done(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct answer_to *to = arg;
	bool refused = o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL;

	if (!st->stopping)
		answer(mod, to, !refused ? 0 : o->code ? o->code : PBSE_HOOK_REJECT, refused ? o->text : NULL);
	free(to);
}

/* A part whose prologue refuses the job has not begun: its end is an abort. */
struct admission {
	struct answer_to to;
	int64_t run;
	char id[];
};

static void admitted(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct admission *a = arg;
	struct task *t = task_find(st, a->id);
	bool refused = o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL;

	if (refused && t && t->run == a->run)
		t->aborted = true;
	if (!st->stopping)
		answer(mod, &a->to, !refused ? 0 : o->code ? o->code : PBSE_HOOK_REJECT, refused ? o->text : NULL);
	free(a);
}

static void part_admit(struct keel_mod *mod, const char *id, struct keel_mod *me, keel_part_done *done, void *arg)
{
	const struct task *t = task_of(mod, id);
	struct admission *a = t && is_sister(t) && t->state == TASK_RUN ? malloc(sizeof(*a) + strlen(t->id) + 1) : NULL;

	if (!a) {
		done(me, arg, t ? PBSE_BADSTATE : TM_ENOTFOUND, "the job has no part here that waits for its prologue");
		return;
	}
	a->to = TO(me, done, arg);
	a->run = t->run;
	strcpy(a->id, t->id);
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_task_prologue,
		.event = KEEL_EVENT(task_prologue, .id = t->id, .user = t->user ? t->user : "", .index = part_index(t)),
		.done = admitted, .arg = a });
}

static void part_preterm(struct keel_mod *mod, const char *id, struct keel_mod *me, keel_part_done *done, void *arg)
{
	const struct task *t = task_of(mod, id);
	struct answer_to *to = t && is_sister(t) && (t->state == TASK_RUN || t->state == TASK_STOPPED) ? malloc(sizeof(*to)) : NULL;

	if (!to) {
		done(me, arg, PBSE_BADSTATE, "the job has no part here that could be ended");
		return;
	}
	*to = TO(me, done, arg);
	keel_raise(mod, &(struct keel_raise){ .size = sizeof(struct keel_raise), .point = KEEL_POINT_task_preterm,
					      .event = KEEL_EVENT(task_preterm, .id = t->id), .done = ordered_done, .arg = to });
}

/* ---- what tasks wrote -------------------------------------------------------------------------------------------- */

/* A file in the spool that is still the plain file which its shepherd made for the user; fails with -errno. */
static int spool_open(struct keel_mod *mod, const struct task *t, int32_t stream, int how)
{
	char path[4096];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/spool/%s%s", keel_home(mod), t->id, stream == 2 ? ".ER" : ".OU");
	fd = open(path, how | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	    (st.st_uid == (uid_t)t->part->view.uid || geteuid() != 0))
		return fd;
	close(fd);
	return -EPERM;
}

static int64_t part_write(struct keel_mod *mod, const char *id, int32_t stream, const void *bytes, uint32_t len)
{
	const struct task *t = task_of(mod, id);
	ssize_t n;
	int fd;

	if (!t || is_sister(t) || (stream != 1 && stream != 2))
		return -ENOENT;
	fd = spool_open(mod, t, stream, O_WRONLY | O_APPEND);
	if (fd == -ENOENT) /* it is joined to the other one */
		fd = spool_open(mod, t, 3 - stream, O_WRONLY | O_APPEND);
	if (fd < 0)
		return fd;
	n = write(fd, bytes, len);
	n = n < 0 ? -errno : n;
	close(fd);
	return n;
}

static int64_t part_read_output(struct keel_mod *mod, const char *id, int32_t stream, int64_t at, void *buf, uint32_t len)
{
	const struct task *t = task_of(mod, id);
	ssize_t n;
	int fd;

	if (!t || !is_sister(t) || (stream != 1 && stream != 2) || at < 0)
		return -ENOENT;
	fd = spool_open(mod, t, stream, O_RDONLY);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd; /* it is where its user wanted it */
	n = pread(fd, buf, len, at);
	n = n < 0 ? -errno : n;
	close(fd);
	return n;
}

static char *part_path_here(struct keel_mod *mod, const char *host, const char *path)
{
	return path_here(directive_usecp(mod), keel_host_name(mod), host, path);
}

const struct keel_part_api part_api = {
	.size = sizeof(struct keel_part_api), .version = 1,
	.listen = part_listen, .find = part_find, .each = part_each, .spawn = part_spawn, .attach = part_attach,
	.signal = part_signal, .end = part_end, .forget = part_forget, .fail = part_fail, .add = part_add,
	.write = part_write, .read = part_read_output, .prune = part_prune, .admit = part_admit,
	.abort = part_abort, .path_here = part_path_here, .usage = part_usage,
	.program = program_show, .set_program = program_set, .preterm = part_preterm, .weigh = part_weigh,
	.bound = part_bound,
};
