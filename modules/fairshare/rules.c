/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.c - what this module was told to do: its configuration, or what sched_config says over it, and
 * the file of groups and shares.
 */
#include "fairshare.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX (16 * 1024 * 1024)

/* ---- words ----------------------------------------------------------------------------------------- */

static void word_of(struct keel_mod *mod, const char *name, const char *ours, char buf[WORD_SIZE])
{
	struct state *st = mod->state;

	if (!st->sched || !st->sched->setting ||
	    st->sched->setting(st->sched->self, name, buf, WORD_SIZE) < 0)
		snprintf(buf, WORD_SIZE, "%s", ours ? ours : "");
}

static bool truth_of(struct keel_mod *mod, const char *name, bool ours)
{
	char word[WORD_SIZE];

	word_of(mod, name, ours ? "true" : "false", word);
	return word[0] && strchr("tTyY1", word[0]);
}

static double number_of(struct keel_mod *mod, const char *name, const char *ours, double otherwise)
{
	char word[WORD_SIZE], *end;
	double n;

	word_of(mod, name, ours, word);
	n = strtod(word, &end);
	return end == word || !(n >= 0 && n < 1e15) ? otherwise : n;
}

/* `24:00:00`, `86400` */
static int64_t seconds_of(const char *word)
{
	int64_t seconds = 0;
	char *end;

	for (;;) {
		long n = strtol(word, &end, 10);

		if (end == word || n < 0 || n > 100000000)
			return 0;
		seconds = seconds * 60 + n;
		if (*end != ':')
			return seconds;
		word = end + 1;
	}
}

static enum entity entity_of(const char *word)
{
	static const struct {
		const char *name;
		enum entity entity;
	} rows[] = {
		{ "euser", BY_USER },		{ "egroup", BY_GROUP }, { "egroup:euser", BY_GROUP_USER },
		{ "Account_Name", BY_ACCOUNT }, { "queue", BY_QUEUE },
	};

	for (size_t i = 0; i < KEEL_COUNT(rows); i++)
		if (strcasecmp(word, rows[i].name) == 0)
			return rows[i].entity;
	return BY_USER;
}

void rules_read(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct rules *r = &st->rules;
	double unknown = r->unknown_shares, factor;
	int64_t decay_time = r->decay_time;
	char word[WORD_SIZE];

	r->on = truth_of(mod, "fair_share", conf->fair_share);
	r->enforce = truth_of(mod, "fairshare_enforce_no_shares", conf->fairshare_enforce_no_shares);
	word_of(mod, "fairshare_usage_res", conf->fairshare_usage_res, r->usage_res);
	word_of(mod, "fairshare_entity", conf->fairshare_entity, word);
	r->entity = entity_of(word);
	word_of(mod, "fairshare_decay_time", conf->fairshare_decay_time, word);
	r->decay_time = seconds_of(word);
	factor = number_of(mod, "fairshare_decay_factor", conf->fairshare_decay_factor, 0.5);
	r->decay_factor = factor > 0 && factor < 1 ? factor : 0.5;
	r->unknown_shares = number_of(mod, "unknown_shares", conf->unknown_shares, 0);
	file_read(mod, r->unknown_shares < unknown || r->unknown_shares > unknown);
	if (r->decay_time != decay_time)
		decay_plan(mod);
}

/* ---- resource_group ---------------------------------------------------------------------------------- */

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
static char *text_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	size_t size = 0;
	ssize_t n = 0;
	char *text;

	if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
	    about.st_size <= FILE_SIZE_MAX)
		size = (size_t)about.st_size;
	text = calloc(1, size + 1);
	if (text && size)
		n = read(fd, text, size);
	if (text)
		text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

void file_read(struct keel_mod *mod, bool anew)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	char path[1200], *text;
	struct reading reading = { mod, path };

	if (conf->resource_group[0] == '/')
		snprintf(path, sizeof(path), "%s", conf->resource_group);
	else
		snprintf(path, sizeof(path), "%s/%s", st->core->home(mod), conf->resource_group);
	if ((!is_news(&st->file, path) && !anew) || !(text = text_of(path)))
		return;
	tree_read(&st->tree, text, st->rules.unknown_shares, complain, &reading);
	free(text);
}
