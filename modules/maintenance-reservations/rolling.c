/* SPDX-License-Identifier: Apache-2.0
 *
 * rolling.c - hosts in turn: the window has some of its hosts; when a program says that all of them are well it has the next ones, and
 * ends behind the last.
 *
 *	runs --interval--> program, for host after host --well--> next hosts ... --> over
 *	            ^                    |
 *	            '--- maintenance_comment: not well
 *
 * How many hosts are over is stored (maintenance_at); which of those that are closed were well is asked anew after a restart.
 */
#include "maintenance.h"

#include <stdlib.h>
#include <string.h>

#include "keel/service/supervise.h"

KEEL_USE_OPT(supervise);
KEEL_ATTRS_OF(resv, maintenance_rolling, maintenance_health, maintenance_at, maintenance_comment, Resource_List);

#define WORDS 64
#define OUTPUT 200 /* bytes of what the program says that are shown */

static void look(struct keel_mod *mod, void *arg);

bool rolling_can_look(void)
{
	return keel_can(supervise, run);
}

void rolling_end(struct window *w)
{
	keel_alarm_end(&w->health);
	if (w->run)
		keel_supervise_run_cancel(w->run);
	w->run = NULL;
}

static void look_later(struct keel_mod *mod, struct window *w, struct keel_obj *resv)
{
	const struct conf *conf = mod->conf;

	if (keel_alarm_set(mod, &w->health, conf->health_interval, look, resv))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "no memory to look whether its hosts are well; it stays as it is");
}

void rolling_begin(struct keel_mod *mod, struct keel_obj *resv)
{
	struct window *w = keel_slot(mod, resv);

	if (w && keel_is_set(resv, resv_maintenance_health) && rolling_can_look())
		look_later(mod, w, resv);
}

/* ---- its hosts -------------------------------------------------------------------------------------------------------- */

static int32_t hosts_read(struct keel_mod *mod, struct keel_obj *resv, struct hosts *h)
{
	const struct keel_res_value *select = keel_resource_list_get(keel_get_ptr(resv, resv_Resource_List), "select");
	struct keel_err err;

	return select && select->text ? hosts_of_select(mod, select->text, h, &err) : -ENOENT;
}

static uint32_t at_a_time(struct keel_obj *resv, const struct hosts *h)
{
	const int64_t n = keel_get_int(resv, resv_maintenance_rolling);

	return n > 0 && n < h->n ? (uint32_t)n : h->n;
}

static uint32_t at_of(struct keel_obj *resv)
{
	const int64_t at = keel_get_int(resv, resv_maintenance_at);

	return at > 0 && at < UINT32_MAX ? (uint32_t)at : 0;
}

/* ---- well --------------------------------------------------------------------------------------------------------------- */

static void say(struct keel_mod *mod, struct keel_obj *resv, const char *text)
{
	const char *before = keel_get_str(resv, resv_maintenance_comment);

	if (before && strcmp(before, text) == 0)
		return;
	keel_set_str(resv, resv_maintenance_comment, text);
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "%s", text);
}

static void all_are_well(struct keel_mod *mod, struct keel_obj *resv)
{
	char who[300];

	snprintf(who, sizeof(who), "root@%s", keel_host_name(mod));
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "all its hosts are well: it ends");
	keel_resv_remove(resv, who);
}

static void close_next(struct keel_mod *mod, struct keel_obj *resv, struct window *w, uint32_t at, uint32_t n, const char *nodes)
{
	action_end(mod, resv);
	if (keel_resv_replace(resv, nodes)) {
		say(mod, resv, "the next hosts cannot be closed: it does not run");
		return;
	}
	keel_set_int(resv, resv_maintenance_at, at);
	keel_unset(resv, resv_maintenance_comment, NULL);
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "%u of its hosts are over; %u more are closed", at, n);
	w->well = 0;
	action_begin(mod, resv, true);
	look_later(mod, w, resv);
}

/* Hosts that are not there any more are passed by. */
static void advance(struct keel_mod *mod, struct keel_obj *resv, struct window *w, struct hosts *h)
{
	const uint32_t n = at_a_time(resv, h);
	uint32_t at = at_of(resv) + n;
	char *nodes = NULL;
	bool lacks = hosts_resolve(mod, h) != 0;

	for (; !lacks && at < h->n; at += n) {
		free(nodes);
		nodes = hosts_nodes(h, at, n);
		lacks = !nodes;
		if (nodes && *nodes)
			break;
	}
	if (lacks)
		look_later(mod, w, resv);
	else if (at >= h->n)
		all_are_well(mod, resv);
	else
		close_next(mod, resv, w, at, n < h->n - at ? n : h->n - at, nodes);
	free(nodes);
}

/* ---- the program --------------------------------------------------------------------------------------------------------- */

static void plain_line(char *text, const char *from)
{
	size_t n = 0;

	for (; *from && *from != '\n' && n < OUTPUT; from++)
		text[n++] = (unsigned char)*from >= ' ' && *from != 0x7f ? *from : '?';
	text[n] = '\0';
}

static void not_well(struct keel_mod *mod, struct keel_obj *resv, const char *host, const char *error, int32_t status,
		     const char *output)
{
	char line[OUTPUT + 1], text[800], number[48];

	plain_line(line, output ? output : "");
	snprintf(number, sizeof(number), "exit status %d", status);
	snprintf(text, sizeof(text), "%.200s is not well: %.200s%s%s", host, error ? error : number, *line ? ": " : "", line);
	say(mod, resv, text);
}

static void looked(struct keel_mod *mod, void *arg, const char *error, int32_t status, const char *output, uint32_t len)
{
	struct keel_obj *resv = arg;
	struct window *w = keel_slot(mod, resv);
	const uint32_t i = at_of(resv) + w->well;
	struct hosts h;

	(void)len;
	w->run = NULL;
	if (keel_resv_state(resv) != KEEL_RESV_RUNNING || hosts_read(mod, resv, &h))
		return;
	if (!error && status == 0) {
		w->well++;
		look(mod, resv);
	} else {
		not_well(mod, resv, i < h.n ? h.host[i].name : "a host", error, status, output);
		look_later(mod, w, resv);
	}
	hosts_fini(&h);
}

/* Its words, and the host behind them. `words` is cut into them. */
static void program_begin(struct keel_mod *mod, struct keel_obj *resv, struct window *w, char *words, const char *host)
{
	const struct conf *conf = mod->conf;
	const char *argv[WORDS + 2];
	struct keel_err err = { 0 };
	char *save = NULL;
	uint32_t n = 0;

	for (char *word = strtok_r(words, " ", &save); word && n < WORDS; word = strtok_r(NULL, " ", &save))
		argv[n++] = word;
	argv[n++] = host;
	argv[n] = NULL;
	w->run = keel_supervise_run(mod, &(struct keel_run_opts){
		.size = sizeof(struct keel_run_opts), .profile = KEEL_PROFILE_PLAIN, .argv = argv, .input = "",
		.user = *conf->health_user ? conf->health_user : NULL, .output_max = OUTPUT, .timeout_ms = conf->health_timeout },
		looked, resv, &err);
	if (w->run)
		return;
	not_well(mod, resv, host, err.text, 0, NULL);
	look_later(mod, w, resv);
}

static void look(struct keel_mod *mod, void *arg)
{
	struct keel_obj *resv = arg;
	struct window *w = keel_slot(mod, resv);
	const char *health = keel_get_str(resv, resv_maintenance_health);
	char *words = health ? strdup(health) : NULL;
	struct hosts h;
	uint32_t at;

	if (keel_resv_state(resv) != KEEL_RESV_RUNNING || !words || hosts_read(mod, resv, &h)) {
		free(words);
		return;
	}
	at = at_of(resv);
	if (w->well < at_a_time(resv, &h) && at + w->well < h.n)
		program_begin(mod, resv, w, words, h.host[at + w->well].name);
	else
		advance(mod, resv, w, &h);
	hosts_fini(&h);
	free(words);
}
