/* SPDX-License-Identifier: Apache-2.0
 *
 * sweep.c - one folder of day files: the oldest are deleted first. Blocks; for a worker thread.
 */
#include "sweep.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_ROOM 40
#define HOUR 3600
#define DAY (24 * HOUR)

struct file {
	int day;
	int64_t bytes;
	char name[NAME_ROOM];
};

struct files {
	struct file *at;
	size_t n, room;
	int64_t bytes;
};

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

int day_of_name(const char *name)
{
	static const char *const endings[] = { "", ".gz", ".xz", ".bz2", ".zst" };
	int day = atoi(name), month = day / 100 % 100, of_month = day % 100;
	const char *at = name + 8;

	if (digits(name) != 8 || strlen(name) >= NAME_ROOM || month < 1 || month > 12 || of_month < 1 || of_month > 31)
		return 0;
	if (at[0] == '-' && digits(at + 1) == 8)
		at += 9;
	else if (at[0] == '.' && digits(at + 1) > 0)
		at += 1 + digits(at + 1);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcmp(at, endings[i]) == 0)
			return day;
	return 0;
}

static int day_of_time(int64_t seconds)
{
	time_t when = (time_t)seconds;
	struct tm tm;

	if (seconds < 0 || !localtime_r(&when, &tm))
		return 0;
	return (tm.tm_year + 1900) * 10000 + (tm.tm_mon + 1) * 100 + tm.tm_mday;
}

static int file_add(struct files *all, const char *name, int day, int64_t bytes)
{
	size_t room = all->room ? 2 * all->room : 64;
	struct file *more;

	if (all->n == all->room) {
		more = realloc(all->at, room * sizeof(*more));
		if (!more)
			return ENOMEM;
		all->at = more;
		all->room = room;
	}
	all->at[all->n].day = day;
	all->at[all->n].bytes = bytes;
	strcpy(all->at[all->n++].name, name);
	all->bytes += bytes;
	return 0;
}

static int files_read(DIR *d, struct files *all)
{
	struct dirent *e;
	struct stat st;
	int day, error = 0;

	while (!error && (e = readdir(d))) {
		day = day_of_name(e->d_name);
		if (day && fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			error = file_add(all, e->d_name, day, st.st_size);
	}
	return error;
}

static int by_age(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	return x->day != y->day ? (x->day > y->day) - (x->day < y->day) : strcmp(x->name, y->name);
}

static void files_delete(struct sweep *s, int dir, const struct files *all)
{
	int stays = day_of_time(s->now - HOUR), kept = s->days > 0 ? day_of_time(s->now - s->days * DAY) : 0;
	int64_t bytes = all->bytes;

	for (size_t i = 0; i < all->n && all->at[i].day < stays; i++) {
		const struct file *f = &all->at[i];

		if (f->day >= kept && (s->size == 0 || bytes <= s->size))
			continue;
		if (unlinkat(dir, f->name, 0) < 0) {
			s->error = s->error ? s->error : errno;
			continue;
		}
		bytes -= f->bytes;
		s->freed += f->bytes;
		s->oldest = s->deleted++ ? s->oldest : f->day;
	}
}

void sweep_run(void *sweep)
{
	struct sweep *s = sweep;
	struct files all = { 0 };
	int fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

	if (!d) {
		s->error = errno;
		if (fd >= 0)
			close(fd);
		return;
	}
	s->error = files_read(d, &all);
	if (!s->error) {
		if (all.n > 0)
			qsort(all.at, all.n, sizeof(*all.at), by_age);
		files_delete(s, fd, &all);
	}
	free(all.at);
	closedir(d);
}
