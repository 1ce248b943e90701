/* SPDX-License-Identifier: Apache-2.0
 *
 * space.c - what is left of the file systems that the server writes to. On a worker thread: a file system may hang.
 */
#include "health.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "keel/file.h"

const char *const space_names[SPACES] = { [SPACE_STORE] = "store", [SPACE_SPOOL] = "spool", [SPACE_LOGS] = "logs" };

void space_name(struct keel_mod *mod, struct space *s)
{
	static const char *const folders[SPACES] = { "server_priv", "spool", "server_logs" };

	for (int i = 0; i < SPACES; i++)
		keel_file_path(mod, folders[i], s->at[i].path, sizeof(s->at[i].path));
}

/* Returns the bytes of the files of a folder, without those of folders in it. */
static uint64_t files_bytes(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	struct stat about;
	uint64_t bytes = 0;

	while (dir && (e = readdir(dir)) != NULL)
		if (fstatat(dirfd(dir), e->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode))
			bytes += (uint64_t)about.st_size;
	if (dir)
		closedir(dir);
	return bytes;
}

void space_read(void *space)
{
	struct space *s = space;

	for (int i = 0; i < SPACES; i++) {
		struct statvfs about;

		if (statvfs(s->at[i].path, &about) < 0) {
			s->at[i].error = errno;
			continue;
		}
		s->at[i].free = (uint64_t)about.f_bavail * about.f_frsize;
		s->at[i].size = (uint64_t)about.f_blocks * about.f_frsize;
		s->at[i].free_files = about.f_favail;
		s->at[i].files = about.f_files;
	}
	s->store = files_bytes(s->at[SPACE_STORE].path);
}
