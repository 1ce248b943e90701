/* SPDX-License-Identifier: Apache-2.0
 *
 * file.c - whole small files: read, and replace so that a crash leaves the old or the new one. Who could have written one?
 */
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/err.h"
#include "util/text.h"
#include "wire/buf.h"

#define PARENT_MODE 0755
#define READ_BYTES 4096u

int fd_write(int fd, const void *bytes, size_t len, size_t *ret_written)
{
	const char *at = bytes;

	for (*ret_written = 0; *ret_written < len;) {
		ssize_t n = write(fd, at + *ret_written, len - *ret_written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		*ret_written += (size_t)n;
	}
	return 0;
}

int fd_write_all(int fd, const void *bytes, size_t len)
{
	size_t written;

	return fd_write(fd, bytes, len, &written);
}

int file_write_durable(const char *path, const void *bytes, size_t len, mode_t mode)
{
	char *temporary = text_format("%s.XXXXXX", path), *dir = strdup(path);
	int fd = temporary == NULL || dir == NULL ? -1 : mkostemp(temporary, O_CLOEXEC);
	int ret = fd < 0 ? -errno : fd_write_all(fd, bytes, len);

	if (ret == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
		ret = -errno;
	if (fd >= 0 && close(fd) < 0 && ret == 0)
		ret = -errno;
	if (ret == 0 && rename(temporary, path) < 0)
		ret = -errno;
	if (ret < 0 && fd >= 0)
		unlink(temporary);
	if (ret == 0) { /* the name is to be durable, too */
		fd = open(dirname(dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ret = fd < 0 || fsync(fd) < 0 ? -errno : 0;
		if (fd >= 0)
			close(fd);
	}
	free(temporary);
	free(dir);
	return ret;
}

static int fd_read(int fd, size_t max, struct buf *b)
{
	char *room;

	while ((room = buf_room(b, READ_BYTES)) != NULL) {
		ssize_t n = read(fd, room, READ_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		b->len += (size_t)n;
		if (b->len > max)
			return -EFBIG;
	}
	return -ENOMEM;
}

int file_read(const char *path, size_t max, char **ret_bytes, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;
	struct buf b = { 0 };
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		ret = -errno;
	else if (S_ISFIFO(st.st_mode)) /* a read could block for ever */
		ret = -ENOTSUP;
	else
		ret = fd_read(fd, max, &b);
	close(fd);
	if (ret == 0)
		*ret_bytes = buf_take(&b, ret_len);
	buf_fini(&b);
	return ret;
}

static int dir_one(const char *path, mode_t mode)
{
	struct stat st;
	int failure;

	if (mkdir(path, mode & 0777) == 0)
		return chmod(path, mode) < 0 ? -errno : 0;
	failure = -errno;
	if (stat(path, &st) < 0)
		return failure;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int dir_make(const char *path, mode_t mode)
{
	char *copy = strdup(path), *slash;
	int ret = 0;

	if (copy == NULL)
		return -ENOMEM;
	for (slash = strchr(copy + 1, '/'); ret == 0 && slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ret = dir_one(copy, PARENT_MODE);
		*slash = '/';
	}
	if (ret == 0)
		ret = dir_one(copy, mode);
	free(copy);
	return ret;
}

/* ---- which users could have written this file? -------------------------------------------------
 * It, and every directory above it, belongs to root or to this daemon's user, and no other user may write there. In a sticky
 * directory above it, like /tmp, users cannot rename files of others. */
static int guard_one(const char *path, bool above, struct keel_err *err)
{
	const uid_t own = geteuid();
	struct stat st;
	mode_t others = S_IWOTH;

	if (stat(path, &st) < 0)
		return err_set(err, -errno, "cannot look at %s: %s", path, strerror(errno));
	if (own == 0 || st.st_gid != getegid()) /* users have groups of their own */
		others |= S_IWGRP;
	if (st.st_uid != 0 && st.st_uid != own)
		return err_set(err, -EPERM, "%s belongs to another user (%u, mode %04o); `chown %u %s`", path, st.st_uid,
			       st.st_mode & 07777, own, path);
	if (st.st_mode & others && !(above && S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX))
		return err_set(err, -EPERM, "%s may be written by others (mode %04o); `chmod go-w %s`", path, st.st_mode & 07777, path);
	return 0;
}

/* `far`: also above its directory. */
static int guard_all(const char *path, bool far, struct keel_err *err)
{
	char *real = realpath(path, NULL), *at = real;
	int ret;

	if (real == NULL)
		return err_set(err, -errno, "cannot look at %s: %s", path, strerror(errno));
	ret = guard_one(real, false, err);
	for (bool more = true; ret == 0 && more && strcmp(at, "/") != 0; more = far) {
		at = dirname(at);
		ret = guard_one(at, true, err);
	}
	free(real);
	return ret;
}

int file_guard(const char *path, struct keel_err *err)
{
	return access(path, F_OK) < 0 && errno == ENOENT ? 0 : guard_all(path, geteuid() == 0, err);
}

int file_trust(const char *path, struct keel_err *err)
{
	struct keel_err why = { 0 };
	int ret;

	if (geteuid() != 0)
		return 0;
	if (access(path, F_OK) < 0)
		return err_set(err, -errno, "cannot read module file %s: %s", path, strerror(errno));
	ret = guard_all(path, true, &why);
	return ret == 0 ? 0 : err_set(err, ret, "%s is not trusted: %s, for root runs only what root alone can write", path, why.text);
}
