/* SPDX-License-Identifier: Apache-2.0
 *
 * outcome.c - the end of a run: what the log says of it (spec 32 5.1, 5.2, 5.4), and accounts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "run.h"

#define LINES_MAX 200 /* of a traceback */

static void compiling(struct run *r)
{
	struct keel_mod *mod = r->st->mod;
	const char *server = keel_server_name(mod);
	bool of_mom = r->event->daemon == KEEL_MOM;
	char path[1024], object[300];

	setup_path(r->hook, of_mom, mod, path, sizeof(path));
	snprintf(object, sizeof(object), "Server@%.*s", (int)strcspn(server, "."), server);
	keel_log(mod, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN | KEEL_LOG_DEBUG, "Svr", of_mom ? "pbs_python" : object,
		 "Compiling script file: <%s>", path);
}

void run_started(struct run *r)
{
	keel_log(r->st->mod, KEEL_LOG_DEBUG3, "Hook", r->name, "started");
	if (r->hook && !r->hook->announced) {
		r->hook->announced = true;
		compiling(r);
	}
}

/* ---- log ------------------------------------------------------------------------------------------------- */
/* Each line of a text. */
static void lines_log(struct run *r, const char *text)
{
	size_t len;

	for (int n = 0; text && *text && n < LINES_MAX; n++) {
		len = strcspn(text, "\n");
		if (len > 0)
			keel_log(r->st->mod, KEEL_LOG_ERROR, "Hook", r->name, "%.*s", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

static void rejected_log(struct run *r, const char *text)
{
	bool of_mom = r->event->daemon == KEEL_MOM, of_job = of_mom && r->id[0] != '\0';
	uint32_t level = of_mom ? KEEL_LOG_DEBUG2 : KEEL_LOG_DEBUG3;

	keel_log(r->st->mod, level, "Hook", r->name, "%s request rejected by '%s'", r->event->name, r->name);
	if (text && text[0])
		keel_log(r->st->mod, of_job ? KEEL_LOG_JOB : level, of_job ? "Job" : "Hook", of_job ? r->id : r->name, "%s", text);
}

static void broken_log(struct run *r, const struct result *result)
{
	bool of_job = r->event->daemon == KEEL_MOM && r->id[0] != '\0';
	uint32_t level = of_job ? KEEL_LOG_JOB : KEEL_LOG_DEBUG2;
	const char *klass = of_job ? "Job" : "Hook", *object = of_job ? r->id : r->name;

	if (result->how == ALARM) {
		keel_log(r->st->mod, level, klass, object, "alarm call while running %s hook '%s', request rejected", r->event->name, r->name);
		return;
	}
	keel_log(r->st->mod, level, klass, object, "%s hook '%s' encountered an exception, request rejected", r->event->name, r->name);
	keel_log(r->st->mod, KEEL_LOG_ERROR, "Hook", r->name, "Error evaluating Python script%s%s", result->text ? ": " : "",
		 result->text ? result->text : "");
	lines_log(r, result->trace);
}

/* ---- accounts -------------------------------------------------------------------------------------------- */
static void account(const struct run *r, const struct result *result)
{
	struct hook *h = r->hook;
	enum event_id e = run_event(r);
	uint64_t us = result->us > 0 ? (uint64_t)result->us : 0;
	const char *text = result->how == ALARM ? "it ran longer than its alarm" : result->text ? result->text : "";

	if (!h)
		return;
	h->times[e].runs++;
	h->times[e].us += us;
	if (us > h->times[e].longest_us)
		h->times[e].longest_us = us;
	if (result->how == ACCEPTED || result->how == REJECTED)
		return;
	h->times[e].errors++;
	h->times[e].last_at = keel_time(r->st->mod);
	words_of_script(text, h->times[e].last, sizeof(h->times[e].last));
}

void run_ended(struct run *r, const struct result *result)
{
	keel_log(r->st->mod, KEEL_LOG_DEBUG3, "Hook", r->name, "finished");
	account(r, result);
	if (result->how == REJECTED)
		rejected_log(r, result->text);
	else if (result->how != ACCEPTED)
		broken_log(r, result);
	record_out(r, result);
}

/* The status that a child had. */
void run_exit_log(const struct run *r, const struct result *result)
{
	keel_log(r->st->mod, KEEL_LOG_DEBUG2, "Hook", r->name, "Non-zero exit status %d encountered for %s hook",
		 result->how == REJECTED ? 255 : 254, r->event->name);
}
