/* SPDX-License-Identifier: Apache-2.0
 *
 * member.c - tasks beside a job's program: started by the part's shepherd, or taken in (attach.c).
 *
 * Which run, and how each ended, is in the diary before anything is answered: "task N PID START", "attached N PID START
 * SESSION", "done N STATUS"; "notified N" when the listeners have been notified. A daemon that is killed between these two
 * notifies them again.
 *
 *	spawn: asks (task_spawn) -> waits -> with the shepherd (SPAWNS_AT_ONCE of a part: each has a descriptor) -> begun | failed
 */
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "diary.h"
#include "group.h"
#include "talk.h"

#define SPAWNS_AT_ONCE 64 /* as many as a shepherd starts at the same time */
#define UNREACHED "the shepherd of the task is not reached at the moment; try again"

/* One that was requested, and whose shepherd has not answered yet. */
struct spawn {
	struct spawn *prev, *next;
	uint32_t number;
	struct answer_to to;
	struct spec_out description; /* no bytes: the shepherd has it */
	struct asking *asking;	     /* its taps have not answered yet; NULL: they have */
	char program[64];
};

/* task_spawn of one, whose task may go meanwhile. */
struct asking {
	int64_t run;
	uint32_t number;
	char id[];
};

static void spawn_free(struct task *t, struct spawn *s)
{
	DL_DELETE(t->spawns, s);
	t->spawn_bytes -= s->description.len;
	spec_out_fini(&s->description);
	free(s);
}

struct member *member_find(struct task *t, uint32_t number)
{
	struct member *m;

	HASH_FIND(hh, t->members, &number, sizeof(number), m);
	return m;
}

struct member *member_create(struct keel_mod *mod, struct task *t, uint32_t number)
{
	struct member *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->number = number;
	m->pidfd = -1;
	m->mod = mod;
	m->task = t;
	HASH_ADD(hh, t->members, number, sizeof(m->number), m);
	if (m->hh.tbl)
		return m;
	free(m);
	return NULL;
}

static void member_drop(struct task *t, struct member *m)
{
	keel_watch_cancel(m->watch);
	if (m->pidfd >= 0)
		close(m->pidfd);
	HASH_DEL(t->members, m);
	free(m);
}

void members_free(struct task *t)
{
	struct member *m, *next;
	struct spawn *s, *later;

	HASH_ITER(hh, t->members, m, next)
		member_drop(t, m);
	DL_FOREACH_SAFE(t->spawns, s, later)
		spawn_free(t, s);
}

void members_unask(struct task *t, const struct keel_mod *me)
{
	struct spawn *s;

	DL_FOREACH(t->spawns, s)
		if (s->to.me == me)
			s->to = (struct answer_to){ 0 };
}

/* Its end is in the diary. */
void member_over(struct keel_mod *mod, struct task *t, struct member *m)
{
	uint32_t number = m->number;
	int32_t status = m->status;

	record_note(mod, t, "notified %u", number);
	member_drop(t, m);
	keel_log(mod, KEEL_LOG_DEBUG, "Job", t->id, "task %8.8X terminated", number);
	PART_TELL(mod, task_over, part_of(t), number, status);
	if (t->kill_timer && is_sister(t) && !t->members) /* TERM has ended the last one */
		stop_kill(mod, t, 0);
}

/* ---- what a shepherd says ---------------------------------------------------------------------------------- */

static struct spawn *spawn_of(struct task *t, uint32_t number)
{
	struct spawn *s;

	DL_FOREACH(t->spawns, s)
		if (s->number == number)
			return s;
	return NULL;
}

static void spawn_answer(struct keel_mod *mod, struct task *t, struct spawn *s, int32_t code, const char *why)
{
	struct answer_to to = s->to;
	struct asking *asking = s->asking;

	if (code)
		keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "task %8.8X not started, %s: %s", s->number, s->program, why);
	else
		keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "task %8.8X started, %s", s->number, s->program);
	spawn_free(t, s);
	if (asking) /* no tap is waited for any more */
		keel_end(mod, asking);
	answer(mod, &to, code, why);
}

/* Hands it to the shepherd, as a file. 0; fails with -errno. */
static int spawn_send(struct keel_mod *mod, struct task *t, struct spawn *s)
{
	int fd = program_file(&s->description);
	char word[32];

	if (fd < 0)
		return fd;
	t->spawn_bytes -= s->description.len;
	spec_out_fini(&s->description);
	snprintf(word, sizeof(word), "spawn %u", s->number);
	talk_say(mod, t, word, fd);
	return 0;
}

/* Those that wait, in their order, while few are with the shepherd. */
static void spawns_send(struct keel_mod *mod, struct task *t)
{
	struct spawn *s = t->spawns, *next;
	int n = 0, r;

	for (; s && n < SPAWNS_AT_ONCE; s = next, n++) {
		next = s->next;
		if (s->asking) {
			n--;
			continue;
		}
		if (!s->description.bytes || (r = spawn_send(mod, t, s)) == 0)
			continue;
		spawn_answer(mod, t, s, TM_ESYSTEM, strerror(-r));
		next = t->spawns; /* its caller may have requested others */
		n = -1;
	}
}

void member_begun(struct keel_mod *mod, struct task *t, const char *rest)
{
	unsigned long long start;
	struct member *m;
	struct spawn *s;
	unsigned number;
	int pid;

	if (sscanf(rest, "%u %d %llu", &number, &pid, &start) != 3)
		return;
	s = spawn_of(t, number);
	m = member_find(t, number);
	if (!m && (m = member_create(mod, t, number))) {
		m->pid = m->session = pid;
		m->start = start;
	}
	if (s)
		spawn_answer(mod, t, s, m ? 0 : TM_ESYSTEM, m ? NULL : "no memory to watch it");
	spawns_send(mod, t);
}

void member_failed(struct keel_mod *mod, struct task *t, const char *rest)
{
	unsigned number;
	struct spawn *s;
	int code, used = 0;

	if (sscanf(rest, "%u %d %n", &number, &code, &used) != 2 || !(s = spawn_of(t, number)))
		return;
	spawn_answer(mod, t, s, code, rest + used);
	spawns_send(mod, t);
}

void member_done(struct keel_mod *mod, struct task *t, const char *rest)
{
	struct member *m;
	unsigned number;
	int status;

	if (sscanf(rest, "%u %d", &number, &status) != 2 || !(m = member_find(t, number)))
		return;
	m->status = status;
	bound_look(mod, t); /* why it has ended goes before */
	m = member_find(t, number);
	if (m)
		member_over(mod, t, m);
}

static void spawns_fail(struct keel_mod *mod, struct task *t, int32_t code, const char *why)
{
	struct spawn *s, *next;

	DL_FOREACH_SAFE(t->spawns, s, next)
		spawn_answer(mod, t, s, code, why);
}

void members_lost(struct keel_mod *mod, struct task *t)
{
	spawns_fail(mod, t, TM_ESYSTEM, "the shepherd of the task was not reached");
}

/* What its shepherd has said of their ends goes before; the others were ended with the part. */
void members_over(struct keel_mod *mod, struct task *t)
{
	struct member *m, *next;

	spawns_fail(mod, t, PBSE_BADSTATE, "the job is ending");
	HASH_ITER(hh, t->members, m, next) {
		if (!m->over) {
			m->status = m->attached ? 0 : 256 + SIGKILL;
			record_note(mod, t, "done %u %d", m->number, (int)m->status);
		}
		member_over(mod, t, m);
	}
}

/* ---- after a restart ---------------------------------------------------------------------------------------- */

static void line_take(struct keel_mod *mod, struct task *t, const char *line)
{
	bool attached = strncmp(line, "attached ", 9) == 0;
	unsigned long long start;
	int pid, status, session = 0;
	struct member *m;
	unsigned number;

	if (sscanf(line, attached ? "attached %u %d %llu %d" : "task %u %d %llu", &number, &pid, &start, &session) >= 3) {
		m = member_find(t, number);
		if (!m && (m = member_create(mod, t, number)))
			*m = (struct member){ .number = number, .pid = pid, .session = attached ? session : pid, .start = start,
					      .attached = attached, .pidfd = -1, .mod = mod, .task = t, .hh = m->hh };
	} else if (sscanf(line, "done %u %d", &number, &status) == 2) {
		if ((m = member_find(t, number))) {
			m->over = true;
			m->status = status;
		}
	} else if (sscanf(line, "notified %u", &number) == 1 && (m = member_find(t, number))) {
		member_drop(t, m);
	}
}

void members_recover(struct keel_mod *mod, struct task *t)
{
	const struct state *st = mod->state;
	int fd = diary_open(st->mom.jobs_dir, t->id, O_RDONLY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;

	if (!f && fd >= 0)
		close(fd);
	while (f && getline(&line, &room, f) > 0)
		line_take(mod, t, line);
	free(line);
	if (f)
		fclose(f);
}

void members_found(struct keel_mod *mod, struct task *t)
{
	struct member *m, *next;

	HASH_ITER(hh, t->members, m, next) {
		if (m->over)
			member_over(mod, t, m);
		else if (m->attached)
			attached_watch(mod, m);
	}
}

/* ---- start -------------------------------------------------------------------------------------------------- */

/* Why a task cannot be started in it now; NULL: it can. */
const char *part_hindrance(const struct task *t)
{
	if (t->discarded || t->ending || t->end_wanted || t->over || t->kill_delay >= 0 || t->state == TASK_ENDED ||
	    t->state == TASK_REFUSED)
		return "the job is ending";
	if (t->state == TASK_STOPPED || t->stop_timer)
		return "the job is suspended";
	return t->state == TASK_BEGIN && !t->passed ? "the job has not started here" : NULL;
}

static bool description_put(struct spec_out *out, const struct task *t, const struct keel_part_task *what)
{
	char number[32], node[32];

	snprintf(number, sizeof(number), "PBS_TASKNUM=%08X", what->number);
	snprintf(node, sizeof(node), "PBS_NODENUM=%u", part_index(t));
	spec_put(out, "dir", what->dir && *what->dir ? what->dir : NULL);
	for (const char *const *arg = what->argv; *arg; arg++)
		spec_put(out, "arg", *arg);
	for (const char *const *env = what->env; env && *env; env++)
		spec_put(out, "env", *env);
	spec_put(out, "own", number);
	spec_put(out, "own", node);
	return spec_end(out) == 0;
}

/* NULL: *ret_error is -E2BIG, -ENOBUFS (others have to be started first) or -ENOMEM. */
static struct spawn *spawn_create(struct task *t, const struct keel_part_task *what, int *ret_error)
{
	struct spec_out out = { 0 };
	bool made = description_put(&out, t, what);
	struct spawn *s = NULL;

	*ret_error = -ENOMEM;
	if (out.large || out.len > TALK_SPAWN_MAX)
		*ret_error = -E2BIG;
	else if (out.len > SPAWNS_BYTES_MAX - t->spawn_bytes)
		*ret_error = -ENOBUFS;
	else if (made && (s = calloc(1, sizeof(*s)))) {
		s->number = what->number;
		s->description = out;
		t->spawn_bytes += out.len;
		DL_APPEND(t->spawns, s);
		return s;
	}
	spec_out_fini(&out);
	return NULL;
}

uint32_t spawns_count(const struct task *t)
{
	const struct spawn *s;
	uint32_t n = 0;

	DL_COUNT(t->spawns, s, n);
	return n + HASH_COUNT(t->members);
}

struct spec_out *member_description(struct task *t, uint32_t number)
{
	struct spawn *s = spawn_of(t, number);

	return s && s->asking ? &s->description : NULL;
}

/* Its taps have accepted it. */
static void spawn_passed(struct keel_mod *mod, struct task *t, struct spawn *s)
{
	const char *why = part_hindrance(t);

	if (!why && t->talk < 0)
		why = UNREACHED;
	if (why)
		spawn_answer(mod, t, s, PBSE_BADSTATE, why);
	else if (t->state != TASK_BEGIN) /* else its program runs, or will, and the shepherd has yet to say so */
		spawns_send(mod, t);
}

static void asked(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct asking *a = arg;
	struct task *t = st->stopping ? NULL : task_find(st, a->id);
	struct spawn *s = t && t->run == a->run ? spawn_of(t, a->number) : NULL;

	if (s && s->asking == a) {
		s->asking = NULL;
		if (o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL)
			spawn_answer(mod, t, s, TM_EHOOK, o->text && *o->text ? o->text : "refused by the host");
		else
			spawn_passed(mod, t, s);
	}
	free(a);
}

static void spawn_ask(struct keel_mod *mod, struct task *t, struct spawn *s)
{
	struct asking *a = calloc(1, sizeof(*a) + strlen(t->id) + 1);

	if (!a) {
		spawn_answer(mod, t, s, TM_ESYSTEM, "no memory to start it");
		return;
	}
	a->run = t->run;
	a->number = s->number;
	strcpy(a->id, t->id);
	s->asking = a;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_task_spawn,
		.event = KEEL_EVENT(task_spawn, .id = t->id, .user = t->user ? t->user : "", .number = s->number),
		.done = asked, .arg = a });
}

void member_spawn(struct keel_mod *mod, struct task *t, const struct keel_part_task *what, struct answer_to to)
{
	const char *why = part_hindrance(t), *base;
	struct spawn *s = NULL;
	char text[128];
	int error;

	if (!why && (!what->argv || !what->argv[0] || !*what->argv[0] || what->number <= PROGRAM))
		why = "no program is named, or no number above 1";
	if (!why && (member_find(t, what->number) || spawn_of(t, what->number)))
		why = "a task of this number is there already";
	if (!why && spawns_count(t) >= TALK_TASKS_MAX)
		why = "the job has as many tasks on this host as there may be at the same time";
	if (!why && t->talk < 0)
		why = UNREACHED;
	if (why) {
		answer(mod, &to, PBSE_BADSTATE, why);
		return;
	}
	s = spawn_create(t, what, &error);
	if (!s) {
		snprintf(text, sizeof(text), "a task cannot be described to its shepherd: %s", strerror(-error));
		answer(mod, &to, TM_ESYSTEM, text);
		return;
	}
	base = strrchr(what->argv[0], '/');
	s->to = to;
	snprintf(s->program, sizeof(s->program), "%s", base ? base + 1 : what->argv[0]);
	diary_plain(s->program);
	spawn_ask(mod, t, s);
}

void members_begin(struct keel_mod *mod, struct task *t)
{
	spawns_send(mod, t);
}

/* ---- signal ------------------------------------------------------------------------------------------------- */

int member_signal(struct task *t, pid_t session, int signum)
{
	pid_t *pids = NULL;
	struct proc p;
	size_t n = 0;
	int sent = 0;

	if (proc_descendants(t->shepherd, &pids, &n) < 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (proc_read(pids[i], &p) == 0 && p.session == session)
			sent += kill(pids[i], signum) == 0;
	free(pids);
	return sent;
}
