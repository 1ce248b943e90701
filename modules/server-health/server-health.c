/* SPDX-License-Identifier: Apache-2.0
 *
 * server-health.c - `keelson health`: is the server well, in figures and in words.
 *
 * A request waits for a survey of hosts and jobs, in slices, and for a worker that asks the file systems; requests that come
 * meanwhile have the same answer. A file system that does not answer in time is a reason of its own.
 */
#include "health.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"

KEEL_USE(inspect);
KEEL_ATTR_OPT(server, scheduling);
KEEL_ATTR_OPT(server, state_count);

#define PATIENCE_MS 2000

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(INT, struct conf, disk_free, .fallback = "5", .min = 0, .max = 100,
		       .doc = "percent of a file system: degraded with less space, or places for files"),
	KEEL_CONF_RULE(DURATION, struct conf, slow_commit, .fallback = "1s", .min = 1, .max = 3600000,
		       .doc = "degraded when a transaction of the last minute took longer"),
	KEEL_CONF_RULE(DURATION, struct conf, stall, .fallback = "1s", .min = 1, .max = 3600000,
		       .doc = "degraded when in the last minute no request was served for longer"),
};

/* ---- hosts and jobs -------------------------------------------------------------------------------------------------- */

/* Of a host that has not been linked since the start of the server it is not known. */
static bool versions_differ(const struct survey *s)
{
	uint32_t known = 0;

	for (int i = 0; i <= VERSIONS; i++)
		known += s->version[i].hosts > 0 && strcmp(s->version[i].text, NO_VERSION) != 0;
	return known > 1;
}

static void tell_hosts(const struct survey *s, struct report *r)
{
	static const char *const words[HOST_STATES] = { "up", "down", "offline", "closed" };
	const uint32_t down = s->hosts[HOST_DOWN];

	for (int i = 0; i < HOST_STATES; i++)
		report_put(r, FIGURE_HOSTS, words[i], s->hosts[i]);
	report_put(r, FIGURE_UNLINKED, NULL, s->unlinked);
	for (int i = 0; r->names && i <= VERSIONS; i++)
		if (s->version[i].hosts)
			report_put(r, FIGURE_VERSIONS, s->version[i].text, s->version[i].hosts);
	report_put(r, FIGURE_VNODES, NULL, s->vnodes);
	if (down)
		report_why(r, "%u host%s down%s%s%s", down, down > 1 ? "s are" : " is", r->names ? ": " : "",
			   r->names && s->down.data ? s->down.data : "", r->names && down > NAMES_SHOWN ? " ..." : "");
	if (versions_differ(s))
		report_note(r, "hosts run different versions");
}

/* "Transit:0 Queued:3 ..." */
static void tell_states(char *counts, struct report *r)
{
	char *word, *colon, *save = NULL;

	for (word = strtok_r(counts, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		colon = strchr(word, ':');
		if (!colon)
			continue;
		*colon = '\0';
		*word = (char)tolower((unsigned char)*word);
		report_put(r, FIGURE_JOBS, word, strtod(colon + 1, NULL));
	}
}

static void tell_jobs(struct keel_mod *mod, const struct survey *s, struct report *r)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const int64_t wait = s->oldest[0] ? keel_time(mod) - s->since : 0;
	char counts[256];

	if (server && server_state_count && keel_get_text(server, server_state_count, NULL, counts, sizeof(counts)) > 0)
		tell_states(counts, r);
	if (server && server_scheduling) {
		report_put(r, FIGURE_SCHEDULING, NULL, keel_get_int(server, server_scheduling) != 0);
		if (!keel_get_int(server, server_scheduling))
			report_note(r, "scheduling is off: no job starts");
	}
	report_put(r, FIGURE_OLDEST, NULL, wait > 0 ? (double)wait : 0);
	if (r->names && s->oldest[0])
		report_note(r, "the job that has waited longest is %s", s->oldest);
}

/* ---- the daemon -------------------------------------------------------------------------------------------------------- */

static void tell_quantiles(struct report *r, enum figure_name name, const struct recent *recent)
{
	report_put(r, name, "0.5", recent->half);
	report_put(r, name, "0.99", recent->most);
}

static void tell_times(struct keel_mod *mod, struct report *r)
{
	struct state *st = mod->state;
	const struct conf *conf = mod->conf;
	const char *trouble = keel_store_trouble(mod);
	struct recent requests, commits, turns;

	window_read(mod, &st->window[KEEL_ACCOUNT_REQUEST], KEEL_ACCOUNT_REQUEST, &requests);
	window_read(mod, &st->window[KEEL_ACCOUNT_COMMIT], KEEL_ACCOUNT_COMMIT, &commits);
	window_read(mod, &st->window[KEEL_ACCOUNT_TURN], KEEL_ACCOUNT_TURN, &turns);
	report_put(r, FIGURE_REQUEST_RATE, NULL, requests.rate);
	tell_quantiles(r, FIGURE_REQUEST_QUANTILE, &requests);
	report_account(r, FIGURE_REQUESTS, &requests.all);
	report_put(r, FIGURE_COMMIT_RATE, NULL, commits.rate);
	tell_quantiles(r, FIGURE_COMMIT_QUANTILE, &commits);
	report_put(r, FIGURE_COMMIT_LONGEST, NULL, commits.minute);
	report_account(r, FIGURE_COMMITS, &commits.all);
	report_put(r, FIGURE_STORE_TROUBLE, NULL, trouble != NULL);
	report_put(r, FIGURE_STALL, "minute", turns.minute);
	report_put(r, FIGURE_STALL, "hour", turns.hour);
	report_account(r, FIGURE_TURNS, &turns.all);
	if (trouble)
		report_why(r, "%s", r->names ? trouble : "changes cannot be saved");
	if (commits.minute * 1000 > (double)conf->slow_commit)
		report_why(r, "a transaction of the last minute took %.1f s: the disk of the store is slow", commits.minute);
	if (turns.minute * 1000 > (double)conf->stall)
		report_why(r, "no request was served for %.1f s in the last minute", turns.minute);
}

static void tell_space(struct keel_mod *mod, struct report *r)
{
	const struct state *st = mod->state;
	const double least = (double)((const struct conf *)mod->conf)->disk_free / 100;
	const struct space *s = st->space;

	if (!s) {
		report_why(r, "a file system of the server does not answer: store, spool or logs");
		return;
	}
	for (int i = 0; i < SPACES; i++)
		if (!s->at[i].error)
			report_put(r, FIGURE_FREE, space_names[i], (double)s->at[i].free);
	for (int i = 0; i < SPACES; i++)
		if (!s->at[i].error)
			report_put(r, FIGURE_SIZE, space_names[i], (double)s->at[i].size);
	report_put(r, FIGURE_STORE, NULL, (double)s->store);
	for (int i = 0; i < SPACES; i++) {
		const char *path = r->names ? s->at[i].path : "its folder";

		if (s->at[i].error)
			report_why(r, "%s: the file system of %s cannot be asked: %s", space_names[i], path,
				   strerror(s->at[i].error));
		else if ((double)s->at[i].free < least * (double)s->at[i].size)
			report_why(r, "%s: the file system of %s has %.1f %% free", space_names[i], path,
				   100 * (double)s->at[i].free / (double)s->at[i].size);
		else if ((double)s->at[i].free_files < least * (double)s->at[i].files)
			report_why(r, "%s: the file system of %s has places for %.1f %% of its files left", space_names[i], path,
				   100 * (double)s->at[i].free_files / (double)s->at[i].files);
	}
}

struct benched {
	struct report *r;
	char last[128];
	uint32_t n;
};

static void tap_look(void *arg, const struct keel_about_tap *tap)
{
	struct benched *b = arg;

	if (!tap->benched)
		return;
	if (strcmp(b->last, tap->module) != 0)
		b->n++;
	snprintf(b->last, sizeof(b->last), "%s", tap->module);
	if (b->r->names)
		report_why(b->r, "%s is not called any more, it was too slow too often: `keelson hooks --unbench %s`", tap->name,
			   tap->name);
}

/* ---- the answer -------------------------------------------------------------------------------------------------------- */

static void report_make(struct keel_mod *mod, struct report *r)
{
	const struct state *st = mod->state;
	struct benched benched = { .r = r };

	report_put(r, FIGURE_INFO, keel_version_text(mod), 1);
	report_put(r, FIGURE_UP, NULL, 1);
	report_put(r, FIGURE_DEGRADED, NULL, 0);
	report_put(r, FIGURE_START, NULL, (double)st->started);
	tell_hosts(&st->survey, r);
	tell_jobs(mod, &st->survey, r);
	tell_times(mod, r);
	tell_space(mod, r);
	keel_inspect_taps(mod, tap_look, &benched);
	report_put(r, FIGURE_BENCHED, NULL, benched.n);
	if (benched.n && !r->names)
		report_why(r, "a module is not called any more: it was too slow too often");
	r->figure[FIGURE_DEGRADED].value = r->n_why > 0; /* figures have the order of their table, these first */
}

/* The first line says how it is: "well" or "degraded"; the others are the answer in the form that was asked for. */
static void answer(struct keel_mod *mod, struct keel_req *req)
{
	struct report *r = calloc(1, sizeof(*r)); /* too long for a stack */
	uint32_t n = 0;
	const char *const *args = keel_msg_strings(keel_req_body(req), "args", &n);
	const char *form = args && n ? args[0] : "";
	struct keel_out *out = keel_out(mod);
	struct keel_text text;
	char *line, *save = NULL;

	if (r == NULL) {
		keel_out_drop(out);
		keel_reply(req, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	r->names = (keel_req_session(req)->roles & KEEL_OPERATORS) != 0;
	keel_text_init(&text);
	report_make(mod, r);
	if (strcmp(form, "--json") == 0)
		print_json(r, &text);
	else if (strcmp(form, "--metrics") == 0)
		print_metrics(r, &text);
	else
		print_text(r, &text);
	if (!out || text.failed || !text.data) {
		keel_out_drop(out);
		keel_reply(req, PBSE_SYSTEM, "System error: out of memory");
	} else {
		keel_open_array(out, "lines");
		keel_add_str(out, r->n_why ? "degraded" : "well");
		for (line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			keel_add_str(out, line);
		keel_close(out);
		keel_reply_out(req, out);
	}
	keel_text_fini(&text);
	free(r);
}

/* ---- from a request to its answer ---------------------------------------------------------------------------------------- */

static void answer_all(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct waiter *these = st->waiters, *next;

	keel_alarm_end(&st->patience);
	st->going = false;
	st->waiters = NULL;
	for (; these; these = next) {
		next = these->next;
		if (st->survey.failed || st->stopped)
			keel_reply(these->req, st->stopped ? PBSE_SVRDOWN : PBSE_SYSTEM,
				   st->stopped ? "The server ends" : "System error: out of memory");
		else
			answer(mod, these->req);
		free(these);
	}
	survey_end(&st->survey);
	free(st->space);
	st->space = NULL;
}

/* When the survey is complete, and file systems have answered or had their time. */
static void answer_when_due(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->going && st->surveyed && (st->space || !keel_alarm_is_set(&st->patience)))
		answer_all(mod);
}

static void on_impatient(struct keel_mod *mod, void *arg)
{
	(void)arg;
	answer_when_due(mod);
}

static void on_space(struct keel_mod *mod, void *space)
{
	struct state *st = mod->state;

	st->reading = false;
	if (!st->going || st->space) { /* too late */
		free(space);
		return;
	}
	st->space = space;
	answer_when_due(mod);
}

static void on_step(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->surveyed = survey_go(mod, &st->survey);
	if (!st->surveyed && keel_alarm_set(mod, &st->step, 0, on_step, NULL) < 0)
		st->survey.failed = st->surveyed = true;
	answer_when_due(mod);
}

/* A worker whose file system hangs keeps what it has, and no second one is sent there. */
static void begin(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct space *space = st->reading ? NULL : calloc(1, sizeof(*space));

	st->going = true;
	st->surveyed = false;
	survey_begin(mod, &st->survey);
	if (space) {
		space_name(mod, space);
		st->reading = keel_work(mod, space_read, on_space, space) == 0;
		if (!st->reading)
			free(space);
	}
	if (st->reading)
		keel_alarm_set(mod, &st->patience, PATIENCE_MS, on_impatient, NULL);
	on_step(mod, NULL);
}

static void on_health(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	struct waiter *one;
	uint32_t n = 0;
	const char *const *args = keel_msg_strings(keel_req_body(req), "args", &n);

	if (n > 1 || (n == 1 && strcmp(args[0], "--json") != 0 && strcmp(args[0], "--metrics") != 0)) {
		keel_reply(req, PBSE_IVALREQ, "usage: keelson health [--json | --metrics]");
		return;
	}
	one = malloc(sizeof(*one));
	if (!one) {
		keel_reply(req, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	*one = (struct waiter){ .next = st->waiters, .req = req };
	st->waiters = one;
	if (!st->going)
		begin(mod);
}

static const struct keel_request_def request = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_EVERYBODY,
	.flags = KEEL_REQUEST_READ,
	.name = "keelson.health",
	.doc = "is the server well: text, --json or --metrics",
	.handler = on_health,
};

static const struct keel_contrib contribs[] = { KEEL_ROW(REQUEST, request) };

/* ---- module -------------------------------------------------------------------------------------------------------------- */

static void on_slot(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	for (uint32_t i = 0; i < KEEL_ACCOUNTS; i++)
		window_turn(mod, &st->window[i], i);
	keel_alarm_set(mod, &st->slot, SLOT_MS, on_slot, NULL);
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)err;
	st->started = keel_time(mod);
	for (uint32_t i = 0; i < KEEL_ACCOUNTS; i++)
		window_begin(mod, &st->window[i], i);
	keel_alarm_set(mod, &st->slot, SLOT_MS, on_slot, NULL);
	return 0;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->stopped = true;
	keel_alarm_end(&st->slot);
	keel_alarm_end(&st->step);
	answer_all(mod);
}

static const char *const requires_modules[] = { "manager", "jobs", "nodes", NULL };

KEEL_MODULE(.name = "server-health", .version = "1.0", .vendor = "Keelson", .summary = "says whether the server is well, in figures",
	    .roles = KEEL_SERVER, .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), .requires_modules = requires_modules, .start = start, .stop = stop);
