/* SPDX-License-Identifier: Apache-2.0
 *
 * diary.c - see diary.h.
 */
#include "diary.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void diary_plain(char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			*text = '?';
}

int diary_open(const char *jobs_dir, const char *id, int how)
{
	char path[4096];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s.TK", jobs_dir, id) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, how | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int diary_write(int fd, const char *line)
{
	size_t len = strlen(line);
	char *text = malloc(len + 2);
	int r = text ? 0 : -ENOMEM;

	if (text) {
		memcpy(text, line, len + 1);
		diary_plain(text);
		text[len] = '\n';
		errno = EIO;
		if (write(fd, text, len + 1) != (ssize_t)len + 1)
			r = -errno;
	}
	free(text);
	return r;
}

int diary_append(const char *jobs_dir, const char *id, const char *line)
{
	int fd = diary_open(jobs_dir, id, O_WRONLY), r = fd < 0 ? fd : diary_write(fd, line);

	if (fd >= 0)
		close(fd);
	return r;
}
