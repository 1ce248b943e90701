/* SPDX-License-Identifier: Apache-2.0
 *
 * recover.c - after a restart of the daemon: find the shepherds again, or how their tasks ended.
 *
 * A shepherd is the process with the recorded pid and start time, so a reused pid is no shepherd. A
 * task of which nothing is left (the host was restarted) is dropped and reported to the server as
 * lost. A daemon that was killed at the start or the end of a task may leave files that no diary
 * names: they are removed.
 */
#include "executor.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

static const struct {
	const char *path;
	mode_t mode;
} dirs[] = {
	{ "", 0755 },        { "mom_priv", 0751 }, { "mom_priv/jobs", 0751 }, { "spool", 01777 },
	{ "undelivered", 01777 }, { "aux", 0755 },
};

static int dirs_make(struct keel_mod *mod, struct keel_err *err)
{
	char path[4096];

	for (size_t i = 0; i < KEEL_COUNT(dirs); i++) {
		bool made;

		snprintf(path, sizeof(path), "%s/%s", keel_home(mod), dirs[i].path);
		made = mkdir(path, dirs[i].mode) == 0;
		if (!made && errno != EEXIST)
			return keel_error(err, -errno, "directory %s cannot be made: %s", path,
					  strerror(errno));
		if (made && chmod(path, dirs[i].mode) < 0)
			return keel_error(err, -errno, "mode of %s: %s", path, strerror(errno));
	}
	return 0;
}

static bool is_this_world(const struct state *st, const struct diary *d)
{
	return st->mom.world[0] && strcmp(st->mom.world, d->world) == 0;
}

/* Its shepherd was killed while no daemon was there. What it was doing in another world has ended with that; only
 * its files are left. */
static void task_abandoned(struct keel_mod *mod, struct task *t, const struct diary *d)
{
	const struct state *st = mod->state;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.JB", st->mom.jobs_dir, t->id);
	t->shepherd = 0;
	t->found_over = access(path, R_OK) == 0;
	if (t->found_over && d->started && is_this_world(st, d))
		return;
	keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "nothing is left of the task");
	if (t->found_over) {
		t->discarded = true;
		record_note(mod, t, "discarded");
		return;
	}
	if (is_this_world(st, d))
		proc_kill_strays(d->session, NULL, NULL, d->shepherd_start, d->uid);
	task_free(mod, t);
}

/* When it began and how long it stood still, by a clock that cannot be set; by the calendar where that one has begun
 * anew since, or an older build wrote the diary. */
static void clock_fill(struct keel_mod *mod, struct task *t, const struct diary *d)
{
	const struct state *st = mod->state;
	int64_t now = keel_now_ms(mod), up = proc_up_ms(), time = keel_time(mod);

	if (d->up && is_this_world(st, d)) {
		t->began_ms = now - (up - d->up);
		t->stopped_ms = d->up_stopped;
		t->stopped_at_ms = d->up_stopped_at ? now - (up - d->up_stopped_at) : 0;
		if (d->ended && d->up_over && !t->stopped_at_ms)
			t->stopped_at_ms = now - (up - d->up_over);
		return;
	}
	t->began_ms = now - (time - d->began) * 1000;
	t->stopped_ms = d->stopped * 1000;
	t->stopped_at_ms = d->stopped_at ? now - (time - d->stopped_at) * 1000 : 0;
}

static void task_fill(struct keel_mod *mod, struct task *t, const struct diary *d)
{
	const struct state *st = mod->state;
	int64_t now = keel_now_ms(mod);

	t->shepherd = d->shepherd;
	t->shepherd_start = d->shepherd_start;
	t->session = d->session;
	t->state = d->stopped_at ? TASK_STOPPED : d->started || d->ended ? TASK_RUN : TASK_BEGIN;
	t->found = t->begin_raised = true;
	t->ready = d->started;
	t->settled = d->settled;
	t->part = part_read(st->mom.jobs_dir, t->id, keel_host_name(mod));
	if (t->part)
		t->part->view.uid = (int64_t)(int32_t)d->uid;
	t->prepared = true;
	t->walltime_limit = d->walltime;
	t->cput_limit = d->cput;
	t->ncpus = d->ncpus;
	t->output = d->output[0] ? strdup(d->output) : NULL;
	t->error = d->error[0] ? strdup(d->error) : NULL;
	t->limit_status = d->limit;
	snprintf(t->notice, sizeof(t->notice), "%s", d->notice);
	clock_fill(mod, t, d);
	record_usage_read(st->mom.jobs_dir, t, &t->usage);
	record_elsewhere_read(st->mom.jobs_dir, t);
	t->next_usage_ms = now + 1000;
	t->user = strdup(d->user);
	t->freezer = d->freezer[0] ? strdup(d->freezer) : NULL;
	t->bound = d->bound[0] ? strdup(d->bound) : NULL;
	if (d->refused) {
		t->status = d->refused;
		snprintf(t->why, sizeof(t->why), "%s", d->why);
	}
}

static void task_recover(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	const struct conf *cf = mod->conf;
	struct diary d;
	struct task *t;
	struct proc p;

	if (record_read(st->mom.jobs_dir, id, &d) < 0 || task_find(st, id) ||
	    !(t = task_create(mod, id, d.run)))
		return;
	task_fill(mod, t, &d);
	members_recover(mod, t);
	if (proc_read(d.shepherd, &p) == 0 && p.start == d.shepherd_start && !strchr("ZX", p.state) &&
	    (t->pidfd = pidfd_open(d.shepherd, 0)) >= 0) {
		launch_watch(mod, t);
		talk_find(mod, t);
		keel_log(mod, KEEL_LOG_DEBUG, "Job", id, "found again, session %d",
			 (int)d.session);
		if (d.limit && !d.ended)
			stop_kill(mod, t, cf->kill_delay);
	} else if (d.refused || d.ended) {
		t->found_over = true;
	} else {
		task_abandoned(mod, t, &d);
	}
}

/* In mom_priv/jobs, where names end with what a file is, or in aux. */
static void strays_remove(struct keel_mod *mod, const char *path, bool in_jobs)
{
	struct state *st = mod->state;
	DIR *dir = opendir(path);
	struct dirent *e;
	char id[256];
	struct diary d;
	int r;

	while (dir && (e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]) || (in_jobs && !record_is_file(e->d_name)))
			continue;
		snprintf(id, sizeof(id), "%.*s", (int)strlen(e->d_name) - (in_jobs ? 3 : 0), e->d_name);
		/* Nothing was ever begun with these, or all is done: a diary is what a start goes by, and goes last. */
		r = task_find(st, id) ? 0 : record_read(st->mom.jobs_dir, id, &d);
		if (r == -ENOENT || r == -EPROTO)
			record_remove(mod, id);
	}
	if (dir)
		closedir(dir);
}

/* Sockets of shepherds that were killed: "<pid>.SK". */
static void sockets_remove(struct keel_mod *mod)
{
	struct state *st = mod->state;
	DIR *dir = opendir(st->mom.jobs_dir);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		size_t len = strlen(e->d_name);
		struct task *t, *next;
		bool known = false;

		if (len < 4 || strcmp(e->d_name + len - 3, ".SK") != 0)
			continue;
		HASH_ITER(hh, st->mom.tasks, t, next)
			known |= t->pidfd >= 0 && t->shepherd == (pid_t)strtol(e->d_name, NULL, 10);
		if (!known)
			unlinkat(dirfd(dir), e->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

int32_t recover(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	struct dirent *e;
	char id[256];
	DIR *dir;
	int r;
	char path[4096];

	if (asprintf(&st->mom.jobs_dir, "%s/mom_priv/jobs", keel_home(mod)) < 0)
		return keel_error(err, -ENOMEM, "no memory");
	r = dirs_make(mod, err);
	if (r < 0)
		return r;
	dir = opendir(st->mom.jobs_dir);
	if (!dir)
		return keel_error(err, -errno, "%s cannot be read: %s", st->mom.jobs_dir,
				  strerror(errno));
	while ((e = readdir(dir))) {
		size_t len = strlen(e->d_name);

		if (len < 4 || len >= sizeof(id) || strcmp(e->d_name + len - 3, ".TK") != 0)
			continue;
		snprintf(id, sizeof(id), "%.*s", (int)(len - 3), e->d_name);
		task_recover(mod, id);
	}
	closedir(dir);
	snprintf(path, sizeof(path), "%s/aux", keel_home(mod));
	strays_remove(mod, path, false);
	strays_remove(mod, st->mom.jobs_dir, true);
	sockets_remove(mod);
	usage_tick(mod);
	return 0;
}
