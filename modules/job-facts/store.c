/* SPDX-License-Identifier: Apache-2.0
 *
 * store.c - see store.h.
 */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool store_id_ok(const char *id)
{
	return id && *id && *id != '.' && strlen(id) < 256 && !strchr(id, '/');
}

static int whole_write(int fd, const char *bytes, size_t len)
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

static int file_write(const char *dir, const char *id, const char *bytes, size_t len)
{
	char path[4096], fresh[4096];
	int fd, r;

	snprintf(path, sizeof(path), "%s/%s", dir, id);
	snprintf(fresh, sizeof(fresh), "%s/.%s", dir, id);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = whole_write(fd, bytes, len);
	close(fd);
	if (r == 0 && rename(fresh, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(fresh);
	return r;
}

int store_write(const char *dir, const char *id, const char *const *names, const char *const *values, uint32_t n)
{
	size_t len = 0, at = 0;
	char *bytes;
	int r;

	for (uint32_t i = 0; i < n; i++)
		len += strlen(names[i]) + strlen(values[i]) + 2;
	if (len > FACTS_MAX)
		return -E2BIG;
	bytes = malloc(len + 1);
	if (!bytes)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		at += (size_t)sprintf(bytes + at, "%s", names[i]) + 1;
		at += (size_t)sprintf(bytes + at, "%s", values[i]) + 1;
	}
	r = file_write(dir, id, bytes, len);
	free(bytes);
	return r;
}

/* The file, terminated once more; NULL: there is none. */
static char *file_read(const char *dir, const char *id, size_t *ret_len)
{
	char path[4096], *bytes;
	struct stat about;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, id);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	bytes = fstat(fd, &about) == 0 && about.st_size <= FACTS_MAX ? calloc(1, (size_t)about.st_size + 2) : NULL;
	if (bytes)
		n = read(fd, bytes, (size_t)about.st_size);
	close(fd);
	if (n < 0) {
		free(bytes);
		return NULL;
	}
	*ret_len = (size_t)n;
	return bytes;
}

char *store_read(const char *dir, const char *id, const char *name)
{
	size_t len = 0;
	char *bytes = file_read(dir, id, &len), *found = NULL;

	for (const char *at = bytes; at && at < bytes + len && !found;) {
		const char *value = at + strlen(at) + 1;

		if (value >= bytes + len)
			break;
		if (strcmp(at, name) == 0)
			found = strdup(value);
		at = value + strlen(value) + 1;
	}
	free(bytes);
	return found;
}
