/* SPDX-License-Identifier: Apache-2.0
 *
 * file.c - the files of holidays and dedicated times: read at start, and again when they have changed.
 */
#include "prime-time.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_MAX (1024 * 1024)

struct reading {
	struct keel_mod *mod;
	const char *path;
};

static void complain(void *arg, int line, const char *why)
{
	struct reading *r = arg;
	struct state *st = r->mod->state;

	st->core->log(r->mod, KEEL_LOG_SCHED, "Fil", r->path, "Error reading line %d: %s", line, why);
}

static void path_of(struct keel_mod *mod, const char *file, char *buf, size_t len)
{
	struct state *st = mod->state;

	if (*file == '/')
		snprintf(buf, len, "%s", file);
	else
		snprintf(buf, len, "%s/%s", st->core->home(mod), file);
}

/* Is it another file, or another content, than at the last look? */
static bool is_news(struct file *f, const char *path)
{
	struct file now = { 0, 0, false };
	struct stat about;
	bool news;

	if (stat(path, &about) == 0 && S_ISREG(about.st_mode))
		now = (struct file){ (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec,
				     (int64_t)about.st_size, true };
	news = now.there != f->there || now.mtime_ns != f->mtime_ns || now.size != f->size;
	*f = now;
	return news;
}

/* The whole file, terminated; "" when there is none. NULL: no memory. */
static char *text_of(struct keel_mod *mod, const char *path)
{
	struct state *st = mod->state;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	char *text;
	ssize_t n = 0;
	size_t size = 0;

	if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
		size = (size_t)about.st_size;
		if (size > FILE_MAX) {
			st->core->log(mod, KEEL_LOG_ERROR, "Fil", path,
				      "longer than %d bytes; it has no effect", FILE_MAX);
			size = 0;
		}
	}
	text = calloc(1, size + 1);
	if (text && size)
		n = read(fd, text, size);
	if (text)
		text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

static void warn_year(struct keel_mod *mod, const char *path)
{
	struct state *st = mod->state;
	time_t now = (time_t)st->core->time(mod);
	struct tm tm;

	if (st->holidays.year && localtime_r(&now, &tm) && tm.tm_year + 1900 != st->holidays.year)
		st->core->log(mod, KEEL_LOG_SCHED, "Fil", path,
			      "The holidays are those of %d; only days of the week hold now",
			      (int)st->holidays.year);
}

bool files_read(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	char path[1200], *text;
	struct reading reading = { mod, path };
	bool news = false;

	path_of(mod, conf->holidays, path, sizeof(path));
	if (is_news(&st->holidays_file, path) && (text = text_of(mod, path))) {
		holidays_read(&st->holidays, text, complain, &reading);
		warn_year(mod, path);
		st->known.from = 0;
		free(text);
		news = true;
	}
	path_of(mod, conf->dedicated_time, path, sizeof(path));
	if (is_news(&st->dedicated_file, path) && (text = text_of(mod, path))) {
		dedicated_read(&st->dedicated, text, complain, &reading);
		free(text);
		news = true;
	}
	return news;
}
