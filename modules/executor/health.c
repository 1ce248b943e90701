/* SPDX-License-Identifier: Apache-2.0
 *
 * health.c - may this host take tasks? Room where they are kept, processes, names: looked at on a worker thread
 * again and again, because each of these may block; what is found is reported to the server.
 */
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LONGEST_MS 30000 /* a check that takes longer is a finding */
#define SICK_MS 10000	/* between looks at a host that takes no tasks, or at a check that has no end yet, at most */

struct check {
	char *home;
	int64_t room;
	char why[256];
};

static const char *const places[] = { "spool", "mom_priv/jobs" };

int health_room(const char *pbs_home, int64_t room, char *why, size_t len)
{
	char path[4096];
	struct statvfs fs;
	struct stat st;

	for (size_t i = 0; i < KEEL_COUNT(places); i++) {
		snprintf(path, sizeof(path), "%s/%s", pbs_home, places[i]);
		if (statvfs(path, &fs) < 0 || stat(path, &st) < 0)
			snprintf(why, len, "%.180s: %s", path, strerror(errno));
		else if (!S_ISDIR(st.st_mode))
			snprintf(why, len, "%.180s: %s", path, strerror(ENOTDIR));
		else if (fs.f_flag & ST_RDONLY)
			snprintf(why, len, "%.180s cannot be written: read-only", path);
		else if ((int64_t)(fs.f_bavail * fs.f_frsize) < room || (fs.f_files && !fs.f_ffree))
			snprintf(why, len, "%.180s has no room left (executor.room is %" PRId64 " kb)", path, room / 1024);
		else
			continue;
		return -1;
	}
	return 0;
}

/* The file stays: a new one each time would cost more than all else here. */
static int write_tried(const char *home, char *why, size_t len)
{
	char path[4096];
	bool written;
	int fd;

	snprintf(path, sizeof(path), "%s/mom_priv/.health", home);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	written = fd >= 0 && write(fd, "1\n", 2) == 2;
	if (!written)
		snprintf(why, len, "%.180s cannot be written: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return written ? 0 : -1;
}

static void *nothing_done(void *arg) { return arg; }

static void check_work(void *arg)
{
	struct check *c = arg;
	struct passwd pw, *found = NULL;
	pthread_t thread;
	char buf[16384];
	int r;

	if (health_room(c->home, c->room, c->why, sizeof(c->why)) < 0 ||
	    write_tried(c->home, c->why, sizeof(c->why)) < 0)
		return;
	/* A thread is a process as far as limits go, and costs a tenth. */
	r = pthread_create(&thread, NULL, nothing_done, NULL);
	if (r) {
		snprintf(c->why, sizeof(c->why), "no new process can be made: %s", strerror(r));
		return;
	}
	pthread_join(thread, NULL);
	r = getpwuid_r(geteuid(), &pw, buf, sizeof(buf), &found);
	if (!found)
		snprintf(c->why, sizeof(c->why), "users cannot be looked up: %s",
			 r ? strerror(r) : "this daemon's own is unknown");
}

void health_report(struct keel_mod *mod)
{
	const struct state *st = mod->state;
	struct keel_out *out = keel_out(mod);

	if (!out)
		return;
	keel_put_str(out, "why", st->mom.sick);
	keel_link_send(mod, "server", "task.health", out);
}

static void look_timer(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->mom.health_timer = NULL;
	health_look(mod);
}

static void look_later(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	bool soon = (*st->mom.sick || st->mom.checking_ms) && conf->health_interval > SICK_MS;

	keel_timer_cancel(st->mom.health_timer);
	st->mom.health_timer = keel_timer(mod, soon ? SICK_MS : conf->health_interval, look_timer, NULL);
}

static void found_is(struct keel_mod *mod, const char *why)
{
	struct state *st = mod->state;

	if (strcmp(st->mom.sick, why) == 0)
		return;
	snprintf(st->mom.sick, sizeof(st->mom.sick), "%s", why);
	keel_log(mod, KEEL_LOG_ERROR, "Node", keel_host_name(mod), "%s%s",
		 *why ? "no tasks are taken: " : "tasks are taken again", why);
	health_report(mod);
}

static void checked(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct check *c = arg;

	st->mom.checking_ms = 0;
	if (!st->stopping) {
		found_is(mod, c->why);
		look_later(mod);
	}
	free(c->home);
	free(c);
}

static void check_start(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct check *c = calloc(1, sizeof(*c));

	if (c && (c->home = strdup(keel_home(mod)))) {
		c->room = conf->room;
		st->mom.checking_ms = keel_now_ms(mod);
		if (keel_work(mod, check_work, checked, c) == 0)
			return;
		st->mom.checking_ms = 0;
		free(c->home);
	}
	free(c);
}

void health_look(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->stopping)
		return;
	if (!st->mom.checking_ms)
		check_start(mod);
	else if (keel_now_ms(mod) - st->mom.checking_ms > LONGEST_MS)
		found_is(mod, "its disk or its name service does not answer");
	look_later(mod);
}

