/* SPDX-License-Identifier: Apache-2.0
 *
 * file.c - the files of holidays and dedicated times: read at start, and again when they have changed.
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
	struct state *st = r->mod->state;

	st->core->log(r->mod, KEEL_LOG_SCHED, "Fil", r->path, "Error reading line %d: %s", line, why);
}

/* There was no memory for it: the next cycle reads it. */
static void look_again(struct keel_file *f)
{
	f->size = -1;
}

/* Its text, when there is another than at the last look; NULL: there is not. */
static char *news_of(struct keel_mod *mod, struct keel_file *f, const char *path)
{
	struct state *st = mod->state;
	char *text;

	if (!keel_file_is_news(f, path))
		return NULL;
	if (f->size > FILE_MAX)
		st->core->log(mod, KEEL_LOG_ERROR, "Fil", path,
			      "longer than %d bytes; it counts as empty", FILE_MAX);
	text = keel_file_text(path, FILE_MAX);
	if (!text)
		look_again(f);
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

	keel_file_path(st->core, mod, conf->holidays, path, sizeof(path));
	if ((text = news_of(mod, &st->holidays_file, path))) {
		holidays_read(&st->holidays, text, complain, &reading);
		warn_year(mod, path);
		st->known.from = 0;
		free(text);
		news = true;
	}
	keel_file_path(st->core, mod, conf->dedicated_time, path, sizeof(path));
	if ((text = news_of(mod, &st->dedicated_file, path))) {
		if (!dedicated_read(&st->dedicated, text, complain, &reading))
			look_again(&st->dedicated_file);
		free(text);
		news = true;
	}
	return news;
}
