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
#include <sys/xattr.h>
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

/* systemd has given it to this daemon: DelegateSubgroup= of its unit. */
static bool is_given_away(const char *dir)
{
	char c = '0';

	return (getxattr(dir, "trusted.delegate", &c, 1) == 1 || getxattr(dir, "user.delegate", &c, 1) == 1) && c == '1';
}

/* A group with processes of its own bounds no memory of those below it: then they are beside it, where that may be. */
static void memory_allow(char *dir)
{
	char *slash = strrchr(dir, '/');

	if (!slash || slash == dir)
		return;
	*slash = '\0';
	if (!is_given_away(dir) || file_put(dir, "cgroup.subtree_control", "+memory") < 0)
		*slash = '/';
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
	if (access(dir, W_OK) == 0) {
		memory_allow(dir);
		return dir;
	}
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

/* ---- memory --------------------------------------------------------------------------------------------- */

/* "rw,memory" */
static bool has_memory(const char *list)
{
	for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
		if (strncmp(at, "memory", 6) == 0 && (!at[6] || strchr(",\n", at[6])))
			return true;
	return false;
}

static bool memory_mount(char *root, char *mount)
{
	char line[4096], options[1024];
	FILE *f = fopen("/proc/self/mountinfo", "re");
	bool there = false;

	while (f && !there && fgets(line, sizeof(line), f)) {
		const char *rest = strstr(line, " - cgroup ");

		there = rest && sscanf(line, "%*s %*s %*s %2047s %2047s", root, mount) == 2 &&
			sscanf(rest, " - cgroup %*s %1023s", options) == 1 && has_memory(options);
	}
	if (f)
		fclose(f);
	return there;
}

/* "4:memory:/path" */
static bool memory_own(char *buf, size_t len)
{
	char line[4096], *of, *path = NULL;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && !path && fgets(line, sizeof(line), f)) {
		of = strchr(line, ':');
		path = of ? strchr(of + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		path = has_memory(of + 1) ? path : NULL;
	}
	if (path) {
		path[strcspn(path, "\n")] = '\0';
		snprintf(buf, len, "%s", path);
	}
	if (f)
		fclose(f);
	return path != NULL;
}

char *group_memory_home(void)
{
	char root[2048], mount[2048], own[4096], *dir = NULL;
	size_t seen;

	if (!memory_mount(root, mount) || !memory_own(own, sizeof(own)))
		return NULL;
	seen = strcmp(root, "/") == 0 || strncmp(own, root, strlen(root)) != 0 ? 0 : strlen(root);
	if (asprintf(&dir, "%s%s", mount, own + seen) < 0)
		return NULL;
	if (access(dir, W_OK) == 0)
		return dir;
	free(dir);
	return NULL;
}

int group_bound(const char *group, int64_t bytes)
{
	char text[32];
	int r;

	snprintf(text, sizeof(text), "%lld", (long long)bytes);
	r = file_put(group, "memory.max", bytes < 0 ? "max" : text);
	if (r != -ENOENT) {
		file_put(group, "memory.swap.max", bytes < 0 ? "max" : "0");
		file_put(group, "memory.oom.group", "1");
		return r;
	}
	/* The first kind: memory with swap is never less than memory; which goes first depends on what they were. */
	r = file_put(group, "memory.limit_in_bytes", text);
	file_put(group, "memory.memsw.limit_in_bytes", text);
	return r ? file_put(group, "memory.limit_in_bytes", text) : 0;
}

/* The number behind a word that begins a line, "": the file is a number. */
static int64_t number_get(const char *group, const char *name, const char *word)
{
	char path[4096], line[256];
	int64_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, word, strlen(word)) == 0)
			n = strtoll(line + strlen(word), NULL, 10);
	if (f)
		fclose(f);
	return n;
}

int64_t group_kills(const char *group)
{
	int64_t n = number_get(group, "memory.events", "oom_kill ");

	return n ? n : number_get(group, "memory.oom_control", "oom_kill ");
}

int64_t group_peak_kb(const char *group)
{
	int64_t n = number_get(group, "memory.peak", "");

	return (n ? n : number_get(group, "memory.max_usage_in_bytes", "")) / 1024;
}
