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

int store_write(const char *dir, const char *id, const struct facts *f)
{
	char path[4096], fresh[4096];
	int fd, r;

	if (f->len > FACTS_MAX)
		return -E2BIG;
	snprintf(path, sizeof(path), "%s/%s", dir, id);
	snprintf(fresh, sizeof(fresh), "%s/.%s", dir, id);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = whole_write(fd, f->bytes, f->len);
	close(fd);
	if (r == 0 && rename(fresh, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(fresh);
	return r;
}

struct facts facts_copy(const char *bytes, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return (struct facts){ 0 };
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	return (struct facts){ .bytes = copy, .len = len };
}

const char *facts_value(const struct facts *f, const char *name)
{
	const char *end = f->bytes + f->len;

	for (const char *at = f->bytes; at < end;) {
		const char *value = at + strlen(at) + 1;

		if (value >= end)
			break;
		if (strcmp(at, name) == 0)
			return value;
		at = value + strlen(value) + 1;
	}
	return NULL;
}

struct facts store_read(const char *dir, const char *id)
{
	char path[4096], *bytes;
	struct stat about;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, id);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return (struct facts){ 0 };
	bytes = fstat(fd, &about) == 0 && about.st_size <= FACTS_MAX ? calloc(1, (size_t)about.st_size + 1) : NULL;
	if (bytes)
		n = read(fd, bytes, (size_t)about.st_size);
	close(fd);
	if (n >= 0)
		return (struct facts){ .bytes = bytes, .len = (size_t)n };
	free(bytes);
	return (struct facts){ 0 };
}
