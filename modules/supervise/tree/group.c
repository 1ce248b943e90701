/* SPDX-License-Identifier: Apache-2.0
 *
 * group.c - the cgroup of what runs as root: bounds of processes and memory for all of it, and its end as a whole.
 *
 * One group where the second kind of cgroups has both controllers; else beside it one of each controller of the first kind.
 * All are below the daemon's own, where the system lets it make any. A group of the second kind that has processes of its own
 * bounds none below it: then they are beside it, where systemd has given the daemon's parent group away (DelegateSubgroup=).
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "tree.h"

#define PREFIX "keelson-tree."
#define LEFT_S 60 /* an empty group is so old: its tree is gone */

static struct {
	const char *controller; /* NULL: the second kind */
	char dir[4096];		/* "": there is none */
} groups[] = { { NULL, "" }, { "pids", "" }, { "memory", "" } };
enum { UNIFIED, PIDS, MEMORY, GROUPS };

static int put(const char *dir, const char *name, const char *text)
{
	char path[4200];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* Is `word` one of the words of a list with commas? */
static bool is_in(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at != NULL; at = strchr(at, ','), at = at != NULL ? at + 1 : NULL)
		if (strncmp(at, word, len) == 0 && (at[len] == ',' || at[len] == '\0' || at[len] == '\n'))
			return true;
	return false;
}

/* ---- where the daemon's own is ------------------------------------------------------------------------- */
/* The path of it below its mount: a line "4:memory:/path", or "0::/path". */
static bool own_path(const char *controller, char *ret, size_t len)
{
	char line[4096], *of, *path;
	FILE *f = fopen("/proc/self/cgroup", "re");
	bool there = false;

	while (f != NULL && !there && fgets(line, sizeof(line), f) != NULL) {
		of = strchr(line, ':');
		path = of != NULL ? strchr(of + 1, ':') : NULL;
		if (path == NULL)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		there = controller != NULL ? is_in(of + 1, controller) : of[1] == '\0';
		if (there)
			snprintf(ret, len, "%s", path);
	}
	if (f != NULL)
		fclose(f);
	return there;
}

/* The mount of it, and what of the whole hierarchy is seen there. */
static bool mount_of(const char *controller, char *ret_root, char *ret_mount)
{
	char line[4096], kind[64], options[1024];
	FILE *f = fopen("/proc/self/mountinfo", "re");
	bool there = false;

	while (f != NULL && !there && fgets(line, sizeof(line), f) != NULL) {
		const char *rest = strstr(line, " - ");

		if (rest == NULL || sscanf(line, "%*s %*s %*s %2047s %2047s", ret_root, ret_mount) != 2 ||
		    sscanf(rest, " - %63s %*s %1023s", kind, options) != 2)
			continue;
		there = controller != NULL ? strcmp(kind, "cgroup") == 0 && is_in(options, controller) : strcmp(kind, "cgroup2") == 0;
	}
	if (f != NULL)
		fclose(f);
	return there;
}

static bool home_of(const char *controller, char *ret, size_t len)
{
	char root[2048], mount[2048], own[4096];
	size_t seen;

	if (!mount_of(controller, root, mount) || !own_path(controller, own, sizeof(own)))
		return false;
	seen = strcmp(root, "/") == 0 || strncmp(own, root, strlen(root)) != 0 ? 0 : strlen(root);
	return (size_t)snprintf(ret, len, "%s%s", mount, own + seen) < len;
}

static bool is_given_away(const char *dir)
{
	char c = '0';

	return (getxattr(dir, "trusted.delegate", &c, 1) == 1 || getxattr(dir, "user.delegate", &c, 1) == 1) && c == '1';
}

/* Where groups of the second kind have controllers: there or above, as far as the system lets this be. */
static void unified_home(char *home)
{
	char parent[3900], *slash;
	bool bounds = put(home, "cgroup.subtree_control", "+pids") == 0;

	if (put(home, "cgroup.subtree_control", "+memory") == 0 || bounds)
		return;
	snprintf(parent, sizeof(parent), "%s", home);
	slash = strrchr(parent, '/');
	if (slash == NULL || slash == parent)
		return;
	*slash = '\0';
	if (!is_given_away(parent))
		return;
	put(parent, "cgroup.subtree_control", "+pids");
	put(parent, "cgroup.subtree_control", "+memory");
	strcpy(home, parent);
}

/* ---- ours ---------------------------------------------------------------------------------------------- */
/* What a tree that was killed itself has left. One with processes is not removed; one that is new has none yet. */
static void sweep(const char *home)
{
	const time_t old = time(NULL) - LEFT_S;
	DIR *dir = opendir(home);
	struct dirent *entry;
	char path[4200];
	struct stat about;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", home, entry->d_name);
		if (stat(path, &about) == 0 && about.st_mtime < old)
			rmdir(path);
	}
	if (dir != NULL)
		closedir(dir);
}

static bool make(int which)
{
	char home[3900];
	char *dir = groups[which].dir;

	if (!home_of(groups[which].controller, home, sizeof(home)))
		return false;
	if (which == UNIFIED)
		unified_home(home);
	sweep(home);
	snprintf(dir, sizeof(groups[which].dir), "%s/" PREFIX "XXXXXX", home);
	if (mkdtemp(dir) != NULL)
		return true;
	dir[0] = '\0';
	return false;
}

static bool bound(int which, const char *file, long long most)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", most);
	return groups[which].dir[0] != '\0' && put(groups[which].dir, file, text) == 0;
}

int group_make(const struct tree_order *o, char *why, int len)
{
	bool pids, memory;

	make(UNIFIED);
	pids = bound(UNIFIED, "pids.max", processes_of(o)) || (make(PIDS) && bound(PIDS, "pids.max", processes_of(o)));
	memory = o->memory <= 0 || bound(UNIFIED, "memory.max", o->memory) ||
		 (make(MEMORY) && bound(MEMORY, "memory.limit_in_bytes", o->memory));
	if (pids && memory)
		return 1;
	snprintf(why, (size_t)len, "no cgroup for %s can be made; systemd lets keelsond with Delegate=yes and DelegateSubgroup=daemon in "
		 "its unit", pids ? "memory" : memory ? "processes" : "processes and memory");
	return 0;
}

int group_enter(void)
{
	int ret = 0;

	for (int i = 0; ret == 0 && i < GROUPS; i++)
		if (groups[i].dir[0] != '\0')
			ret = put(groups[i].dir, "cgroup.procs", "0");
	return ret;
}

static void kill_in(const char *dir)
{
	char path[4200];
	FILE *f;
	int pid;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	f = fopen(path, "re");
	while (f != NULL && fscanf(f, "%d", &pid) == 1)
		if (pid > 1)
			kill(pid, SIGKILL);
	if (f != NULL)
		fclose(f);
}

void group_kill(void)
{
	for (int i = 0; i < GROUPS; i++) {
		if (groups[i].dir[0] == '\0')
			continue;
		put(groups[i].dir, "pids.max", "0");
		if (put(groups[i].dir, "cgroup.kill", "1") < 0)
			kill_in(groups[i].dir);
	}
}

void group_remove(void)
{
	for (int i = 0; i < GROUPS; i++)
		if (groups[i].dir[0] != '\0')
			rmdir(groups[i].dir);
}
