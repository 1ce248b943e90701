/* SPDX-License-Identifier: Apache-2.0
 *
 * deliver.c - put the output of an ended task where its user wants it. Runs with the user's rights.
 *
 * A new name is a rename; what exists already keeps its place and is rewritten, as cp does. Output
 * that cannot be placed stays in the spool (courier.c). Only plain files are written: who reads from a FIFO
 * decides how long that takes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "shepherd.h"

static int bytes_write(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Opens the output of a task. Fails, without blocking, if the task replaced it by anything but a file. */
static int output_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* A plain file, or /dev/null by another name. */
static int place_open(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_NOCTTY | O_NONBLOCK | O_CLOEXEC | flags, 0666);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 &&
		       (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

int file_copy(const char *from, const char *to, int flags)
{
	int in = output_open(from);
	int out = in < 0 ? -1 : place_open(to, flags);
	int r = in < 0 || out < 0 ? -errno : 0;
	char buf[65536];
	ssize_t n = 0;

	while (r == 0 && (n = read(in, buf, sizeof(buf))) > 0)
		r = bytes_write(out, buf, (size_t)n);
	if (r == 0 && n < 0)
		r = -errno;
	if (out >= 0 && close(out) < 0 && r == 0)
		r = -errno;
	if (in >= 0)
		close(in);
	return r;
}

/* What keeps the user from `path`: the first folder on the way that is not there or may not be searched, else the last one, where
 * it may not be written, else the file itself. Cuts `path` to that. */
static void path_blame(char *path, int error)
{
	char *slash = path;

	if (*path != '/' || (error != EACCES && error != ENOENT && error != ENOTDIR))
		return;
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		if (access(path, X_OK) < 0)
			return;
		*slash = '/';
	}
	slash = strrchr(path, '/');
	if (error == EACCES && slash > path && access(path, F_OK) < 0)
		*slash = '\0';
}

static void undelivered_put(struct undelivered *u, const char *place, int error)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", place);
	path_blame(path, error);
	snprintf(u->place, sizeof(u->place), "%s", place);
	snprintf(u->why, sizeof(u->why), "%.400s: %s", path, error == EINVAL ? "Not a plain file" : strerror(error));
}

static void stream_deliver(const struct spec *s, const struct spec_stream *stream, const char *suffix, int status,
			   struct undelivered *u)
{
	struct stat st;
	char to[PATH_MAX];
	int r;

	if (!stream->run)
		return;
	if (stream->remove && status == 0) {
		unlink(stream->run);
		return;
	}
	if (!stream->place)
		return;
	if ((r = spec_path(s, stream->place, suffix, to)) < 0) {
		undelivered_put(u, stream->place, -r);
		return;
	}
	if (lstat(to, &st) < 0 && errno == ENOENT && rename(stream->run, to) == 0)
		return;
	r = file_copy(stream->run, to, O_TRUNC);
	if (r == 0)
		unlink(stream->run);
	else
		undelivered_put(u, to, -r);
}

void deliver(struct spec *s, int status, const char *notice, struct undelivered ret[2])
{
	int fd;

	umask(s->umask);
	if ((chdir(s->home) < 0 && chdir("/") < 0) || spec_settle(s) < 0)
		return;
	fd = notice ? open(s->err.run ? s->err.run : s->out.run,
			   O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
		    : -1;
	if (fd >= 0) {
		dprintf(fd, "=>> PBS: job killed: %s\n", notice);
		close(fd);
	}
	stream_deliver(s, &s->out, ".OU", status, &ret[0]);
	stream_deliver(s, &s->err, ".ER", status, &ret[1]);
}
