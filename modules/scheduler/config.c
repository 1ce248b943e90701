/* SPDX-License-Identifier: Apache-2.0
 *
 * config.c - the scheduler's settings: its configuration, and over it sched_config.
 *
 * PBS_HOME/sched_priv/sched_config is read when there is one: at start, on a reload, and when an
 * attribute of the scheduler changed. What it says replaces the configuration line by line.
 */
#include "scheduler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

KEEL_ATTRS_OF(sched, do_not_span_psets, only_explicit_psets);

#define FILE_MAX_BYTES (1024 * 1024)

/* Rows of the configuration: which setting, where. */
static const struct {
	enum setting which;
	size_t offset;
} booleans[] = {
	{ SET_by_queue, offsetof(struct conf, by_queue) },
	{ SET_round_robin, offsetof(struct conf, round_robin) },
	{ SET_strict_ordering, offsetof(struct conf, strict_ordering) },
};
static const struct {
	enum setting which;
	size_t offset;
	const char *between;
} lists[] = {
	{ SET_job_sort_key, offsetof(struct conf, job_sort_key), "\n" },
	{ SET_resources, offsetof(struct conf, resources), ", " },
	{ SET_node_sort_key, offsetof(struct conf, node_sort_key), "\n" },
	{ SET_resource_unset_infinite, offsetof(struct conf, resource_unset_infinite), ", " },
	{ SET_server_dyn_res, offsetof(struct conf, server_dyn_res), "\n" },
	{ SET_smp_cluster_dist, offsetof(struct conf, smp_cluster_dist), ", " },
};

/* ---- the file -------------------------------------------------------------------------------------- */

static void bad_line(void *arg, uint32_t line, const char *why)
{
	struct keel_mod *mod = arg;

	keel_log(mod, KEEL_LOG_SCHED, "Fil", "sched_config", "Error reading line %u: %s",
		 (unsigned)line, why);
}

static void old_line(void *arg, const char *name)
{
	struct keel_mod *mod = arg;

	keel_log(mod, KEEL_LOG_SCHED, "Fil", "sched_config",
		 "Obsolete config name %s, instead use nothing - set via qmgr", name);
}

/* The whole file, terminated; NULL: there is none. */
static char *file_read(struct keel_mod *mod, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	char *text = NULL;
	bool large = false;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
	    !(large = about.st_size > FILE_MAX_BYTES) && (text = malloc((size_t)about.st_size + 1)))
		n = read(fd, text, (size_t)about.st_size);
	close(fd);
	if (n < 0) {
		keel_log(mod, KEEL_LOG_ERROR, "Fil", path, "%s; it has no effect",
			 large ? "has more than 1 MiB" : "cannot be read");
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

/* ---- what follows from it ---------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, const char *text)
{
	for (; text && *text; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211u;
	return (h ^ (text != NULL)) * 1099511628211u;
}

/* All that says how vnodes are looked at. */
static uint64_t picture_of(struct keel_mod *mod)
{
	static const enum setting settings[] = { SET_resources, SET_resource_unset_infinite,
						 SET_node_sort_key, SET_smp_cluster_dist };
	struct state *st = mod->state;
	const struct keel_attr *const attrs[] = { sched_do_not_span_psets, sched_only_explicit_psets };
	struct keel_obj *sched = keel_find(mod, "sched", "default");
	uint64_t h = 14695981039346656037u;
	size_t i;

	for (i = 0; i < KEEL_COUNT(settings); i++) {
		char *value = setting_dup(mod, settings[i]);

		h = mix(h, value);
		free(value);
	}
	/* The same names mean more in the file: nothing else is compared. */
	h = mix(h, st->settings && st->settings->value[SET_resources][st->non_prime] ? "file" : "");
	for (i = 0; sched && i < KEEL_COUNT(attrs); i++)
		h = mix(h, keel_get_int(sched, attrs[i]) ? "True" : "");
	for (i = 0; dynres_at(st, (uint32_t)i); i++)
		h = mix(h, dynres_at(st, (uint32_t)i));
	return h;
}

static void config_settled(struct keel_mod *mod)
{
	struct state *st = mod->state;
	uint64_t picture = picture_of(mod);

	if (picture != st->picture)
		st->generation = 0; /* all vnodes are read anew */
	st->picture = picture;
	rank_make(mod);
}

/* ---- reading -------------------------------------------------------------------------------------------- */

void config_read(struct keel_mod *mod)
{
	struct state *st = mod->state;
	char path[1200], *text;

	snprintf(path, sizeof(path), "%s/sched_priv/sched_config", keel_home(mod));
	settings_free(st->settings);
	st->settings = NULL;
	text = file_read(mod, path);
	if (text)
		st->settings = settings_read(text, bad_line, old_line, mod);
	free(text);
	dynres_configure(mod);
	config_settled(mod);
}

/* ---- values ------------------------------------------------------------------------------------------- */

static const char *file_value(const struct state *st, enum setting which)
{
	return st->settings ? st->settings->value[which][st->non_prime] : NULL;
}

bool setting_on(struct keel_mod *mod, enum setting which)
{
	const char *text = file_value(mod->state, which);
	size_t i;

	if (text)
		return setting_bool(text) == 1;
	for (i = 0; i < KEEL_COUNT(booleans); i++)
		if (booleans[i].which == which)
			return *(const bool *)((const char *)mod->conf + booleans[i].offset);
	return false;
}

static char *join(const char *const *list, const char *between)
{
	char *text = NULL, *more;

	for (; list && *list; list++) {
		if (asprintf(&more, "%s%s%s", text ? text : "", text ? between : "", *list) < 0)
			more = NULL;
		free(text);
		if (!(text = more))
			return NULL;
	}
	return text;
}

char *setting_dup(struct keel_mod *mod, enum setting which)
{
	const char *text = file_value(mod->state, which);
	size_t i;

	if (text)
		return strdup(text);
	for (i = 0; i < KEEL_COUNT(booleans); i++)
		if (booleans[i].which == which)
			return strdup(setting_on(mod, which) ? "True" : "False");
	for (i = 0; i < KEEL_COUNT(lists); i++)
		if (lists[i].which == which)
			return join(*(const char *const *const *)(const void *)((const char *)mod->conf +
										lists[i].offset),
				    lists[i].between);
	return NULL;
}

void prime_set(struct keel_mod *mod, bool prime)
{
	struct state *st = mod->state;

	if (st->non_prime == !prime)
		return;
	st->non_prime = !prime;
	config_settled(mod);
	wake(mod, CMD_JOB);
}
