/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.c - the settings of this module: its configuration, or what sched_config says over it, and the
 * file of groups and shares.
 */
#include "fairshare.h"

#include <stdlib.h>
#include <strings.h>

#define FILE_SIZE_MAX (16 * 1024 * 1024)

/* ---- words ----------------------------------------------------------------------------------------- */

static double number_of(const char *name, const char *ours, double otherwise)
{
	char *word = keel_setting(name, ours), *end = word;
	double n = word ? strtod(word, &end) : 0;
	bool is_number = end != word && n >= 0 && n < 1e15;

	free(word);
	return is_number ? n : otherwise;
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
	char *word;

	r->on = keel_setting_true("fair_share", conf->fair_share);
	r->enforce = keel_setting_true("fairshare_enforce_no_shares", conf->fairshare_enforce_no_shares);
	free(r->usage_res);
	r->usage_res = keel_setting("fairshare_usage_res", conf->fairshare_usage_res);
	word = keel_setting("fairshare_entity", conf->fairshare_entity);
	r->entity = entity_of(word ? word : "");
	free(word);
	word = keel_setting("fairshare_decay_time", conf->fairshare_decay_time);
	r->decay_time = keel_setting_seconds(word ? word : "");
	free(word);
	factor = number_of("fairshare_decay_factor", conf->fairshare_decay_factor, 0.5);
	r->decay_factor = factor > 0 && factor < 1 ? factor : 0.5;
	r->unknown_shares = number_of("unknown_shares", conf->unknown_shares, 0);
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

	keel_log(r->mod, KEEL_LOG_SCHED, "Fil", r->path, "Error reading line %d: %s", line, why);
}

void file_read(struct keel_mod *mod, bool anew)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	char path[1200], *text;
	struct reading reading = { mod, path };

	keel_file_path(mod, conf->resource_group, path, sizeof(path));
	if (!keel_file_is_news(&st->file, path) && !anew)
		return;
	if (st->file.size > FILE_SIZE_MAX)
		keel_log(mod, KEEL_LOG_ERROR, "Fil", path, "longer than %d bytes; it counts as empty",
			 FILE_SIZE_MAX);
	if (!(text = keel_file_text(path, FILE_SIZE_MAX))) {
		st->file.size = -1; /* no memory: again with the next cycle */
		return;
	}
	tree_read(&st->tree, text, st->rules.unknown_shares, complain, &reading);
	free(text);
}
