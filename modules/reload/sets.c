/* SPDX-License-Identifier: Apache-2.0
 *
 * sets.c - sets on disk, in server_priv/sets (mom_priv/sets of a mom), 0700:
 *
 *	NUMBER/conf/       the text of the configuration, and `overrides`, a line each
 *	NUMBER/modules/    a private copy of each module's file
 *	served             a link to the last one that served
 *
 * What is written is on the disk before it is used: a set that served is there after a power failure.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "keel/file.h"
#include "reload.h"

#define TEXT_BYTES ((size_t)4 << 20)
#define BLOCK ((size_t)64 << 10)

static int32_t KEEL_PRINTF(3, 4) fails(struct keel_err *err, int32_t ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return ret;
}

char *set_path(const char *set, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", set, name) < 0 ? NULL : path;
}

/* ---- files -------------------------------------------------------------------------------------------------- */
static int32_t write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int32_t sync_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int32_t ret = fd < 0 || fsync(fd) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return ret;
}

int32_t text_write(const char *dir, const char *name, const char *text, bool durable)
{
	char *path = set_path(dir, name);
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	int32_t ret = !path ? -ENOMEM : fd < 0 ? -errno : write_all(fd, text, strlen(text));

	if (ret == 0 && durable && fsync(fd) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	free(path);
	return ret;
}

char *text_read(const char *dir, const char *name)
{
	char *path = set_path(dir, name), *text = path ? keel_file_text(path, TEXT_BYTES) : NULL;

	free(path);
	return text;
}

/* The bytes of `in` to the file `to`, with the time of `st`. */
static int32_t bytes_copy(int in, const char *to, mode_t mode, const struct stat *st)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st->st_mtim };
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	char *block = malloc(BLOCK);
	int32_t ret = out < 0 ? -errno : !block ? -ENOMEM : 0;
	ssize_t n = 1;

	while (ret == 0 && n > 0) {
		n = read(in, block, BLOCK);
		ret = n < 0 ? -errno : write_all(out, block, (size_t)n);
	}
	if (ret == 0 && (futimens(out, times) < 0 || fsync(out) < 0))
		ret = -errno;
	if (out >= 0)
		close(out);
	free(block);
	return ret;
}

/* -ENOENT: there is none; -EINVAL: it is no file. */
static int32_t file_copy(const char *from, const char *to, mode_t mode)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int32_t ret = in < 0 || fstat(in, &st) < 0 ? -errno : !S_ISREG(st.st_mode) ? -EINVAL : bytes_copy(in, to, mode, &st);

	if (in >= 0)
		close(in);
	return ret;
}

/* ---- the configuration ---------------------------------------------------------------------------------------- */
static int is_conf(const struct dirent *e)
{
	size_t len = strlen(e->d_name);

	return e->d_name[0] != '.' && len > 5 && strcmp(e->d_name + len - 5, ".conf") == 0;
}

static int32_t one_copy(const char *from_dir, const char *name, const char *to_dir, const char *to_name, struct keel_err *err)
{
	char *from = set_path(from_dir, name), *to = set_path(to_dir, to_name);
	int32_t ret = from && to ? file_copy(from, to, 0600) : -ENOMEM;

	if (ret < 0)
		fails(err, ret, "cannot %s the configuration file %s/%s: %s", from && (ret == -EINVAL || access(from, R_OK) < 0) ? "read" : "copy",
		      from_dir, name, ret == -EINVAL ? "it is no file" : strerror(-ret));
	free(from);
	free(to);
	return ret;
}

/* Each *.conf of a directory, which may be missing. */
static int32_t dir_copy(const char *from, const char *to, struct keel_err *err)
{
	struct dirent **names;
	int n = scandir(from, &names, is_conf, alphasort);
	int32_t ret = n < 0 && errno != ENOENT ? fails(err, -errno, "cannot read the directory %s: %s", from, strerror(errno)) : 0;

	for (int i = 0; i < n; i++) {
		if (ret == 0)
			ret = one_copy(from, names[i]->d_name, to, names[i]->d_name, err);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return ret == 0 ? sync_dir(to) : ret;
}

int32_t set_configure(const char *set, const char *conf_file, const char *from, struct keel_err *err)
{
	const char *slash = conf_file ? strrchr(conf_file, '/') : NULL;
	char *dir = conf_file ? strndup(slash ? conf_file : ".", slash ? (size_t)(slash - conf_file) : 1) : set_path(from, "conf");
	char *modules = dir ? set_path(dir, "modules.d") : NULL;
	char *to = set_path(set, "conf"), *to_modules = set_path(set, "conf/modules.d");
	int32_t ret = !modules || !to || !to_modules ? fails(err, -ENOMEM, "no memory") : 0;

	if (ret == 0 && (mkdir(to, 0700) < 0 || mkdir(to_modules, 0700) < 0))
		ret = fails(err, -errno, "cannot make the directory %s: %s", to, strerror(errno));
	if (ret == 0)
		ret = one_copy(dir, slash ? slash + 1 : conf_file ? conf_file : "keelson.conf", to, "keelson.conf", err);
	if (ret == 0)
		ret = dir_copy(modules, to_modules, err);
	if (ret == 0)
		ret = sync_dir(to);
	free(dir);
	free(modules);
	free(to);
	free(to_modules);
	return ret;
}

/* In the place of an older one of that module. */
int32_t set_override(const char *set, const char *from, const char *module, bool enabled, struct keel_err *err)
{
	char *old = from ? text_read(from, "conf/overrides") : NULL;
	size_t len = strlen(module);
	struct keel_text text;
	int32_t ret;

	keel_text_init(&text);
	for (char *at = old, *line; (line = strsep(&at, "\n"));)
		if (*line && (strncmp(line, module, len) != 0 || line[len] != '.'))
			keel_text_printf(&text, "%s\n", line);
	keel_text_printf(&text, "%s.enabled=%s\n", module, enabled ? "true" : "false");
	ret = text.failed ? -ENOMEM : text_write(set, "conf/overrides", text.data, true);
	keel_text_fini(&text);
	free(old);
	return ret == 0 ? 0 : fails(err, ret, "cannot write into %s: %s", set, strerror(-ret));
}

/* They are exchanged in one step: a set has a whole configuration whenever the daemon is killed. */
int32_t set_conf_take(const char *set, const char *fresh)
{
	char *conf = set_path(set, "conf"), *other = set_path(fresh, "conf");
	int32_t ret = !conf || !other ? -ENOMEM : renameat2(AT_FDCWD, other, AT_FDCWD, conf, RENAME_EXCHANGE) < 0 ? -errno : 0;

	if (ret == 0)
		ret = sync_dir(set);
	if (ret == 0)
		ret = sync_dir(fresh);
	free(conf);
	free(other);
	return ret;
}

/* ---- files of modules ------------------------------------------------------------------------------------------- */
/* From its place, if the daemon may run it, else from the set `from` when it is gone. One that can be used from neither is
 * missed when the set is opened. */
static int32_t module_copy(const char *set, const char *from, const struct keel_draft_module *m, struct keel_err *err)
{
	char *name, *to, *old;
	struct keel_err why;
	int32_t ret = 0;

	if (asprintf(&name, "modules/%s.so", m->name) < 0)
		return fails(err, -ENOMEM, "no memory");
	to = set_path(set, name);
	old = from ? set_path(from, name) : NULL;
	if (!to || (from && !old))
		ret = -ENOMEM;
	else if (access(m->path, F_OK) == 0)
		ret = keel_renew_trust(m->path, &why) == 0 ? file_copy(m->path, to, 0500) : 0;
	else if (old)
		ret = file_copy(old, to, 0500);
	if (ret == -ENOENT || ret == -EINVAL || ret == -EACCES)
		ret = 0;
	if (ret < 0)
		fails(err, ret, "cannot copy module file %s to %s: %s", m->path, to ? to : set, strerror(-ret));
	free(name);
	free(to);
	free(old);
	return ret;
}

/* Twice of what is copied has to be free: the disk of a daemon must not be full, and be it for a moment. */
static int32_t room_lint(const char *set, const struct keel_draft *draft, struct keel_err *err)
{
	struct statvfs fs;
	struct stat st;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < draft->n; i++)
		if (draft->modules[i].flags & KEEL_DRAFT_ENABLED && stat(draft->modules[i].path, &st) == 0)
			bytes += (uint64_t)st.st_size;
	if (statvfs(set, &fs) < 0 || (uint64_t)fs.f_bavail * fs.f_frsize >= 2 * bytes)
		return 0;
	return fails(err, -ENOSPC, "no room in %s for the files of modules, %llu MB: twice of it has to be free", set,
		     (unsigned long long)(bytes >> 20) + 1);
}

int32_t set_modules(const char *set, const char *from, const struct keel_draft *draft, struct keel_err *err)
{
	char *dir = set_path(set, "modules");
	int32_t ret = dir ? room_lint(set, draft, err) : fails(err, -ENOMEM, "no memory");

	for (uint32_t i = 0; i < draft->n && ret == 0; i++)
		if (draft->modules[i].flags & KEEL_DRAFT_ENABLED)
			ret = module_copy(set, from, &draft->modules[i], err);
	if (ret == 0 && (sync_dir(dir) < 0 || sync_dir(set) < 0))
		ret = fails(err, -EIO, "cannot write %s to the disk", set);
	free(dir);
	return ret;
}

/* ---- all of them ---------------------------------------------------------------------------------------------- */
int32_t set_create(const char *sets, char **ret_set, struct keel_err *err)
{
	int32_t ret = mkdir(sets, 0700) < 0 && errno != EEXIST ? -errno : -EEXIST;
	char *set = NULL, *modules;

	for (unsigned n = 1; ret == -EEXIST; n++) {
		free(set);
		ret = asprintf(&set, "%s/%u", sets, n) < 0 ? -ENOMEM : mkdir(set, 0700) < 0 ? -errno : 0;
		set = ret == -ENOMEM ? NULL : set;
	}
	modules = ret == 0 ? set_path(set, "modules") : NULL;
	if (ret == 0 && (!modules || mkdir(modules, 0700) < 0))
		ret = modules ? -errno : -ENOMEM;
	free(modules);
	if (ret < 0) {
		free(set);
		return fails(err, ret, "cannot make a directory in %s: %s", sets, strerror(-ret));
	}
	*ret_set = set;
	return 0;
}

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void set_remove(const char *set)
{
	nftw(set, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static void others_remove(const char *sets, const char *keep)
{
	DIR *d = opendir(sets);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path = e->d_name[0] >= '0' && e->d_name[0] <= '9' && strcmp(e->d_name, keep) != 0 ? set_path(sets, e->d_name) : NULL;

		if (path)
			set_remove(path);
		free(path);
	}
	if (d)
		closedir(d);
}

int32_t set_served(const char *sets, const char *set)
{
	const char *name = strrchr(set, '/') + 1;
	char *link = set_path(sets, "served"), *fresh = set_path(sets, "served.new");
	int32_t ret = link && fresh ? 0 : -ENOMEM;

	if (ret == 0) {
		unlink(fresh);
		if (symlink(name, fresh) < 0 || rename(fresh, link) < 0 || sync_dir(sets) < 0)
			ret = -errno;
	}
	free(link);
	free(fresh);
	if (ret == 0)
		others_remove(sets, name);
	return ret;
}

void sets_tidy(const char *sets)
{
	char *link = set_path(sets, "served"), name[32] = "";

	if (link && readlink(link, name, sizeof(name) - 1) >= 0)
		others_remove(sets, name);
	free(link);
}
