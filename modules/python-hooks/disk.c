/* SPDX-License-Identifier: Apache-2.0
 *
 * disk.c - a mom's folder of hook files. Scripts run as root: a folder or a file that others may write is not used.
 */
#include "files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEING_WRITTEN ".new-"

int bytes_write(int fd, const void *bytes, uint32_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n == 0 || (n < 0 && errno != EINTR))
			return n == 0 ? ENOSPC : errno;
		at += n > 0 ? n : 0;
		len -= n > 0 ? (uint32_t)n : 0;
	}
	return 0;
}

int file_write(int folder, const char *name, const char *bytes, uint32_t len)
{
	char beside[HOOKFILE_NAME + sizeof(BEING_WRITTEN)];
	int fd, error;

	if (!bytes)
		return unlinkat(folder, name, 0) == 0 || errno == ENOENT ? 0 : errno;
	snprintf(beside, sizeof(beside), BEING_WRITTEN "%s", name);
	unlinkat(folder, beside, 0);
	fd = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	error = bytes_write(fd, bytes, len);
	if (!error && fsync(fd) < 0)
		error = errno;
	if (close(fd) < 0 && !error)
		error = errno;
	if (!error && renameat(folder, beside, folder, name) < 0)
		error = errno;
	if (error)
		unlinkat(folder, beside, 0);
	return error;
}

static bool is_trusted(struct state *st, const char *name, const struct stat *about)
{
	if (about->st_uid == geteuid() && !(about->st_mode & 022))
		return true;
	keel_log(st->mod, KEEL_LOG_ERROR, "Hook", name, "%s%s%s is not used: others than the daemon's user own it or may write it. Give it "
		 "to that user, mode 0600 (a folder 0700), and restart", st->files->path, *name ? "/" : "", name);
	return false;
}

int32_t folder_open(struct state *st, struct keel_err *err)
{
	struct files *f = st->files;
	struct stat about;

	f->folder = -1;
	snprintf(f->path, sizeof(f->path), "%s/" HOOK_FOLDER, keel_home(st->mod));
	if (mkdir(f->path, 0700) < 0 && errno != EEXIST)
		return keel_error(err, -errno, "%s cannot be made: %s", f->path, strerror(errno));
	f->folder = open(f->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (f->folder < 0 || fstat(f->folder, &about) < 0)
		return keel_error(err, -errno, "%s cannot be opened: %s", f->path, strerror(errno));
	if (is_trusted(st, "", &about))
		return 0;
	return keel_error(err, -EPERM, "%s: others than the daemon's user own it or may write it", f->path);
}

/* A file as a piece that has arrived. NULL: it cannot be read, the log has why. */
static struct piece *file_read(struct state *st, const char *name)
{
	int fd = openat(st->files->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct piece *p = NULL;
	struct stat about;
	ssize_t n = 0;

	if (fd < 0 || fstat(fd, &about) < 0 || !S_ISREG(about.st_mode) || about.st_size > HOOKFILE_MOST)
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", name, "%s/%s is not used: it is no file that can be read, or too long",
			 st->files->path, name);
	else if (is_trusted(st, name, &about))
		p = piece_begin(st->files, name, "-", about.st_size);
	while (p && p->have < p->len && (n = read(fd, p->bytes + p->have, p->len - p->have)) > 0)
		p->have += (uint32_t)n;
	if (fd >= 0)
		close(fd);
	if (!p)
		return NULL;
	DL_DELETE(st->files->arriving, p);
	if (p->have == p->len) {
		hookfile_version(p->bytes, p->len, p->version);
		return p;
	}
	keel_log(st->mod, KEEL_LOG_ERROR, "Hook", name, "%s/%s cannot be read: %s", st->files->path, name, n < 0 ? strerror(errno) : "it is "
		 "shorter than it was");
	piece_free(p);
	return NULL;
}

/* Refused ones stay away here: $reject_root_scripts is known already, or removes them when it is. */
struct piece *files_read(struct state *st)
{
	int fd = fcntl(st->files->folder, F_DUPFD_CLOEXEC, 3);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct piece *all = NULL, *p;
	struct dirent *entry;
	char hook[HOOKFILE_NAME];
	enum hookfile_kind kind;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, BEING_WRITTEN, strlen(BEING_WRITTEN)) == 0)
			unlinkat(st->files->folder, entry->d_name, 0);
		else if (hookfile_parse(entry->d_name, &kind, hook) && (p = file_read(st, entry->d_name)))
			DL_APPEND(all, p);
	}
	if (dir)
		closedir(dir);
	return all;
}
