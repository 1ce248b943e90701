/* SPDX-License-Identifier: Apache-2.0
 *
 * group.c - see group.h.
 */
#include "group.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOKS 8 /* in a row at most, */
#define LOOK_MS 1   /* each at most so long; the kernel notifies earlier */

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

char *group_home(void)
{
	char mount[2048], group[4096], *dir = NULL;

	mount_find(mount, sizeof(mount));
	own_group(group, sizeof(group));
	if (!mount[0] || !group[0] || asprintf(&dir, "%s%s", mount, group) < 0)
		return NULL;
	if (access(dir, W_OK) == 0)
		return dir;
	free(dir);
	return NULL;
}

char *group_make(const char *home, const char *id)
{
	char *path = NULL;

	if (!home || asprintf(&path, "%s/keelson-%s.XXXXXX", home, id) < 0)
		return NULL;
	if (mkdtemp(path))
		return path;
	free(path);
	return NULL;
}

int group_freeze(const char *group)
{
	int r = file_put(group, "cgroup.freeze", "1"), fd;
	char path[4096], text[256];

	if (r)
		return r;
	/* A process in the kernel freezes when it leaves it, which takes microseconds, or its turn on a busy host. What
	 * is still running after that is met by the passes of SIGSTOP. */
	snprintf(path, sizeof(path), "%s/cgroup.events", group);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (int look = 0; fd >= 0 && look < LOOKS; look++) {
		ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

		text[n > 0 ? n : 0] = '\0';
		if (strstr(text, "frozen 1\n"))
			break;
		poll(&(struct pollfd){ .fd = fd, .events = POLLPRI }, 1, LOOK_MS);
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

int group_thaw(const char *group)
{
	return file_put(group, "cgroup.freeze", "0");
}

int group_kill(const char *group)
{
	int r = file_put(group, "cgroup.kill", "1"), pid;
	char path[4096];
	FILE *f;

	if (r != -ENOENT)
		return r;
	/* Before Linux 5.14: frozen, so that none forks meanwhile; what is frozen can be killed. */
	r = group_freeze(group);
	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	f = r == 0 ? fopen(path, "re") : NULL;
	while (f && fscanf(f, "%d", &pid) == 1)
		if (pid > 1)
			kill(pid, SIGKILL);
	if (f)
		fclose(f);
	return r;
}

int group_enter(const char *group)
{
	return file_put(group, "cgroup.procs", "0");
}

int group_move(const char *group, int pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return file_put(group, "cgroup.procs", text);
}

void group_remove(const char *group)
{
	rmdir(group);
}
