/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.c - remove a directory tree with the user's rights, following no symbolic link.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "shepherd.h"

#define DEPTH_MAX 200

static void entries_remove(int dir_fd, int depth)
{
	DIR *dir = fdopendir(dir_fd);
	struct dirent *e;

	if (!dir) {
		close(dir_fd);
		return;
	}
	while ((e = readdir(dir))) {
		int fd;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    unlinkat(dirfd(dir), e->d_name, 0) == 0)
			continue;
		fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && depth < DEPTH_MAX)
			entries_remove(fd, depth + 1);
		else if (fd >= 0)
			close(fd);
		unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

void tree_remove(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		entries_remove(fd, 0);
	rmdir(path);
}
