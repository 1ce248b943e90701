/* SPDX-License-Identifier: Apache-2.0
 *
 * trust.c - which users could have written this file?
 *
 * A daemon of root loads only code, and of configurations that it found itself only those, that no user but root and
 * its own could write: the file and every directory above it belong to one of the two, and no other user may
 * write there. A sticky directory like /tmp, where users cannot rename files of others, is accepted.
 */
#include "util/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/err.h"

static const char *objection(const struct stat *st)
{
	bool open = (st->st_mode & (S_IWGRP | S_IWOTH)) != 0;

	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "belongs to another user";
	if (open && !(S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX)))
		return "may be written by others";
	return NULL;
}

static int check_one(const char *module, const char *path, struct keel_err *err)
{
	struct stat st;
	const char *no;

	if (stat(path, &st) < 0)
		return err_set(err, -errno, "cannot look at %s: %s", path, strerror(errno));
	no = objection(&st);
	if (no != NULL)
		return err_set(err, -EPERM,
			       "module file %s is not trusted: %s %s; root runs only what root alone "
			       "can write (chown root, chmod go-w)",
			       module, path, no);
	return 0;
}

/* The file, then each directory above it. `path` is cut short on the way. */
static int check_up(const char *module, char *path, struct keel_err *err)
{
	char *slash;
	int ret = check_one(module, path, err);

	while (ret == 0 && (slash = strrchr(path, '/')) != NULL && slash != path) {
		*slash = '\0';
		ret = check_one(module, path, err);
	}
	return ret == 0 ? check_one(module, "/", err) : ret;
}

int file_trust(const char *path, struct keel_err *err)
{
	char *real;
	int ret;

	if (geteuid() != 0)
		return 0;
	real = realpath(path, NULL);
	if (real == NULL)
		return err_set(err, -errno, "cannot read module file %s: %s", path,
			       strerror(errno));
	ret = check_up(path, real, err);
	free(real);
	return ret;
}
