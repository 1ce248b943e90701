/* SPDX-License-Identifier: Apache-2.0
 *
 * attach.c - processes from outside that become tasks of a job: whose they may be, how they are watched and signalled.
 */
#include "executor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "diary.h"
#include "group.h"
#include "talk.h"

void attached_signal(struct task *t, const struct member *which, int signum)
{
	struct member *m, *next;
	struct proc p;

	HASH_ITER(hh, t->members, m, next) {
		if (!m->attached || (which && m != which) || proc_read(m->pid, &p) < 0 || p.start != m->start)
			continue;
		proc_kill(m->pid, signum);
		kill(m->pid, signum);
	}
}

static void attached_gone(struct keel_mod *mod, void *arg)
{
	struct member *m = arg;
	struct task *t = m->task;

	record_note(mod, t, "done %u 0", m->number); /* how it ended is its parent's to know */
	member_over(mod, t, m);
}

void attached_watch(struct keel_mod *mod, struct member *m)
{
	struct proc p;

	m->pidfd = pidfd_open(m->pid, 0);
	if (m->pidfd >= 0 && proc_read(m->pid, &p) == 0 && p.start == m->start)
		m->watch = keel_watch_fd(mod, m->pidfd, attached_gone, m);
	else
		attached_gone(mod, m);
}

/* Real, effective and saved user are the job's. */
static bool is_users(pid_t pid, int64_t uid)
{
	char path[64], line[256];
	unsigned real, effective, saved;
	bool yes = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %u %u %u", &real, &effective, &saved) == 3)
			yes = real == uid && effective == uid && saved == uid;
	if (f)
		fclose(f);
	return yes;
}

#define ABOVE 1000 /* processes above one that are looked at */

static int by_pid(const void *a, const void *b)
{
	return ((const struct proc *)a)->pid - ((const struct proc *)b)->pid;
}

/* Does a part have it already? A shepherd is above it, or one that was taken in. A user may have many of both, so none is
 * compared with each. */
static bool is_taken(struct state *st, pid_t pid)
{
	struct proc chain[ABOVE], *found;
	struct task *t, *next;
	struct member *m, *later;
	size_t n = 0;

	for (; pid > 1 && n < ABOVE && proc_read(pid, &chain[n]) == 0; n++)
		pid = chain[n].parent;
	qsort(chain, n, sizeof(*chain), by_pid);
	HASH_ITER(hh, st->mom.tasks, t, next) {
		if (bsearch(&(struct proc){ .pid = t->shepherd }, chain, n, sizeof(*chain), by_pid))
			return true;
		HASH_ITER(hh, t->members, m, later) {
			found = m->attached ? bsearch(&(struct proc){ .pid = m->pid }, chain, n, sizeof(*chain), by_pid) : NULL;
			if (found && found->start == m->start)
				return true;
		}
	}
	return false;
}

/* It, and what it has started so far. */
static void group_take(const char *group, pid_t pid)
{
	pid_t *pids = NULL;
	size_t n = 0;

	if (!group)
		return;
	group_move(group, pid);
	if (proc_descendants(pid, &pids, &n) == 0)
		for (size_t i = 0; i < n; i++)
			group_move(group, pids[i]);
	free(pids);
}

struct attaching {
	struct answer_to to;
	uint32_t number;
	int64_t run, pid;
	uint64_t start;
	char id[];
};

static void attach(struct keel_mod *mod, struct task *t, const struct attaching *a)
{
	struct state *st = mod->state;
	bool taken = is_taken(st, (pid_t)a->pid);
	struct member *m;
	struct proc p;

	if (proc_read((pid_t)a->pid, &p) < 0 || p.start != a->start) {
		answer(mod, &a->to, TM_ENOPROC, "the process has ended");
	} else if (!is_users(p.pid, t->part->view.uid)) {
		answer(mod, &a->to, TM_EOWNER, "the process is not of the job's user");
	} else if (taken) {
		answer(mod, &a->to, TM_ESESSION, "the process is part of a job already");
	} else if (member_find(t, a->number) || !(m = member_create(mod, t, a->number))) {
		answer(mod, &a->to, TM_ESYSTEM, "no memory, or a task of this number is there already");
	} else {
		m->pid = p.pid;
		m->session = p.session;
		m->start = p.start;
		m->attached = true;
		record_note(mod, t, "attached %u %d %llu %d", m->number, (int)m->pid, (unsigned long long)m->start,
			    (int)m->session);
		group_take(t->freezer, m->pid);
		if (t->bound && !(t->freezer && strcmp(t->bound, t->freezer) == 0))
			group_take(t->bound, m->pid);
		keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "task %8.8X attached, pid = %d", m->number, (int)m->pid);
		answer(mod, &a->to, 0, NULL);
		attached_watch(mod, m);
	}
}

static void attach_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct attaching *a = arg;
	struct task *t = task_find(st, a->id);
	const char *why = t && t->run == a->run ? part_hindrance(t) : "the job is not here";

	if (st->stopping)
		; /* no caller waits for it */
	else if (why)
		answer(mod, &a->to, PBSE_BADSTATE, why);
	else if (o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL)
		answer(mod, &a->to, TM_EHOOK, o->text);
	else
		attach(mod, t, a);
	free(a);
}

void member_attach(struct keel_mod *mod, struct task *t, uint32_t number, int64_t pid, struct answer_to to)
{
	const char *why = part_hindrance(t);
	struct attaching *a = NULL;
	struct proc p;

	if (why) {
		answer(mod, &to, PBSE_BADSTATE, why);
	} else if (number <= PROGRAM || member_find(t, number) || spawns_count(t) >= TALK_TASKS_MAX) {
		answer(mod, &to, PBSE_BADSTATE, "the number is taken, or the job has as many tasks here as there may be");
	} else if (pid <= 1 || pid > INT32_MAX || proc_read((pid_t)pid, &p) < 0) {
		answer(mod, &to, TM_ENOPROC, "there is no such process");
	} else if (!is_users((pid_t)pid, t->part->view.uid)) {
		answer(mod, &to, TM_EOWNER, "the process is not of the job's user");
	} else if (!(a = calloc(1, sizeof(*a) + strlen(t->id) + 1))) {
		answer(mod, &to, TM_ESYSTEM, "no memory on the host");
	}
	if (!a)
		return;
	*a = (struct attaching){ .to = to, .number = number, .run = t->run, .pid = pid, .start = p.start };
	strcpy(a->id, t->id);
	keel_raise(mod, &(struct keel_raise){ .size = sizeof(struct keel_raise),
					      .point = KEEL_POINT_task_attach,
					      .event = KEEL_EVENT(task_attach, .id = a->id, .pid = pid),
					      .done = attach_decided, .arg = a });
}
