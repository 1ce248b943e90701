/* SPDX-License-Identifier: Apache-2.0
 *
 * folder.c - the temporary folder of a process: PBS_HOME/hooks_tmp/<daemon>.<number>, of its user alone, with the configuration of
 * its hook. server_priv is closed to that user, so it is not below there.
 *
 * Made and removed by workers: users may be looked up over a network, and scripts leave what they want. What is removed is the
 * user's, who may still be there: no link is followed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pool.h"

#define DEPTH_MAX 64 /* of folders at a time */
#define PASSES_MAX 1000

struct folder {
	struct folder *prev, *next;
	struct state *st;
	struct process *process; /* NULL: it is to be removed when it is made */
	bool is_made, is_root;
	char *path, *config_path, *user, *config;
	uint32_t config_len;
	char error[256];
};

const char *folder_path(const struct folder *f)
{
	return f->path;
}

const char *folder_user(const struct folder *f)
{
	return f->user;
}

const char *folder_config(const struct folder *f)
{
	return f->config_path;
}

static void folder_free(struct folder *f)
{
	free(f->path);
	free(f->config_path);
	free(f->user);
	free(f->config);
	free(f);
}

/* ---- removing: a worker ----------------------------------------------------------------------------- */
/* What is deeper than DEPTH_MAX goes to the top, for another pass. */
struct sweep {
	int top;
	uint32_t moved, before; /* in this pass, and in those before */
};

static void empty(struct sweep *sweep, int fd, int depth);

/* -1: it is no folder. One that its owner locked is opened where that is the daemon's own user; root needs no such thing. */
static int dir_open(int dir, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	bool is_owner = geteuid() != 0;
	int fd = openat(dir, name, flags);

	if (fd < 0 && errno == EACCES && is_owner && fchmodat(dir, name, 0700, 0) == 0)
		fd = openat(dir, name, flags);
	if (fd >= 0 && is_owner)
		(void)!fchmod(fd, 0700);
	return fd;
}

static void entry_remove(struct sweep *sweep, int dir, const char *name, int depth)
{
	char at_top[32];
	int below;

	if (unlinkat(dir, name, 0) == 0)
		return;
	below = dir_open(dir, name);
	if (below >= 0 && depth > 0)
		empty(sweep, below, depth - 1);
	else if (below >= 0)
		close(below);
	if (below < 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0 || depth > 0)
		return;
	snprintf(at_top, sizeof(at_top), "deep.%u", sweep->before + sweep->moved);
	/* A name that a script has taken is free in the next pass. */
	sweep->moved += renameat(dir, name, sweep->top, at_top) == 0 || errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR;
}

static void empty(struct sweep *sweep, int fd, int depth)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		close(fd);
		return;
	}
	while ((e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			entry_remove(sweep, dirfd(dir), e->d_name, depth);
	closedir(dir);
}

static void path_remove(const char *path)
{
	struct sweep sweep = { .top = dir_open(AT_FDCWD, path), .moved = 1 };

	for (int pass = 0; sweep.top >= 0 && sweep.moved > 0 && pass < PASSES_MAX; pass++) {
		sweep.before += sweep.moved;
		sweep.moved = 0;
		empty(&sweep, openat(sweep.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), DEPTH_MAX);
	}
	if (sweep.top >= 0)
		close(sweep.top);
	if (rmdir(path) < 0 && errno == ENOTDIR)
		unlink(path);
}

static void remove_work(void *arg)
{
	path_remove(((struct folder *)arg)->path);
}

static void removed(struct keel_mod *mod, void *arg)
{
	(void)mod;
	folder_free(arg);
}

/* It is in no list any more. */
static void remove_soon(struct state *st, struct folder *f)
{
	if (keel_work(st->mod, remove_work, removed, f) == 0)
		return;
	path_remove(f->path);
	folder_free(f);
}

void folder_remove(struct folder *f)
{
	if (!f)
		return;
	f->process = NULL;
	if (!f->is_made)
		return;
	DL_DELETE(f->st->pools->folders, f);
	remove_soon(f->st, f);
}

/* ---- making: a worker ------------------------------------------------------------------------------- */
static int32_t failed(struct folder *f, const char *what, int error)
{
	snprintf(f->error, sizeof(f->error), "%s %s: %s", what, f->path, strerror(error));
	return -error;
}

/* Where there is no such user it is that of the user nobody, as the process will be. */
static int32_t owner_find(struct folder *f, uid_t *ret_uid, gid_t *ret_gid)
{
	char room[16384], *user;
	struct passwd p, *found = NULL;

	if (getpwnam_r(f->user, &p, room, sizeof(room), &found) != 0 || !found) {
		user = strdup("nobody");
		free(f->user);
		f->user = user;
		if (user)
			getpwnam_r(user, &p, room, sizeof(room), &found);
	}
	if (!found)
		return failed(f, "there is no user for", ENOENT);
	*ret_uid = p.pw_uid;
	*ret_gid = p.pw_gid;
	return 0;
}

static int32_t config_write(struct folder *f, uid_t uid, gid_t gid)
{
	int fd = open(f->config_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	int error;

	if (fd < 0)
		return failed(f, "cannot write the configuration into", errno);
	error = bytes_write(fd, f->config, f->config_len);
	if (!error && f->is_root && fchown(fd, uid, gid) < 0)
		error = errno;
	if (error)
		failed(f, "cannot write the configuration into", error);
	close(fd);
	return f->error[0] ? -EIO : 0;
}

/* It becomes the user's at the end. */
static void make_work(void *arg)
{
	struct folder *f = arg;
	uid_t uid = 0;
	gid_t gid = 0;

	if (f->is_root && owner_find(f, &uid, &gid) < 0)
		return;
	path_remove(f->path);
	if (mkdir(f->path, 0700) < 0)
		failed(f, "cannot make", errno);
	else if ((!f->config_path || config_write(f, uid, gid) == 0) && f->is_root && lchown(f->path, uid, gid) < 0)
		failed(f, "cannot give away", errno);
}

static void made(struct keel_mod *mod, void *arg)
{
	struct folder *f = arg;
	struct state *st = mod->state;

	f->is_made = true;
	free(f->config);
	f->config = NULL;
	if (f->process) {
		process_prepared(f->process, f->error[0] ? f->error : NULL);
		return;
	}
	if (st->pools)
		DL_DELETE(st->pools->folders, f);
	remove_soon(st, f);
}

static bool config_keep(struct folder *f, const struct hook *h)
{
	if (!h->config)
		return true;
	f->config = malloc(h->config_len > 0 ? h->config_len : 1);
	if (!f->config || asprintf(&f->config_path, "%s/%s.CF%s", f->path, h->name, h->suffix ? h->suffix : "") < 0) {
		f->config_path = NULL;
		return false;
	}
	memcpy(f->config, h->config, h->config_len);
	f->config_len = h->config_len;
	return true;
}

struct folder *folder_make(struct process *p)
{
	struct state *st = p->pool->st;
	const struct conf *conf = st->mod->conf;
	struct folder *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct folder){ .st = st, .process = p, .is_root = geteuid() == 0 && (!p->of_mom || p->user[0]),
			      .user = strdup(p->user[0] ? p->user : conf->user) };
	if (asprintf(&f->path, "%s/%s.%lld", st->pools->dir, p->of_mom ? "mom" : "server", (long long)++st->pools->number) < 0)
		f->path = NULL;
	if (f->path && f->user && config_keep(f, p->pool->hook) && keel_work(st->mod, make_work, made, f) == 0) {
		DL_APPEND(st->pools->folders, f);
		return f;
	}
	folder_free(f);
	return NULL;
}

/* ---- start and end of the daemon ---------------------------------------------------------------------- */
static void sweep_one(struct state *st, const char *name)
{
	struct folder *f = calloc(1, sizeof(*f));

	if (f)
		*f = (struct folder){ .st = st, .is_made = true };
	if (!f || asprintf(&f->path, "%s/%s", st->pools->dir, name) < 0) {
		free(f);
		return;
	}
	remove_soon(st, f);
}

static bool is_ours(const struct state *st, const char *name)
{
	return (keel_daemon(st->mod) & KEEL_SERVER && strncmp(name, "server.", 7) == 0) ||
	       (keel_daemon(st->mod) & KEEL_MOM && strncmp(name, "mom.", 4) == 0);
}

int32_t folders_start(struct state *st, struct keel_err *err)
{
	const struct dirent *e;
	DIR *dir;

	if (asprintf(&st->pools->dir, "%s/hooks_tmp", keel_home(st->mod)) < 0) {
		st->pools->dir = NULL;
		return keel_error(err, -ENOMEM, "no memory");
	}
	if (mkdir(st->pools->dir, 0711) == 0)
		(void)!chmod(st->pools->dir, 0711); /* whatever the umask. What fails is said where a folder is made */
	dir = opendir(st->pools->dir);
	while (dir && (e = readdir(dir)) != NULL)
		if (is_ours(st, e->d_name))
			sweep_one(st, e->d_name);
	if (dir)
		closedir(dir);
	return 0;
}

void folders_stop(struct state *st)
{
	struct folder *f, *next;

	DL_FOREACH_SAFE(st->pools->folders, f, next) { /* what is being made: made() removes it */
		DL_DELETE(st->pools->folders, f);
		f->process = NULL;
	}
	free(st->pools->dir);
	st->pools->dir = NULL;
}
