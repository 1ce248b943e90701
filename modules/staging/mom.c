/* SPDX-License-Identifier: Apache-2.0
 *
 * mom.c - files of a job on its primary host, before its program and after its last process.
 *
 *   task_prologue   stagein:  copying -> done | failed: the start is refused with -3, after a note to the server
 *   task_epilogue   stageout: copying -> removing (all is there: what was staged out, then what was staged in)
 *                                      | keeping (something is not) -> done
 *
 * One copy of a job at a time, each by keelson-copy as the job's user, under service supervise. One that fails is tried again
 * after some seconds, unless a file is missing.
 */
#include "staging.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utlist.h>

#include "keel/directive.h"
#include "keel/link.h"
#include "keel/service/facts.h"
#include "keel/service/part.h"
#include "keel/service/supervise.h"
#include "keel/strings.h"
#include "keel/text.h"

#define WORDS_MAX 4096	 /* of a program that fails: bytes that are kept */
#define REPORT_MAX 65536 /* of a note */
#define HOLD_MS (7 * 86400000LL)
#define JOB_RETRY (-3)

KEEL_USE(link);
KEEL_USE(facts);
KEEL_USE(supervise);
KEEL_USE_OPT(part);

static const int64_t pauses_ms[] = { 1000, 11000, 11000 };

struct stage {
	struct stage *prev, *next;
	struct keel_mod *mod;
	struct keel_hold *hold;
	struct keel_run *run;
	struct keel_timer *timer;
	bool out, private;
	struct copies copies, staged; /* staged: what was staged in, at the end */
	uint32_t at, tries, failed, removals;
	int64_t began_ms, run_version;
	struct keel_text report;
	char *first; /* in a line: what failed, why, and where it is kept */
	char *user, *dir; /* dir: of the job, below the home unless it begins with a slash */
	char id[];
};

static void copy_begin(struct stage *s);

static void stage_free(struct stage *s)
{
	struct state *st = s->mod->state;

	DL_DELETE(st->stages, s);
	keel_timer_cancel(s->timer);
	keel_supervise_run_cancel(s->run);
	copies_free(&s->copies);
	copies_free(&s->staged);
	keel_text_fini(&s->report);
	free(s->first);
	free(s->user);
	free(s->dir);
	free(s);
}

static void note_send(const struct stage *s, const char *what, const char *text)
{
	struct keel_out *out = keel_out(s->mod);

	if (!out)
		return;
	keel_put_str(out, "id", s->id);
	keel_put_int(out, "run", s->run_version);
	keel_put_str(out, "what", what);
	keel_put_str(out, "text", text);
	if (s->first)
		keel_put_str(out, "first", s->first);
	if (keel_link_send(s->mod, "server", "staging.note", out) < 0)
		keel_log(s->mod, KEEL_LOG_ERROR, "Job", s->id, "the server does not hear of its files: there is no link");
}

/* ---- the end ------------------------------------------------------------------------------------------------------------- */
static keel_verdict stage_end(struct keel_call *c, void *arg)
{
	struct stage *s = arg;
	keel_verdict v = KEEL_NEXT;

	if (!s->out && s->failed)
		v = keel_reject(c, JOB_RETRY, "File stage in failed");
	stage_free(s);
	return v;
}

static void stage_cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c, (void)reason;
	stage_free(arg);
}

static void stage_release(struct stage *s)
{
	if (s->hold)
		keel_release(s->hold);
}

/* ---- keelson-copy ------------------------------------------------------------------------------------------------------------ */
/* Begins `words`, behind the program's own path. The words are borrowed. */
static bool act_begin(struct stage *s, const char *const *words, uint32_t n, keel_run_fn *done)
{
	const struct conf *cf = s->mod->conf;
	const char **argv = calloc(n + 2, sizeof(*argv));
	struct keel_err err = { .text = "no memory" };
	char *program = NULL;

	if (argv && asprintf(&program, "%s/libexec/keelson/keelson-copy", keel_exec_dir(s->mod)) >= 0) {
		argv[0] = program;
		memcpy(argv + 1, words, n * sizeof(*argv));
		s->run = keel_supervise_run(s->mod, &(struct keel_run_opts){
			.size = sizeof(struct keel_run_opts), .profile = KEEL_PROFILE_PLAIN, .argv = argv, .user = s->user,
			.input = "", .output_max = WORDS_MAX, .timeout_ms = cf->copy_limit }, done, s, &err);
	}
	free(program);
	free(argv);
	if (!s->run)
		keel_log(s->mod, KEEL_LOG_ERROR, "Job", s->id, "its files: %s", err.text);
	return s->run != NULL;
}

static void clean_next(struct stage *s);

static void cleaned(struct keel_mod *mod, void *arg, const char *error, int32_t status, const char *output, uint32_t len)
{
	struct stage *s = arg;

	(void)len;
	s->run = NULL;
	if (error || status)
		keel_log(mod, KEEL_LOG_DEBUG, "Job", s->id, "its staged files: %s", error ? error : output);
	clean_next(s);
}

static bool removal_begin(struct stage *s, const char *verb, const struct copies *of)
{
	const char **words = calloc(of->n + 2, sizeof(*words));
	uint32_t n = 0;
	bool begun;

	if (!words)
		return false;
	words[n++] = verb;
	words[n++] = s->dir;
	for (uint32_t i = 0; i < of->n; i++)
		if (!of->at[i].spooled)
			words[n++] = of->at[i].local;
	begun = n > 2 && act_begin(s, words, n, cleaned);
	free(words);
	return begun;
}

/* All is there: what was copied out goes, then what was copied in; of that files alone, as what is in a directory may be the
 * user's since. */
static void clean_next(struct stage *s)
{
	while (!s->failed && s->removals < 2) {
		bool in = s->removals++ == 1;

		if (removal_begin(s, in ? "remove-files" : "remove", in ? &s->staged : &s->copies)) {
			if (in)
				keel_log(s->mod, KEEL_LOG_DEBUG, "Job", s->id, "delete file request received");
			return;
		}
	}
	stage_release(s);
}

/* The directory of a job whose files could not be copied is not removed with it. */
static void keep_begin(struct stage *s)
{
	const char *words[] = { "keep", s->dir };

	if (!s->private || !act_begin(s, words, 2, cleaned))
		stage_release(s);
}

static void stage_over(struct stage *s)
{
	int64_t took = (keel_now_ms(s->mod) - s->began_ms) / 1000;
	uint32_t n = s->copies.n;

	keel_log(s->mod, KEEL_LOG_DEBUG2, "Job", s->id, "Staged %u/%u items %s over %lld:%02lld:%02lld", n - s->failed, n,
		 s->out ? "out" : "in", (long long)(took / 3600), (long long)(took / 60 % 60), (long long)(took % 60));
	if (s->failed)
		note_send(s, s->out ? NOTE_OUT_FAILED : NOTE_IN_FAILED, s->report.failed ? "no memory" : s->report.data);
	if (s->out && !s->failed)
		clean_next(s);
	else if (s->out)
		keep_begin(s);
	else
		stage_release(s);
}

/* ---- one copy after the other ---------------------------------------------------------------------------------------------------- */
static void report_line(struct stage *s, const char *text)
{
	keel_log(s->mod, KEEL_LOG_DEBUG2, "Job", s->id, "%s", text);
	if (s->report.len < REPORT_MAX)
		keel_text_printf(&s->report, "%s\n", text);
}

static void failure_report(struct stage *s, const struct copy *c, const char *words)
{
	const char *host = *c->host ? c->host : keel_host_name(s->mod);
	char line[9000];
	int len = (int)strlen(words);

	while (len > 0 && words[len - 1] == '\n')
		len--;
	if (s->out)
		snprintf(line, sizeof(line), "Unable to copy file %s to %s:%s", c->local, host, c->path);
	else
		snprintf(line, sizeof(line), "Unable to copy file %s from %s:%s", c->local, host, c->path);
	report_line(s, line);
	report_line(s, ">>> error from copy");
	snprintf(line, sizeof(line), "%.*s", len, words);
	report_line(s, line);
	report_line(s, ">>> end error output");
	if (c->spooled) {
		snprintf(line, sizeof(line), "Output retained on that host in: %s/undelivered/%s", keel_home(s->mod),
			 strrchr(c->local, '/') + 1);
		report_line(s, line);
	}
}

/* Programs that copy say many lines; the last one is nearest to the reason. Malloc'ed; NULL without memory. */
static char *last_line(const char *words)
{
	size_t len = strlen(words), from;

	while (len > 0 && strchr("\r\n", words[len - 1]))
		len--;
	for (from = len; from > 0 && words[from - 1] != '\n'; from--)
		;
	return strndup(words + from, len - from);
}

/* The first one is what the comment of the job has room for. */
static void first_note(struct stage *s, const struct copy *c, const char *words)
{
	const char *host = *c->host ? c->host : keel_host_name(s->mod), *name = strrchr(c->local, '/');
	char *line = s->first ? NULL : last_line(words);

	if (!line)
		return;
	if (!c->spooled && asprintf(&s->first, "%s not copied to %s:%s: %s", c->local, host, c->path, line) < 0)
		s->first = NULL;
	if (c->spooled && asprintf(&s->first, "standard %s not delivered to %s:%s: %s; kept in %s:%s/undelivered%s",
				   name && strstr(name, ".ER") ? "error" : "output", host, c->path, line, keel_host_name(s->mod),
				   keel_home(s->mod), name ? name : "/") < 0)
		s->first = NULL;
	free(line);
}

static void copy_next(struct stage *s)
{
	bool stop = s->failed && !s->out; /* the job does not start: no use in the rest */

	s->at++;
	s->tries = 0;
	if (stop || s->at >= s->copies.n)
		stage_over(s);
	else
		copy_begin(s);
}

static void pause_over(struct keel_mod *mod, void *arg)
{
	struct stage *s = arg;

	(void)mod;
	s->timer = NULL;
	copy_begin(s);
}

static void copy_failed(struct stage *s, const char *words)
{
	bool missing = strstr(words, "No such file or directory") != NULL;

	if (!missing && s->tries < KEEL_COUNT(pauses_ms)) {
		s->timer = keel_timer(s->mod, pauses_ms[s->tries++], pause_over, s);
		if (s->timer)
			return;
	}
	s->failed += s->out ? 1 : s->copies.n - s->at;
	failure_report(s, &s->copies.at[s->at], words);
	if (s->out)
		first_note(s, &s->copies.at[s->at], words);
	copy_next(s);
}

static void copied(struct keel_mod *mod, void *arg, const char *error, int32_t status, const char *output, uint32_t len)
{
	struct stage *s = arg;
	struct copy *c = &s->copies.at[s->at];

	(void)mod, (void)len;
	s->run = NULL;
	if (error || status) {
		copy_failed(s, error ? error : output);
		return;
	}
	c->done = true;
	if (c->spooled)
		unlink(c->local);
	copy_next(s);
}

static void copy_begin(struct stage *s)
{
	const struct state *st = s->mod->state;
	const struct copy *c = &s->copies.at[s->at];
	static char *const local[] = { "cp", "-rp", "--", NULL };
	char *const *program = *c->host ? st->scp : local;
	const char *words[64] = { s->out ? "out" : "in", s->dir, c->local, c->host, c->path };
	uint32_t n = 5;

	for (; program && *program && n < KEEL_COUNT(words); program++)
		words[n++] = *program;
	if (!act_begin(s, words, n, copied))
		copy_failed(s, "the program that copies could not be started");
}

/* ---- taps ------------------------------------------------------------------------------------------------------------------------ */
static char *dir_of(const struct state *st, const char *id, bool *ret_private)
{
	char *text = keel_facts_text(id, "sandbox"), *dir = NULL;

	*ret_private = text && strcasecmp(text, "PRIVATE") == 0;
	free(text);
	if (!*ret_private)
		return strdup(".");
	if (asprintf(&dir, "%s%spbs.%s.x8z", st->jobdir_root ? st->jobdir_root : "", st->jobdir_root ? "/" : "", id) < 0)
		return NULL;
	return dir;
}

static struct stage *stage_new(struct keel_mod *mod, const char *id, const char *user, bool out, struct copies *copies)
{
	struct state *st = mod->state;
	const struct keel_part *part = keel_has(part) ? keel_part_find(id) : NULL;
	struct stage *s = calloc(1, sizeof(*s) + strlen(id) + 1);

	if (!s) {
		copies_free(copies);
		return NULL;
	}
	s->mod = mod;
	s->out = out;
	s->copies = *copies;
	s->began_ms = keel_now_ms(mod);
	s->run_version = part ? part->run : 0;
	strcpy(s->id, id);
	keel_text_init(&s->report);
	DL_APPEND(st->stages, s);
	s->user = strdup(user ? user : part && part->user ? part->user : "");
	s->dir = dir_of(st, id, &s->private);
	if (s->user && *s->user && s->dir)
		return s;
	stage_free(s);
	return NULL;
}

/* The answer of a tap: it waits until all is copied. */
static keel_verdict stage_wait(struct keel_call *c, struct stage *s)
{
	struct keel_hold_opts opts = {
		.size = sizeof(opts), .why = s->out ? "files are staged out" : "files are staged in", .timeout_ms = HOLD_MS,
		.resume = stage_end, .cancel = stage_cancelled, .arg = s,
	};
	keel_verdict v = keel_hold(c, &opts, &s->hold);

	if (v != KEEL_WAIT) {
		stage_free(s);
		return v;
	}
	if (s->copies.n == 0) {
		clean_next(s);
		return v;
	}
	keel_log(c->mod, KEEL_LOG_DEBUG, "Job", s->id, "copy file request received");
	note_send(s, s->out ? NOTE_OUT : NOTE_IN, "");
	copy_begin(s);
	return v;
}

/* "staging.here", at each link. */
void on_here(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	(void)peer, (void)msg;
	((struct state *)mod->state)->server_stages = true;
}

keel_verdict on_prologue(struct keel_call *c, const struct keel_ev_task_prologue *ev)
{
	const struct state *st = keel_state(c);
	struct copies copies;
	struct stage *s;

	if (ev->index != 0)
		return KEEL_NEXT;
	if (st->server_stages && !keel_facts_known(ev->id)) /* the message was lost with its link */
		return keel_reject(c, JOB_RETRY, "the host does not know which files the job wants staged");
	if (copies_find(c->mod, ev->id, "stagein", NULL, &copies) < 0)
		return keel_reject(c, JOB_RETRY, "its files to be staged in cannot be read: no memory");
	if (copies.n == 0)
		return KEEL_NEXT;
	s = stage_new(c->mod, ev->id, ev->user, false, &copies);
	return s ? stage_wait(c, s) : keel_reject(c, JOB_RETRY, "no memory to stage its files in");
}

/* Did it run, and is it over? One that is queued again makes its files once more. */
static bool is_final(int64_t status)
{
	return status >= 0 || (status <= -23 && status >= -29) || status == -2;
}

keel_verdict on_epilogue(struct keel_call *c, const struct keel_ev_task_epilogue *ev)
{
	const struct keel_part *part = keel_has(part) ? keel_part_find(ev->id) : NULL;
	struct copies copies, staged = { .n = 0 };
	struct stage *s;

	if (ev->index != 0 || !is_final(ev->exit_status))
		return KEEL_NEXT;
	if (copies_find(c->mod, ev->id, "stageout", &ev->exit_status, &copies) < 0 ||
	    (part && part->started && copies_find(c->mod, ev->id, "stagein", NULL, &staged) < 0)) {
		copies_free(&copies);
		return keel_fail(c, "its files to be staged out cannot be read: no memory");
	}
	if (copies.n == 0 && staged.n == 0)
		return KEEL_NEXT;
	s = stage_new(c->mod, ev->id, NULL, true, &copies);
	if (s)
		s->staged = staged;
	else
		copies_free(&staged);
	return s ? stage_wait(c, s) : keel_fail(c, "no memory to stage its files out");
}

/* ---- mom_priv/config -------------------------------------------------------------------------------------------------------------- */
static int32_t anything(struct keel_mod *mod, const char *value, struct keel_err *err)
{
	(void)mod, (void)value, (void)err;
	return 0; /* executor, which obeys it too, has checked it */
}

static void jobdir_apply(struct keel_mod *mod, const char *const *values, uint32_t n)
{
	struct state *st = mod->state;

	free(st->jobdir_root);
	st->jobdir_root = n > 0 ? strndup(values[0], strcspn(values[0], " \t")) : NULL;
}

const struct keel_mom_directive_def jobdir_row = {
	.size = sizeof(jobdir_row), .name = "$jobdir_root", .doc = "where private directories are", .check = anything,
	.apply = jobdir_apply,
};

int32_t mom_init(struct keel_mod *mod, struct keel_err *err)
{
	const struct conf *cf = mod->conf;
	struct state *st = mod->state;

	st->scp = scp_find(cf->scp);
	if (st->scp && st->scp[0])
		return 0;
	keel_strings_free(st->scp);
	st->scp = NULL;
	return keel_error(err, -ENOMEM, "no program that copies between hosts is named");
}

void mom_fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->stages)
		stage_free(st->stages);
	keel_strings_free(st->scp);
	free(st->jobdir_root);
}
