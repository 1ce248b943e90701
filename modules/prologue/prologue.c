/* SPDX-License-Identifier: Apache-2.0
 *
 * prologue.c - scripts of the site before and after a job: mom_priv/prologue, mom_priv/epilogue.
 *
 *   task_prologue   on the primary: what it exits with decides whether the job starts, ends with -2 or is queued again
 *   task_epilogue   on the primary: it is logged; 2 for a job that was checkpointed: queued again
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utlist.h>

#include "keel/directive.h"
#include "keel/keel.h"
#include "keel/service/facts.h"
#include "keel/service/part.h"
#include "script.h"

#define ALARM_MAX 86400
#define HOLD_MORE_MS 10000 /* than the script may take */

/* Exit statuses of a job (spec of Exit_status): they are codes of a refusal. */
#define JOB_FAILED (-2)
#define JOB_RETRY (-3)
#define JOB_CHECKPOINTED (-12)
#define JOB_REQUEUE (-15)
#define NOT_PERMITTED (-1)

KEEL_USE_OPT(part);
KEEL_USE_OPT(facts);

struct conf {
	int64_t alarm;
};

/* A script that runs, and the operation that waits for it. */
struct run {
	struct run *prev, *next;
	struct keel_mod *mod;
	struct script *script;
	struct keel_hold *hold;
	bool epilogue, interactive, checkpointed;
	int32_t code;	/* of the refusal; 0: none */
	char text[512]; /* of a failure */
	char path[4096];
	char id[];
};
struct state {
	int64_t alarm_said; /* seconds, by mom_priv/config; 0: the configuration counts */
	struct run *runs;
};

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(DURATION, struct conf, alarm, .fallback = "30s", .min = 1, .max = ALARM_MAX * 1000LL,
		       .doc = "how long a script may take"),
};

/* ---- results --------------------------------------------------------------------------------------------------- */
static const char *word(const struct run *r)
{
	return r->epilogue ? "epilogue" : "prologue";
}

static void output_add(const struct run *r, int32_t stream, const void *bytes, uint32_t len)
{
	int64_t n = keel_has(part) && len > 0 ? keel_part_write(r->id, stream, bytes, len) : 0;

	if (n < 0)
		keel_log(r->mod, KEEL_LOG_DEBUG, "Job", r->id, "what its %s wrote is lost: %s", word(r), strerror((int)-n));
}

/* status: of the script, or NOT_PERMITTED. */
static int32_t code_of(const struct run *r, int status)
{
	if (status == 0)
		return 0;
	if (r->epilogue)
		return status == 2 && r->checkpointed ? JOB_REQUEUE : 0;
	return status == 1 || r->interactive ? JOB_FAILED : JOB_RETRY;
}

static void result_set(struct run *r, int status, const char *why)
{
	char line[600];
	int len;

	if (status == 0)
		return;
	snprintf(r->text, sizeof(r->text), "pro/epilogue failed, file: %.300s, exit: %d, %s", r->path, status, why);
	keel_log(r->mod, KEEL_LOG_ERROR, "Job", r->id, "%s", r->text);
	r->code = code_of(r, status);
	if (r->code != JOB_FAILED)
		return;
	len = snprintf(line, sizeof(line), "Could not run prolog: %s\n", r->text);
	output_add(r, 2, line, (uint32_t)len);
}

static void over(struct keel_mod *mod, void *arg, int status, const int fds[SCRIPT_STREAMS])
{
	struct run *r = arg;

	r->script = NULL;
	for (int i = 0; i < SCRIPT_STREAMS; i++) {
		uint32_t len = 0;
		char *bytes = script_output(fds[i], &len);

		output_add(r, i + 1, bytes, len);
		free(bytes);
	}
	keel_log(mod, status == SCRIPT_LATE ? KEEL_LOG_DEBUG : KEEL_LOG_DEBUG3, "Job", r->id, "completed %s, exit=%d", word(r), status);
	result_set(r, status, "nonzero p/e exit status");
	if (r->hold)
		keel_release(r->hold);
}

static void run_free(struct run *r)
{
	struct state *st = r->mod->state;

	DL_DELETE(st->runs, r);
	script_cancel(r->script);
	free(r);
}

/* The verdict of the tap. */
static keel_verdict run_end(struct keel_call *c, void *arg)
{
	struct run *r = arg;
	keel_verdict v = r->code ? keel_reject(c, r->code, "%s", r->text) : KEEL_NEXT;

	run_free(r);
	return v;
}

static void run_cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c, (void)reason;
	run_free(arg);
}

/* ---- what a script gets to know -------------------------------------------------------------------------------- */
#define ARGS 12

/* An attribute of the job; "null" when it has none. The caller frees it. */
static char *fact(const char *id, const char *attr)
{
	char *text = keel_has(facts) ? keel_facts_text(id, attr) : NULL;

	return text ? text : strdup("null");
}

static char *used_of(const char *id)
{
	char text[512];

	return strdup(keel_has(part) && keel_part_usage(id, text, sizeof(text)) == 0 ? text : "walltime=00:00:00");
}

static char *number(int64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	return strdup(text);
}

/* Owned by the caller; false: no memory. */
static bool args_fill(const struct run *r, const char *user, int64_t status, char *argv[ARGS])
{
	const struct keel_part *part = keel_has(part) ? keel_part_find(r->id) : NULL;
	int n = 0;

	memset(argv, 0, ARGS * sizeof(*argv));
	argv[n++] = strdup(r->path);
	argv[n++] = strdup(r->id);
	argv[n++] = strdup(user);
	argv[n++] = fact(r->id, "egroup");
	if (r->epilogue) {
		argv[n++] = fact(r->id, "Job_Name");
		argv[n++] = number(part ? part->session : 0);
		argv[n++] = fact(r->id, "Resource_List");
		argv[n++] = used_of(r->id);
		argv[n++] = fact(r->id, "queue");
		argv[n++] = fact(r->id, "Account_Name");
		argv[n++] = number(status);
	}
	while (n > 0)
		if (!argv[--n])
			return false;
	return true;
}

static void args_free(char *argv[ARGS])
{
	for (int i = 0; i < ARGS; i++)
		free(argv[i]);
}

/* ---- running one ----------------------------------------------------------------------------------------------- */
static struct run *run_new(struct keel_mod *mod, const char *id, const char *name)
{
	struct state *st = mod->state;
	struct run *r = calloc(1, sizeof(*r) + strlen(id) + 1);

	if (!r)
		return NULL;
	r->mod = mod;
	r->epilogue = strcmp(name, "epilogue") == 0;
	strcpy(r->id, id);
	snprintf(r->path, sizeof(r->path), "%s/mom_priv/%s", keel_home(mod), name);
	DL_APPEND(st->runs, r);
	return r;
}

static int64_t limit_of(struct keel_mod *mod)
{
	const struct state *st = mod->state;
	const struct conf *cf = mod->conf;

	return st->alarm_said ? st->alarm_said * 1000 : cf->alarm;
}

static int32_t run_begin(struct run *r, const char *user, int64_t status, struct keel_err *err)
{
	char dir[4096], *argv[ARGS];
	int32_t ret = 0;

	snprintf(dir, sizeof(dir), "%s/mom_priv", keel_home(r->mod));
	if (!args_fill(r, user, status, argv))
		ret = keel_error(err, -ENOMEM, "no memory");
	else
		r->script = script_run(r->mod, argv, dir, limit_of(r->mod), over, r, err);
	args_free(argv);
	return r->script ? 0 : ret ? ret : -ECHILD;
}

/* The answer of a tap: it waits for the script, or has a verdict at once. */
static keel_verdict run_wait(struct keel_call *c, struct run *r, const char *user, int64_t status)
{
	struct keel_hold_opts opts = {
		.size = sizeof(opts), .why = r->epilogue ? "running epilogue" : "running prologue",
		.timeout_ms = limit_of(c->mod) + HOLD_MORE_MS, .resume = run_end, .cancel = run_cancelled, .arg = r,
	};
	struct keel_err err = { .text = "" };
	keel_verdict v;

	if (!script_permitted(r->path)) {
		result_set(r, NOT_PERMITTED, "Permission Error");
		return run_end(c, r);
	}
	keel_log(c->mod, KEEL_LOG_DEBUG, "Job", r->id, "running %s", word(r));
	if (run_begin(r, user, status, &err) < 0) {
		result_set(r, NOT_PERMITTED, err.text);
		return run_end(c, r);
	}
	v = keel_hold(c, &opts, &r->hold);
	if (v != KEEL_WAIT)
		run_free(r);
	return v;
}

static bool is_there(struct keel_mod *mod, const char *name)
{
	struct stat unused;
	char path[4096];

	snprintf(path, sizeof(path), "%s/mom_priv/%s", keel_home(mod), name);
	return stat(path, &unused) == 0;
}

static keel_verdict on_prologue(struct keel_call *c, const struct keel_ev_task_prologue *ev)
{
	struct run *r;
	char *word_of;

	if (ev->index != 0 || !is_there(c->mod, "prologue"))
		return KEEL_NEXT;
	r = run_new(c->mod, ev->id, "prologue");
	if (!r)
		return keel_reject(c, JOB_RETRY, "no memory to run the prologue");
	word_of = fact(ev->id, "interactive");
	r->interactive = word_of && strcmp(word_of, "null") != 0 && strcasecmp(word_of, "False") != 0 && strcmp(word_of, "0") != 0;
	free(word_of);
	return run_wait(c, r, ev->user, 0);
}

static keel_verdict on_epilogue(struct keel_call *c, const struct keel_ev_task_epilogue *ev)
{
	const struct keel_part *part = keel_has(part) ? keel_part_find(ev->id) : NULL;
	struct run *r;

	if (ev->index != 0 || !is_there(c->mod, "epilogue"))
		return KEEL_NEXT;
	r = run_new(c->mod, ev->id, "epilogue");
	if (!r)
		return keel_fail(c, "no memory to run the epilogue");
	r->checkpointed = ev->exit_status == JOB_CHECKPOINTED;
	return run_wait(c, r, part && part->user ? part->user : "null", ev->exit_status);
}

/* ---- $prologalarm ------------------------------------------------------------------------------------------------ */
static int32_t alarm_check(struct keel_mod *mod, const char *value, struct keel_err *err)
{
	(void)mod;
	return keel_directive_number(value, 1, ALARM_MAX, NULL, err);
}

static void alarm_apply(struct keel_mod *mod, const char *const *values, uint32_t n)
{
	struct state *st = mod->state;

	st->alarm_said = 0;
	if (n > 0)
		keel_directive_number(values[0], 1, ALARM_MAX, &st->alarm_said, NULL);
}

static const struct keel_mom_directive_def alarm_row = {
	.size = sizeof(alarm_row), .name = "$prologalarm", .doc = "seconds that a prologue or epilogue may take",
	.check = alarm_check, .apply = alarm_apply,
};

/* ---- the module -------------------------------------------------------------------------------------------------- */
#define FACT(attr) { .size = sizeof(struct keel_host_fact_def), .name = attr, .doc = "an argument of the scripts" }
static const struct keel_host_fact_def facts[] = {
	FACT("egroup"), FACT("Job_Name"), FACT("Resource_List"), FACT("queue"), FACT("Account_Name"), FACT("interactive"),
};
static const struct keel_contrib contribs[] = {
	KEEL_ROW(MOM_DIRECTIVE, alarm_row), KEEL_ROW(HOST_FACT, facts[0]), KEEL_ROW(HOST_FACT, facts[1]),
	KEEL_ROW(HOST_FACT, facts[2]),	    KEEL_ROW(HOST_FACT, facts[3]), KEEL_ROW(HOST_FACT, facts[4]),
	KEEL_ROW(HOST_FACT, facts[5]),
};
static const struct keel_tap taps[] = {
	KEEL_TAP(task_prologue, on_prologue),
	KEEL_TAP(task_epilogue, on_epilogue),
};

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->runs)
		run_free(st->runs);
}

KEEL_MODULE(.name = "prologue", .version = "1.0", .vendor = "Keelson", .summary = "prologue and epilogue scripts of a host",
	    .roles = KEEL_SERVER | KEEL_MOM, .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules), KEEL_CONTRIBS(contribs),
	    KEEL_TAPS(taps), .fini = fini);
