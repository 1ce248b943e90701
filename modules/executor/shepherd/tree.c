/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.c - remove a directory tree with the user's rights, following no symbolic link.
 *
 * Folders that their owner has locked are opened again. However deep it is: what lies LEVELS below the top is moved to
 * the top, and the next pass goes on there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shepherd.h"

#define LEVELS 200 /* that are open at once */

/* A pass over a tree. */
struct pass {
	int top_fd;
	unsigned moved;
};

/* A folder that can be read, searched and written, where it is ours; -1. */
static int folder_open(int dir_fd, const char *name)
{
	const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir_fd, name, how), path_fd;
	struct stat st;
	char self[40];

	if (fd < 0 && errno == EACCES) {
		/* By a descriptor: what is at the name may change, and a link would lead elsewhere. */
		path_fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (path_fd < 0)
			return -1;
		snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
		(void)!chmod(self, 0700);
		close(path_fd);
		fd = openat(dir_fd, name, how);
	}
	if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
		(void)!fchmod(fd, 0700);
	return fd;
}

static void entries_remove(struct pass *p, int dir_fd, int depth)
{
	DIR *dir = fdopendir(dir_fd);
	struct dirent *e;
	char to[32];

	if (!dir) {
		close(dir_fd);
		return;
	}
	while ((e = readdir(dir))) {
		int fd, r;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    unlinkat(dirfd(dir), e->d_name, 0) == 0)
			continue;
		fd = folder_open(dirfd(dir), e->d_name);
		if (fd >= 0 && depth < LEVELS)
			entries_remove(p, fd, depth + 1);
		else if (fd >= 0)
			close(fd);
		if (depth < LEVELS) {
			unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
			continue;
		}
		do { /* what is deeper moves up to the top */
			snprintf(to, sizeof(to), "deep.%u", p->moved++);
			r = renameat(dirfd(dir), e->d_name, p->top_fd, to);
		} while (r < 0 && (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR));
		if (r < 0)
			p->moved--;
	}
	closedir(dir);
}

void tree_remove(const char *path)
{
	struct pass p;

	if (rmdir(path) == 0) /* most are empty */
		return;
	do {
		int fd = folder_open(AT_FDCWD, path);

		p = (struct pass){ .top_fd = fd };
		if (fd >= 0)
			entries_remove(&p, fd, 0);
	} while (p.moved);
	rmdir(path);
}

/* ---- a directory that all hosts of its job may see ------------------------------------------------------ */
#define MARK "%s/.keelson"

int tree_mark(const char *dir, const char *run)
{
	char path[4096];
	int fd = snprintf(path, sizeof(path), MARK, dir) < (int)sizeof(path)
			 ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600) : -1;

	if (fd < 0 || dprintf(fd, "%s\n", run) < 0 || close(fd) < 0)
		return errno ? -errno : -ENAMETOOLONG;
	return 0;
}

bool tree_is_mine(const char *dir, const char *run, bool primary)
{
	char path[4096], text[32] = "";
	int fd = snprintf(path, sizeof(path), MARK, dir) < (int)sizeof(path)
			 ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
	long long theirs, ours = strtoll(run, NULL, 10);

	if (fd < 0)
		return true;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	theirs = strtoll(text, NULL, 10);
	return theirs < ours || (theirs == ours && primary);
}
