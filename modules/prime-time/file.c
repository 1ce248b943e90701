/* SPDX-License-Identifier: Apache-2.0
 *
 * file.c - reads the files of holidays and dedicated times at start, and again when they have changed.
 */
#include "prime-time.h"

#include <stdlib.h>
#include <time.h>

#define FILE_MAX (1024 * 1024)

struct reading {
	struct keel_mod *mod;
	const char *path;
};

static void complain(void *arg, int line, const char *why)
{
	struct reading *r = arg;

	keel_log(r->mod, KEEL_LOG_SCHED, "Fil", r->path, "Error reading line %d: %s", line, why);
}

/* A size that no file has: the next cycle reads it again. */
#define READ_AGAIN (-1)

/* Returns the file's text, which the caller frees, if it changed since the last call; else NULL. */
static char *changed_text(struct keel_mod *mod, struct keel_file *f, const char *path)
{
	char *text;

	if (!keel_file_is_news(f, path))
		return NULL;
	if (f->size > FILE_MAX)
		keel_log(mod, KEEL_LOG_ERROR, "Fil", path,
			 "longer than %d bytes; it counts as empty", FILE_MAX);
	text = keel_file_text(path, FILE_MAX);
	if (!text)
		f->size = READ_AGAIN;
	return text;
}

void files_read(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	char path[1200], *text;
	struct reading reading = { mod, path };
	time_t now;
	struct tm tm;

	keel_file_path(mod, conf->holidays, path, sizeof(path));
	if ((text = changed_text(mod, &st->holidays_file, path))) {
		holidays_read(&st->holidays, text, complain, &reading);
		now = (time_t)keel_time(mod);
		if (st->holidays.year && localtime_r(&now, &tm) && tm.tm_year + 1900 != st->holidays.year)
			keel_log(mod, KEEL_LOG_SCHED, "Fil", path,
				 "The holidays are those of %d; only days of the week hold now",
				 (int)st->holidays.year);
		st->known.from = 0;
		free(text);
	}
	keel_file_path(mod, conf->dedicated_time, path, sizeof(path));
	if ((text = changed_text(mod, &st->dedicated_file, path))) {
		if (!dedicated_read(&st->dedicated, text, complain, &reading))
			st->dedicated_file.size = READ_AGAIN;
		free(text);
	}
}
