/* SPDX-License-Identifier: Apache-2.0
 *
 * outcome.c - <id>.EX, the durable end of a task, and lines of <id>.TK, its diary.
 *
 * The file is whole or absent: written aside, synced, renamed. A crash between leaves a complete
 * <id>.EX.new, which the daemon accepts too ("done" is its last line).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shepherd.h"

static int path_make(const struct spec *s, const char *suffix, char *buf, size_t len)
{
	int n = snprintf(buf, len, "%s/%s%s", s->jobs_dir, s->id, suffix);

	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

int outcome_write(const struct spec *s, const struct outcome *o)
{
	char path[4096], aside[4096], text[512];
	int len, fd, r = 0;

	if (path_make(s, ".EX", path, sizeof(path)) < 0 ||
	    path_make(s, ".EX.new", aside, sizeof(aside)) < 0)
		return -ENAMETOOLONG;
	len = snprintf(text, sizeof(text),
		       "run %s\nstatus %d\nsession %d\ncpu_us %llu\nmax_rss_kb %llu\nend %lld\ndone\n",
		       s->run, o->status, (int)o->session, (unsigned long long)o->cpu_us,
		       (unsigned long long)o->max_rss_kb, (long long)time(NULL));
	fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)len) != len || fsync(fd) < 0)
		r = errno ? -errno : -EIO;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(aside, path) < 0)
		r = -errno;
	return r;
}

void record_append(const struct spec *s, const char *line)
{
	char path[4096];
	int fd;

	if (path_make(s, ".TK", path, sizeof(path)) < 0)
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	dprintf(fd, "%s\n", line);
	close(fd);
}
