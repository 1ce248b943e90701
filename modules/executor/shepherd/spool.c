/* SPDX-License-Identifier: Apache-2.0
 *
 * spool.c - names in folders where everybody may write: spool, undelivered, where TMPDIRs are.
 *
 * Another user may have created a file of any name that can be guessed. Such files are created under random names
 * and then renamed to the final one: in a sticky folder another user cannot replace it any more.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shepherd.h"

#define TRIES 16 /* bounds a race with a user who creates a directory of the name again and again */

/* path + "." + 16 digits. Malloc'ed. */
static char *unguessed(const char *path)
{
	uint64_t n = 0;
	char *name = NULL;

	if (getrandom(&n, sizeof(n), 0) != (ssize_t)sizeof(n) ||
	    asprintf(&name, "%s.%016llx", path, (unsigned long long)n) < 0)
		return NULL;
	return name;
}

int spool_move(const char *from, const char *to)
{
	for (int i = 0; i < TRIES; i++) {
		char *aside;

		if (rename(from, to) == 0)
			return 0;
		if (errno != EISDIR && errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
			return -errno;
		/* In one step, so that no name is taken between two; some file systems cannot. */
		if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0)
			return 0;
		aside = errno == EINVAL ? unguessed(to) : NULL;
		if (aside)
			(void)rename(to, aside); /* a stranger's directory, out of the way */
		free(aside);
	}
	return -EEXIST;
}

static int file_new(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0600);
}

/* Uses another name only if this one is taken: a process killed meanwhile leaves no file of an unknown name. */
int spool_create(const struct spec *s, const char *path)
{
	char *name = NULL;
	int fd = file_new(path), r;

	if (fd < 0 && errno == EEXIST && (name = unguessed(path)))
		fd = file_new(name);
	r = fd < 0 ? -errno : 0;

	if (r == 0 && ((s->drop && fchown(fd, s->uid, s->gid) < 0) || fchmod(fd, 0666 & ~s->umask) < 0))
		r = -errno;
	if (r == 0 && name)
		r = spool_move(name, path);
	if (r < 0 && fd >= 0) {
		unlink(name ? name : path);
		close(fd);
	}
	free(name);
	return r < 0 ? r : fd;
}

/* 0, or -errno: no directory of that name is the user's. */
static int directory_give(const struct spec *s, const char *path)
{
	int fd, r;

	if (mkdir(path, 0700) < 0)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = fd < 0 || (s->drop && fchown(fd, s->uid, s->gid) < 0) ? -errno : 0;
	if (fd >= 0)
		close(fd);
	return r;
}

void tmpdir_make(struct spec *s)
{
	char *name, *text;
	struct stat st;

	if (!s->tmpdir || directory_give(s, s->tmpdir) != -EEXIST ||
	    (lstat(s->tmpdir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == s->uid) ||
	    !(name = unguessed(s->tmpdir)))
		return;
	directory_give(s, name);
	s->tmpdir = name;
	for (size_t i = 0; i < s->n_env; i++)
		if (strncmp(s->env[i], "TMPDIR=", 7) == 0 && asprintf(&text, "TMPDIR=%s", name) >= 0)
			s->env[i] = text;
}
