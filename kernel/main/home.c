/* SPDX-License-Identifier: Apache-2.0
 *
 * home.c - PBS_HOME: its directories, and the locks that let one daemon of a role run in it.
 *
 * A lock is one of the open file: it is released when its process ends for whatever reason, so a stale file locks
 * nothing, and the next image of the daemon has it with the descriptor. Existing directories are not changed: an administrator may have chosen other modes. Modules make the
 * directories that only they use.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "main/inside.h"
#include "util/err.h"
#include "util/file.h"
#include "util/text.h"
#include "util/version.h"

/* path, mode, for which roles; a file that is written when it is missing has a text; OURS, beside roles: also when it says something else */
#define OURS (1u << 31)

static const struct row {
	const char *path;
	mode_t mode;
	uint32_t roles;
	const char *text;
} rows[] = {
	{ ".", 0755, KEEL_ANY, NULL },
	{ "run", 0755, KEEL_ANY, NULL },
	{ "spool", 01777, KEEL_ANY, NULL },
	{ "undelivered", 01777, KEEL_ANY, NULL },
	{ "aux", 0755, KEEL_MOM, NULL },
	{ "checkpoint", 0700, KEEL_MOM, NULL },
	{ "server_logs", 0755, KEEL_SERVER, NULL },
	{ "server_priv", 0750, KEEL_SERVER, NULL },
	{ "server_priv/hooks", 0750, KEEL_SERVER, NULL },
	{ "server_priv/users", 0750, KEEL_SERVER, NULL },
	{ "server_priv/peers", 0750, KEEL_SERVER, NULL },
	{ "sched_logs", 0755, KEEL_SERVER, NULL },
	{ "sched_priv", 0750, KEEL_SERVER, NULL },
	{ "datastore", 0700, KEEL_SERVER, NULL },
	{ "mom_logs", 0755, KEEL_MOM | KEEL_LOGIN, NULL },
	{ "mom_priv", 0751, KEEL_MOM | KEEL_LOGIN, NULL },
	{ "mom_priv/hooks", 0751, KEEL_MOM, NULL },
	{ "mom_priv/config.d", 0755, KEEL_MOM, NULL },
	{ "mom_priv/peers", 0750, KEEL_MOM | KEEL_LOGIN, NULL },
	{ "pbs_environment", 0644, KEEL_ANY, "PATH=/usr/local/bin:/usr/bin:/bin\nLANG=C\n" },
	{ "pbs_version", 0644, KEEL_ANY | OURS, KEELSON_VERSION_TEXT "\n" },
};

static bool says(const char *path, const char *text)
{
	char *found = NULL;
	size_t len;
	bool same = file_read(path, strlen(text), &found, &len) == 0 && strcmp(found, text) == 0;

	free(found);
	return same;
}

static int row_make(const char *home, const struct row *r, struct keel_err *err)
{
	char *whole = path_join(home, r->path);
	int ret = whole == NULL ? -ENOMEM : 0;

	if (ret == 0 && r->text == NULL)
		ret = dir_make(whole, r->mode);
	else if (ret == 0 && (r->roles & OURS ? !says(whole, r->text) : access(whole, F_OK) < 0))
		ret = file_write_durable(whole, r->text, strlen(r->text), r->mode);
	if (ret < 0)
		err_set(err, ret, "cannot make %s/%s: %s; check PBS_HOME (%s) and that this user may write there", home, r->path,
			strerror(-ret), home);
	free(whole);
	return ret;
}

int home_make(const char *home, uint32_t roles, struct keel_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < KEEL_COUNT(rows); i++)
		if (rows[i].roles & roles)
			ret = row_make(home, &rows[i], err);
	return ret;
}

/* What is a daemon's own. */
static const struct {
	uint32_t role;
	const char *name, *dir, *file;
} locked[] = {
	{ KEEL_SERVER, "server", "server_priv", "server.lock" },
	{ KEEL_MOM | KEEL_LOGIN, "mom or login daemon", "mom_priv", "mom.lock" },
};

int home_guard(const char *home, uint32_t roles, struct keel_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < KEEL_COUNT(locked); i++) {
		char *path = path_join(home, locked[i].dir);

		if (roles & locked[i].role)
			ret = path == NULL ? err_set(err, -ENOMEM, "no memory") : file_guard(path, err);
		free(path);
	}
	return ret;
}

static int lock_take(const char *path, const char *role, int *ret_fd, struct keel_err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644), ret = 0;
	char pid[24] = "?";

	if (fd < 0)
		return err_set(err, -errno, "cannot open the lock file %s: %s", path, strerror(errno));
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		ret = errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
		if (ret == -EBUSY && pread(fd, pid, sizeof(pid) - 1, 0) > 0)
			pid[strcspn(pid, "\n")] = '\0';
		if (ret == -EBUSY)
			err_set(err, ret, "a %s is already running here with pid %s (it holds %s); stop it first, "
				"or give this one a home of its own", role, pid, path);
		else
			err_set(err, ret, "cannot lock %s: %s", path, strerror(-ret));
	} else {
		snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
		ret = ftruncate(fd, 0) < 0 ? -errno : fd_write_all(fd, pid, strlen(pid));
		if (ret < 0)
			err_set(err, ret, "cannot write the pid into %s: %s", path, strerror(-ret));
	}
	if (ret < 0)
		close(fd);
	else
		*ret_fd = fd;
	return ret;
}

int home_lock(const char *home, uint32_t roles, struct handed *handed, struct handed *ret, struct keel_err *err)
{
	int rc = 0;

	*ret = (struct handed){ .n = 0 };
	for (size_t i = 0; rc == 0 && i < KEEL_COUNT(locked); i++) {
		char *path = text_format("%s/%s/%s", home, locked[i].dir, locked[i].file);
		int fd = -1;

		if (roles & locked[i].role && (fd = handed_use(handed, locked[i].file)) < 0)
			rc = path == NULL ? err_set(err, -ENOMEM, "no memory") : lock_take(path, locked[i].name, &fd, err);
		handed_add(ret, locked[i].file, fd);
		free(path);
	}
	if (rc < 0)
		handed_close(ret);
	return rc;
}
