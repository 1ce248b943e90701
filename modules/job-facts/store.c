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

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define LONG (1024 * 1024) /* bytes of a file that may be mostly of jobs that are gone */
#define ID_BYTES 256
#define HEAD_BYTES (ID_BYTES + 80)

struct facts {
	UT_hash_handle hh;
	char *id; /* in `record` */
	int64_t run, at;
	size_t head_len, len; /* of the record: its first line, all of it */
	char record[];	      /* as in the file, a NUL, the id */
};

static bool id_is_good(const char *id)
{
	return *id && *id != '.' && strlen(id) < ID_BYTES && !strpbrk(id, "/ \n");
}

static struct facts *facts_find(const struct store *s, const char *id)
{
	struct facts *f;

	HASH_FIND_STR(s->all, id, f);
	return f;
}

static struct facts *facts_new(const char *id, int64_t run, const char *bytes, size_t len, int64_t at)
{
	char head[HEAD_BYTES];
	size_t head_len = (size_t)snprintf(head, sizeof(head), "%s %zu %lld %lld\n", id, len, (long long)run, (long long)at);
	struct facts *f = malloc(sizeof(*f) + head_len + len + 1 + strlen(id) + 1);

	if (!f)
		return NULL;
	*f = (struct facts){ .run = run, .at = at, .head_len = head_len, .len = head_len + len };
	memcpy(f->record, head, head_len);
	memcpy(f->record + head_len, bytes, len);
	f->record[f->len] = '\0';
	f->id = strcpy(f->record + f->len + 1, id);
	return f;
}

static int facts_add(struct store *s, struct facts *f)
{
	store_drop(s, f->id);
	HASH_ADD_KEYPTR(hh, s->all, f->id, strlen(f->id), f);
	if (f->hh.tbl)
		return 0;
	free(f);
	return -ENOMEM;
}

void store_drop(struct store *s, const char *id)
{
	struct facts *f = facts_find(s, id);

	if (f)
		HASH_DEL(s->all, f);
	free(f);
}

bool store_has(const struct store *s, const char *id)
{
	return facts_find(s, id) != NULL;
}

int64_t store_run(const struct store *s, const char *id)
{
	const struct facts *f = facts_find(s, id);

	return f ? f->run : INT64_MIN;
}

const char *store_value(const struct store *s, const char *id, const char *name)
{
	const struct facts *f = facts_find(s, id);
	const char *end = f ? f->record + f->len : NULL;

	for (const char *at = f ? f->record + f->head_len : NULL; at < end;) {
		const char *value = at + strlen(at) + 1;

		if (value >= end)
			break;
		if (strcmp(at, name) == 0)
			return value;
		at = value + strlen(value) + 1;
	}
	return NULL;
}

/* ---- the file ------------------------------------------------------------------------------------------------ */

/* Its bytes, a NUL behind them; NULL: it cannot be read. */
static char *file_read(int fd, size_t *ret_len)
{
	struct stat about;
	char *bytes = fstat(fd, &about) == 0 ? malloc((size_t)about.st_size + 1) : NULL;
	size_t len = 0;
	ssize_t n = 1;

	while (bytes && n > 0 && len < (size_t)about.st_size) {
		n = pread(fd, bytes + len, (size_t)about.st_size - len, (off_t)len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (bytes)
		bytes[len] = '\0';
	*ret_len = len;
	return bytes;
}

/* The length of the record, which is added; 0: there is no further one. */
static size_t record_take(struct store *s, const char *from, size_t left)
{
	const char *line = memchr(from, '\n', left < HEAD_BYTES ? left : HEAD_BYTES);
	size_t head_len = line ? (size_t)(line - from) : 0;
	char head[HEAD_BYTES + 1], id[ID_BYTES];
	unsigned long len;
	struct facts *f;
	long long run, at;

	memcpy(head, from, head_len);
	head[head_len] = '\0';
	if (sscanf(head, "%255[^ ] %lu %lld %lld", id, &len, &run, &at) != 4 || !id_is_good(id) || len > FACTS_MAX ||
	    len > left - head_len - 1)
		return 0;
	f = facts_new(id, run, line + 1, len, at);
	return f && facts_add(s, f) == 0 ? head_len + 1 + len : 0;
}

int store_open(struct store *s, const char *path)
{
	size_t len = 0, took, at = 0;
	char *bytes;

	snprintf(s->path, sizeof(s->path), "%s", path);
	s->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->fd < 0)
		return -errno;
	bytes = file_read(s->fd, &len);
	while (bytes && (took = record_take(s, bytes + at, len - at)) > 0)
		at += took;
	s->size = (off_t)at;
	s->long_at = LONG;
	if (!bytes)
		return -EIO;
	free(bytes);
	return at < len && ftruncate(s->fd, s->size) < 0 ? -errno : 0; /* records behind a tail would be taken for its bytes */
}

void store_close(struct store *s)
{
	while (s->all)
		store_drop(s, s->all->id);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* All or nothing. */
static int record_write(int fd, off_t *size, const struct facts *f)
{
	ssize_t n;
	int r;

	do
		n = write(fd, f->record, f->len);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)f->len) {
		*size += n;
		return 0;
	}
	r = n < 0 ? -errno : -ENOSPC;
	return ftruncate(fd, *size) < 0 ? -errno : r;
}

int store_put(struct store *s, const char *id, int64_t run, const char *bytes, size_t len, int64_t now)
{
	struct facts *f = id_is_good(id) && len <= FACTS_MAX ? facts_new(id, run, bytes, len, now) : NULL;
	int r = f ? record_write(s->fd, &s->size, f) : !id_is_good(id) ? -EINVAL : len > FACTS_MAX ? -E2BIG : -ENOMEM;

	if (r == 0)
		return facts_add(s, f);
	free(f);
	return r;
}

bool store_is_long(const struct store *s)
{
	return s->size > s->long_at;
}

/* What is in memory, as a file beside it. */
static int all_write(const struct store *s, const char *path, off_t *ret_size)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), r = fd < 0 ? -errno : 0;

	*ret_size = 0;
	for (const struct facts *f = s->all; f && r == 0; f = f->hh.next)
		r = record_write(fd, ret_size, f);
	if (r == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	unlink(path);
	return r;
}

int store_shorten(struct store *s, bool (*keep)(void *arg, const char *id, int64_t at), void *arg)
{
	char fresh[sizeof(s->path) + 5];
	struct facts *f, *next;
	off_t size;
	int fd;

	HASH_ITER(hh, s->all, f, next)
		if (!keep(arg, f->id, f->at))
			store_drop(s, f->id);
	snprintf(fresh, sizeof(fresh), "%s.new", s->path);
	fd = all_write(s, fresh, &size);
	s->long_at = LONG + 2 * (fd < 0 ? s->size : size); /* one that cannot be shortened is not tried at each job */
	if (fd < 0 || rename(fresh, s->path) < 0) {
		int r = fd < 0 ? fd : -errno;

		if (fd >= 0)
			close(fd);
		return r;
	}
	close(s->fd);
	s->fd = fd;
	s->size = size;
	return 0;
}
