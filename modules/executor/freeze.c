/* SPDX-License-Identifier: Apache-2.0
 *
 * freeze.c - the cgroup v2 freezer: holds a task still while it is being stopped. A group is made when
 * a task is first suspended, below the daemon's own; its processes move in and stay there until the end.
 */
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

#define ROUNDS_MAX 16
#define LOOKS_MAX 8 /* in a row at most, */
#define LOOK_MS 1   /* each of them so long: the kernel tells earlier */

static int file_put(const char *dir, const char *name, const char *text)
{
	char path[4096];
	int fd, r = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	close(fd);
	return r;
}

/* Where cgroup2 is mounted, "" when it is not. */
static void mount_find(char *buf, size_t len)
{
	char line[4096], place[2048];
	FILE *f = fopen("/proc/self/mountinfo", "re");

	buf[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		const char *kind = strstr(line, " - ");

		if (kind && strncmp(kind, " - cgroup2 ", 11) == 0 &&
		    sscanf(line, "%*s %*s %*s %*s %2047s", place) == 1) {
			snprintf(buf, len, "%s", place);
			break;
		}
	}
	if (f)
		fclose(f);
}

static void own_group(char *buf, size_t len)
{
	char line[4096];
	FILE *f = fopen("/proc/self/cgroup", "re");

	buf[0] = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "0::", 3) == 0) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(buf, len, "%s", line + 3);
		}
	if (f)
		fclose(f);
}

void freeze_init(struct keel_mod *mod)
{
	struct state *st = mod->state;
	const struct conf *cf = mod->conf;
	char mount[2048], group[4096], *dir;

	if (!cf->freezer)
		return;
	mount_find(mount, sizeof(mount));
	own_group(group, sizeof(group));
	if (!mount[0] || !group[0] || asprintf(&dir, "%s%s", mount, group) < 0)
		return;
	if (access(dir, W_OK) == 0)
		st->mom.freezer_dir = dir;
	else
		free(dir);
}

/* Move every process of the task in, until a pass finds nobody new. */
static int members_move(const struct task *t)
{
	size_t before = 0;

	for (int round = 0; round < ROUNDS_MAX; round++) {
		pid_t *pids = NULL;
		size_t n = 0;
		char text[24];
		int r = proc_descendants(t->shepherd, &pids, &n);

		for (size_t i = 0; r == 0 && i < n; i++) {
			snprintf(text, sizeof(text), "%d", (int)pids[i]);
			r = file_put(t->freezer, "cgroup.procs", text);
			if (r == -ESRCH)
				r = 0;
		}
		free(pids);
		if (r < 0)
			return r;
		if (round && n <= before)
			return 0;
		before = n;
	}
	return -EAGAIN;
}

/* A process in the kernel freezes when it leaves it, which takes microseconds, or its turn on a busy host. What
 * is still running after that is met by the passes of SIGSTOP. */
static void frozen_wait(const char *dir)
{
	char path[4096], text[256];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.events", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (int look = 0; fd >= 0 && look < LOOKS_MAX; look++) {
		ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

		text[n > 0 ? n : 0] = '\0';
		if (strstr(text, "frozen 1\n"))
			break;
		poll(&(struct pollfd){ .fd = fd, .events = POLLPRI }, 1, LOOK_MS);
	}
	if (fd >= 0)
		close(fd);
}

int freeze_stop(struct keel_mod *mod, struct task *t)
{
	struct state *st = mod->state;
	bool first = !t->freezer;

	if (!st->mom.freezer_dir && first)
		return -ENOTSUP;
	if (first && asprintf(&t->freezer, "%s/keelson-%s.%d", st->mom.freezer_dir, t->id,
			      (int)t->shepherd) < 0) {
		t->freezer = NULL;
		return -ENOMEM;
	}
	if ((mkdir(t->freezer, 0755) < 0 && errno != EEXIST) || members_move(t) < 0 ||
	    file_put(t->freezer, "cgroup.freeze", "1") < 0) {
		freeze_resume(t);
		freeze_remove(t);
		return -ENOTSUP;
	}
	if (first)
		record_note(mod, t, "freezer %s", t->freezer);
	frozen_wait(t->freezer);
	return 0;
}

void freeze_resume(const struct task *t)
{
	if (t->freezer)
		file_put(t->freezer, "cgroup.freeze", "0");
}

void freeze_remove(struct task *t)
{
	if (!t->freezer)
		return;
	rmdir(t->freezer);
	free(t->freezer);
	t->freezer = NULL;
}
