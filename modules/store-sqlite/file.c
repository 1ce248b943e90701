/* SPDX-License-Identifier: Apache-2.0
 *
 * file.c - the path of the database; no other user can read or replace it, and only one daemon uses it.
 *
 * The lock is a flock() on <file>.lock: it ends with the process, whatever the cause. Functions return 0, or a negative
 * errno with err.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state.h"

#define PATH_ROOM 4096
#define DEFAULT_FILE "server_priv/keelson.db"

static int32_t directory_check(const char *path, struct keel_err *err)
{
	const char *slash = strrchr(path, '/');
	char dir[4096];
	struct stat sb;

	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	if (mkdir(dir, 0750) < 0 && errno != EEXIST)
		return fail(err, -errno, "cannot create the directory %s: %s", dir,
			    strerror(errno));
	if (stat(dir, &sb) < 0)
		return fail(err, -errno, "cannot look at the directory %s: %s", dir,
			    strerror(errno));
	if (!S_ISDIR(sb.st_mode))
		return fail(err, -ENOTDIR, "%s is no directory; the database belongs into one",
			    dir);
	if (sb.st_uid != geteuid() && sb.st_uid != 0)
		return fail(err, -EPERM, "the directory %s belongs to user %u, not to the daemon's "
			    "(%u); change its owner", dir, (unsigned)sb.st_uid,
			    (unsigned)geteuid());
	if (sb.st_mode & (S_IWGRP | S_IWOTH))
		return fail(err, -EPERM, "others may write to the directory %s; take that right "
			    "away (chmod go-w)", dir);
	return 0;
}

/* Creates the file if missing; SQLite creates -wal and -shm with its mode. */
static int32_t file_check(const char *path, struct keel_err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat sb;
	int32_t rc = 0;

	if (fd < 0)
		return fail(err, -errno, "cannot open the database %s: %s", path, strerror(errno));
	if (fstat(fd, &sb) < 0 || !S_ISREG(sb.st_mode))
		rc = fail(err, -EINVAL, "%s is no ordinary file", path);
	close(fd);
	return rc;
}

static const char *name_of(const struct state *st, const char *end, char path[PATH_ROOM])
{
	snprintf(path, PATH_ROOM, "%s%s", st->path, end);
	return path;
}

int32_t file_close_to_others(const struct state *st, struct keel_err *err)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	char path[PATH_ROOM];

	for (size_t i = 0; i < KEEL_COUNT(ends); i++)
		if (chmod(name_of(st, ends[i], path), 0600) < 0 && errno != ENOENT)
			return fail(err, -errno, "others may read %s and that cannot be changed: %s", path,
				    strerror(errno));
	return 0;
}

/* ---- is it still the same file? ----------------------------------------------------------------- */
static const char *const kept_ends[FILES_KEPT] = { "", "-wal" };

int32_t file_remember(struct state *st, struct keel_err *err)
{
	char path[PATH_ROOM];
	struct stat sb;

	for (int i = 0; i < FILES_KEPT; i++) {
		if (stat(name_of(st, kept_ends[i], path), &sb) < 0)
			return fail(err, -errno, "cannot look at %s: %s", path, strerror(errno));
		st->kept[i] = (struct kept_file){ sb.st_dev, sb.st_ino };
	}
	return 0;
}

int32_t file_is_there(const struct state *st, struct keel_err *err)
{
	char path[PATH_ROOM];
	struct stat sb;

	for (int i = 0; i < FILES_KEPT; i++) {
		if (stat(name_of(st, kept_ends[i], path), &sb) == 0 && sb.st_dev == st->kept[i].dev &&
		    sb.st_ino == st->kept[i].ino)
			continue;
		return fail(err, -ESTALE, "%s was deleted, moved or replaced while the daemon uses it; put it back "
			    "(what is deleted can be copied from /proc/%ld/fd while the daemon runs)", path, (long)getpid());
	}
	return 0;
}

static int32_t lock(struct state *st, struct keel_err *err)
{
	char path[4096], text[32], holder[32] = "";
	int fd, len;

	snprintf(path, sizeof(path), "%s.lock", st->path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fail(err, -errno, "cannot open the lock file %s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		int32_t rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
		long pid = pread(fd, holder, sizeof(holder) - 1, 0) > 0 ? strtol(holder, NULL, 10) : 0;

		close(fd);
		return fail(err, rc, "the database %s is in use by another daemon (process %ld); "
			    "stop that one first", st->path, pid);
	}
	len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)len, 0) != len) {
		close(fd);
		return fail(err, -EIO, "cannot write the lock file %s: %s", path, strerror(errno));
	}
	st->lock_fd = fd;
	return 0;
}

static int32_t path_make(struct state *st, const char *home, const char *file,
			 struct keel_err *err)
{
	if (!file || !*file)
		file = DEFAULT_FILE;
	if (asprintf(&st->path, "%s%s%s", *file == '/' ? "" : home, *file == '/' ? "" : "/",
		     file) < 0) {
		st->path = NULL;
		return fail(err, -ENOMEM, "no memory for the name of the database");
	}
	if (strlen(st->path) < 4000)
		return 0;
	free(st->path);
	st->path = NULL;
	return fail(err, -ENAMETOOLONG, "the name of the database is too long");
}

int32_t file_take(struct state *st, const char *home, const char *file, struct keel_err *err)
{
	int32_t rc = path_make(st, home, file, err);

	if (rc < 0)
		return rc;
	rc = directory_check(st->path, err);
	if (rc == 0)
		rc = lock(st, err);
	if (rc < 0) {
		free(st->path);
		st->path = NULL;
		return rc;
	}
	rc = file_check(st->path, err);
	if (rc < 0)
		file_release(st);
	return rc;
}

void file_release(struct state *st)
{
	if (!st->path)
		return;
	close(st->lock_fd);
	free(st->path);
	st->path = NULL;
}
