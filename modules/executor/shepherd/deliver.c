/* SPDX-License-Identifier: Apache-2.0
 *
 * deliver.c - put the output of an ended task where its user wants it. Runs with the user's rights.
 *
 * A new name is a rename; what exists already keeps its place and is rewritten, as cp does. Output
 * that cannot be placed goes to the undelivered directory and is never lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shepherd.h"

#define RECORD_MAX (1024 * 1024)

char *notice_read(const struct spec *s)
{
	char path[PATH_MAX], *line = NULL, *found = NULL;
	size_t room = 0;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s.TK", s->jobs_dir, s->id) >= sizeof(path) ||
	    !(f = fopen(path, "re")))
		return NULL;
	while (getline(&line, &room, f) > 0)
		if (strncmp(line, "notice ", 7) == 0) {
			free(found);
			found = strdup(line + 7);
		}
	free(line);
	fclose(f);
	return found;
}

static void notice_write(const struct spec *s, const char *notice)
{
	const char *path = s->err.run ? s->err.run : s->out.run;
	int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	dprintf(fd, "=>> PBS: job killed: %s", notice);
	close(fd);
}

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

/* The output of a task. It may have made something else of it: that is none, and nobody waits for it. */
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

static int file_copy(const char *from, const char *to, int flags)
{
	int in = output_open(from);
	int out = in < 0 ? -1
			 : open(to, O_WRONLY | O_CREAT | O_NOCTTY | O_NONBLOCK | O_CLOEXEC | flags, 0666);
	int r = in < 0 || out < 0 ? -errno : 0;
	char buf[65536];
	ssize_t n = 0;

	if (out >= 0)
		fcntl(out, F_SETFL, 0);
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

static int file_place(const char *from, const char *to)
{
	struct stat st;
	int r;

	if (lstat(to, &st) < 0 && errno == ENOENT && rename(from, to) == 0)
		return 0;
	r = file_copy(from, to, O_TRUNC);
	if (r == 0)
		unlink(from);
	return r;
}

static void file_keep(const struct spec *s, const char *from, const char *suffix)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s%s", s->undelivered, s->id, suffix) >=
	    (int)sizeof(path) || rename(from, path) == 0)
		return;
	unlink(path); /* what a stranger has there stays, and is not followed */
	if (file_copy(from, path, O_EXCL | O_NOFOLLOW) == 0)
		unlink(from);
}

/* 0 placed, 1 not. */
static int stream_deliver(const struct spec *s, const struct spec_stream *stream, const char *suffix,
			  int status)
{
	char to[PATH_MAX];

	if (!stream->run)
		return 0;
	if (stream->remove && status == 0) {
		unlink(stream->run);
		return 0;
	}
	if (!stream->place)
		return stream->keep ? 0 : (file_keep(s, stream->run, suffix), 1);
	if (spec_path(s, stream->place, suffix, to) == 0 && file_place(stream->run, to) == 0)
		return 0;
	file_keep(s, stream->run, suffix);
	return 1;
}

int deliver(struct spec *s, int status, const char *notice)
{
	int missed;

	umask(s->umask);
	if ((chdir(s->home) < 0 && chdir("/") < 0) || spec_settle(s) < 0)
		return 3;
	if (notice)
		notice_write(s, notice);
	missed = stream_deliver(s, &s->out, ".OU", status) |
		 stream_deliver(s, &s->err, ".ER", status) << 1;
	if (s->tmpdir)
		tree_remove(s->tmpdir);
	if (s->sandbox)
		tree_remove(s->sandbox);
	return missed;
}
