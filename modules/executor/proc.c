/* SPDX-License-Identifier: Apache-2.0
 *
 * proc.c - read /proc. See proc.h.
 *
 * One task is walked through the children files (work for its processes only); the whole table is
 * read once for the usage of many tasks, and when the kernel has no children files.
 */
#include "proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 8 /* of signalling a tree that keeps growing: the loop waits for it */
#define STRAYS_ROUNDS 64

int proc_parse(const char *text, struct proc *ret)
{
	const char *name = strchr(text, '('), *end = strrchr(text, ')');
	unsigned long long utime, stime, start, vmem;
	long long cutime, cstime, rss;
	long parent, session;
	char *after;
	long pid = strtol(text, &after, 10);
	char state;

	if (!name || !end || end < name || pid <= 0 || pid > INT32_MAX || after == text)
		return -EPROTO;
	if (sscanf(end + 1,
		   " %c %ld %*d %ld %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d %*d %*d "
		   "%llu %llu %lld",
		   &state, &parent, &session, &utime, &stime, &cutime, &cstime, &start, &vmem,
		   &rss) != 10)
		return -EPROTO;
	*ret = (struct proc){
		.pid = (pid_t)pid, .parent = (pid_t)parent, .session = (pid_t)session, .state = state,
		.ticks = utime + stime,
		.child_ticks = (uint64_t)(cutime > 0 ? cutime : 0) + (uint64_t)(cstime > 0 ? cstime : 0),
		.start = start, .vmem = vmem, .rss = rss > 0 ? (uint64_t)rss : 0,
	};
	return 0;
}

/* 0 and a terminated text, or -errno. */
static int file_read(const char *path, char *buf, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t at = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while (at + 1 < len && (n = read(fd, buf + at, len - 1 - at)) > 0)
		at += (size_t)n;
	close(fd);
	buf[at] = '\0';
	return at ? 0 : -ESRCH;
}

int proc_read(pid_t pid, struct proc *ret)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(path, text, sizeof(text)) < 0)
		return -ESRCH;
	return proc_parse(text, ret);
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = ((const struct proc *)a)->pid, y = ((const struct proc *)b)->pid;

	return (x > y) - (x < y);
}

int proc_snapshot(struct proc **ret, size_t *ret_n)
{
	struct proc *all = NULL;
	size_t n = 0, room = 0;
	struct dirent *e;
	DIR *dir = opendir("/proc");

	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		if (n == room) {
			struct proc *more = realloc(all, (room = room ? room * 2 : 256) * sizeof(*all));

			if (!more) {
				free(all);
				closedir(dir);
				return -ENOMEM;
			}
			all = more;
		}
		n += proc_read((pid_t)strtol(e->d_name, NULL, 10), &all[n]) == 0;
	}
	closedir(dir);
	qsort(all, n, sizeof(*all), by_pid);
	*ret = all;
	*ret_n = n;
	return 0;
}

const struct proc *proc_find(const struct proc *all, size_t n, pid_t pid)
{
	struct proc key = { .pid = pid };

	return n ? bsearch(&key, all, n, sizeof(*all), by_pid) : NULL;
}

struct pids {
	pid_t *v;
	size_t n, room;
};

static int pids_add(struct pids *p, pid_t pid)
{
	if (p->n == p->room) {
		size_t room = p->room ? p->room * 2 : 16;
		pid_t *v = realloc(p->v, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		p->v = v;
		p->room = room;
	}
	p->v[p->n++] = pid;
	return 0;
}

/* Append the numbers of one children file. -ENOENT: no such file. */
static int children_read(int task_dir, const char *thread, struct pids *found)
{
	char path[300], buf[4096];
	long pid = 0;
	ssize_t n;
	int fd, r = 0;

	snprintf(path, sizeof(path), "%s/children", thread);
	fd = openat(task_dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (r == 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n && r == 0; i++) {
			if (isdigit((unsigned char)buf[i]))
				pid = pid * 10 + (buf[i] - '0');
			else if (pid > 0) {
				r = pids_add(found, (pid_t)pid);
				pid = 0;
			}
		}
	close(fd);
	return r;
}

/* Children of every thread of `pid`. A process that is gone has none. */
static int children_add(pid_t pid, struct pids *found)
{
	char path[64];
	struct dirent *e;
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	while (r == 0 && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0])) {
			r = children_read(dirfd(dir), e->d_name, found);
			if (r == -ENOENT || r == -ESRCH)
				r = faccessat(dirfd(dir), e->d_name, F_OK, 0) == 0 ? -ENOTSUP : 0;
		}
	closedir(dir);
	return r;
}

static bool is_zombie(pid_t pid)
{
	struct proc p;

	return proc_read(pid, &p) < 0 || p.state == 'Z' || p.state == 'X';
}

/* The same from the whole table: one pass per generation. */
static int descendants_of_table(pid_t top, struct pids *found)
{
	struct proc *all;
	size_t n, done = 0;
	int r = proc_snapshot(&all, &n);

	if (r < 0)
		return r;
	for (pid_t parent = top; r == 0; parent = found->v[done++]) {
		for (size_t i = 0; i < n && r == 0; i++)
			if (all[i].parent == parent)
				r = pids_add(found, all[i].pid);
		if (done == found->n)
			break;
	}
	free(all);
	return r;
}

int proc_descendants(pid_t top, pid_t **ret, size_t *ret_n)
{
	struct pids found = { 0 };
	size_t kept = 0;
	int r = children_add(top, &found);

	for (size_t i = 0; r == 0 && i < found.n; i++)
		r = children_add(found.v[i], &found);
	if (r == -ENOTSUP) {
		found.n = 0;
		r = descendants_of_table(top, &found);
	}
	if (r < 0) {
		free(found.v);
		return r;
	}
	for (size_t i = 0; i < found.n; i++)
		if (!is_zombie(found.v[i]))
			found.v[kept++] = found.v[i];
	*ret = found.v;
	*ret_n = kept;
	return 0;
}

int proc_kill(pid_t top, int signum)
{
	struct pids reached = { 0 };
	bool grown = true;
	int n_reached;

	for (int round = 0; grown && round < ROUNDS; round++) {
		pid_t *pids = NULL;
		size_t n = 0;

		grown = false;
		if (proc_descendants(top, &pids, &n) < 0)
			break;
		for (size_t i = 0; i < n; i++) {
			size_t k = 0;

			while (k < reached.n && reached.v[k] != pids[i])
				k++;
			if (k < reached.n)
				continue;
			kill(pids[i], signum);
			grown = pids_add(&reached, pids[i]) == 0 && signum != 0;
		}
		free(pids);
	}
	n_reached = (int)reached.n;
	free(reached.v);
	return n_reached;
}

int proc_kill_pass(pid_t top)
{
	struct pids found = { 0 };
	int alive = 0, r = children_add(top, &found);

	/* At once: what forks and exits in turn is gone when it is only looked at first. */
	for (size_t i = 0; r == 0 && i < found.n; i++)
		kill(found.v[i], SIGKILL);
	for (size_t i = 0; r == 0 && i < found.n; i++) {
		size_t n = found.n;

		r = children_add(found.v[i], &found);
		for (; n < found.n; n++)
			kill(found.v[n], SIGKILL);
	}
	if (r == -ENOTSUP) {
		free(found.v);
		return proc_kill(top, SIGKILL);
	}
	for (size_t i = 0; i < found.n; i++)
		alive += !is_zombie(found.v[i]);
	free(found.v);
	return alive;
}

static bool is_still(char state)
{
	return strchr("TtZX", state) != NULL;
}

int proc_stop(pid_t top, int signum)
{
	pid_t *pids = NULL;
	size_t n = 0;
	int running = 0, r = proc_descendants(top, &pids, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct proc p;

		if (proc_read(pids[i], &p) == 0 && !is_still(p.state)) {
			running++;
			kill(pids[i], signum);
		}
	}
	free(pids);
	return r < 0 ? r : n ? running : -ESRCH;
}

/* Does one of the environment's strings, as they were at its start, equal `cookie`? */
static bool has_cookie(pid_t pid, const char *cookie)
{
	size_t len = strlen(cookie) + 1, kept = 0;
	char path[64], buf[8192];
	bool found = false;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && !found && len < sizeof(buf) / 2 && (n = read(fd, buf + kept, sizeof(buf) - kept)) > 0) {
		kept += (size_t)n;
		found = memmem(buf, kept, cookie, len) != NULL;
		if (kept >= len) { /* a part of it may be at the end */
			memmove(buf, buf + kept - len + 1, len - 1);
			kept = len - 1;
		}
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* Its real user, whatever its program has become since. */
static bool runs_as(pid_t pid, uid_t uid)
{
	char path[64], buf[2048], *line;
	unsigned who;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (file_read(path, buf, sizeof(buf)) < 0 || !(line = strstr(buf, "\nUid:")) || sscanf(line, "\nUid: %u", &who) != 1)
		return false;
	return uid == (uid_t)-1 ? who != 0 || geteuid() != 0 : who == uid;
}

/* One pass; how many were found. */
static int strays_kill(pid_t session, const char *cookie, const char *node, uint64_t since, uid_t uid)
{
	struct proc *all;
	size_t n;
	int found = 0;

	if (proc_snapshot(&all, &n) < 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct proc *p = &all[i];

		if (p->start < since || strchr("ZX", p->state) || p->pid == getpid() ||
		    !((session > 1 && p->session == session) || (cookie && has_cookie(p->pid, cookie) && (!node || has_cookie(p->pid, node)))) ||
		    !runs_as(p->pid, uid))
			continue;
		found += proc_kill_pass(p->pid) + 1;
		kill(p->pid, SIGKILL);
	}
	free(all);
	return found;
}

void proc_kill_strays(pid_t session, const char *cookie, const char *node, uint64_t since, uid_t uid)
{
	for (int round = 0, quiet = 0; quiet < 2 && round < STRAYS_ROUNDS; round++)
		quiet = strays_kill(session, cookie, node, since, uid) ? 0 : quiet + 1;
}

int64_t proc_up_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void proc_world(char world[PROC_WORLD_SIZE])
{
	char boot[40], space[40];
	ssize_t n = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);

	world[0] = '\0';
	if (n <= 0 || file_read("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)) < 0)
		return;
	space[n] = '\0';
	boot[strcspn(boot, "\n")] = '\0';
	snprintf(world, PROC_WORLD_SIZE, "%s/%s", boot, space);
}
