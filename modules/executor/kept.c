/* SPDX-License-Identifier: Apache-2.0
 *
 * kept.c - what went wrong beside a task: output that could not be placed, why, and where it is kept; a program that could not be
 * executed. From the shepherd's diary into the host's log and to the listeners on the server.
 */
#include "executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/text.h"

static const char not_here[] = "its place is on another host, and nothing has copied it there (module staging, $usecp)";
static const char *const suffixes[] = { ".OU", ".ER" }, *const streams[] = { "standard output", "standard error" };

/* One stream: its lines of the letter, and of the log. */
static void kept_add(struct keel_mod *mod, struct task *t, const char *at, const char *dest, const char *why, struct keel_text *text)
{
	keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "output could not be copied; it is retained in %s", at);
	keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "Unable to copy file to %s: %s", *dest ? dest : "its place", why);
	keel_text_printf(text, "Unable to copy file %s to %s\n>>> error from copy\n%s\n>>> end error output\n"
			       "Output retained on that host in: %s\n", at, *dest ? dest : "its place", why, at);
}

static char *kept_line(struct keel_mod *mod, const char *stream, const char *why, const char *at, int more)
{
	char *line;

	if (asprintf(&line, "%s%s not delivered: %s; kept in %s:%s", stream, more ? " and standard error" : "", why,
		     keel_host_name(mod), at) < 0)
		return NULL;
	return line;
}

void kept_take(struct keel_mod *mod, struct task *t, const struct diary *d)
{
	struct keel_text text;
	char usual[4200];

	free(t->kept_why);
	free(t->kept_text);
	t->kept_why = t->kept_text = NULL;
	t->kept_elsewhere = true;
	keel_text_init(&text);
	for (int i = 0; i < 2; i++) {
		const char *at = d->kept[i].at, *why = d->kept[i].why;

		if (d->placed < 0 || !(d->placed >> i & 1))
			continue;
		snprintf(usual, sizeof(usual), "%s/undelivered/%s%s", keel_home(mod), t->id, suffixes[i]);
		t->kept_elsewhere = t->kept_elsewhere && !*why;
		at = *at ? at : usual;
		why = *why ? why : not_here;
		kept_add(mod, t, at, d->kept[i].dest, why, &text);
		if (!t->kept_why)
			t->kept_why = kept_line(mod, streams[i], why, at, t->missed > 1);
	}
	t->kept_text = text.failed || !text.len ? NULL : strdup(text.data);
	keel_text_fini(&text);
}

void kept_remark(struct keel_mod *mod, struct task *t, const struct diary *d)
{
	free(t->remark);
	if (asprintf(&t->remark, "%s could not run its program: %s", keel_host_name(mod), d->unrun) < 0)
		t->remark = NULL;
	else
		keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "%s", t->remark);
}

void kept_put(const struct task *t, struct keel_out *out)
{
	if (t->remark)
		keel_put_str(out, "remark", t->remark);
	if (!t->kept_why)
		return;
	keel_put_str(out, "kept_why", t->kept_why);
	if (t->kept_text)
		keel_put_str(out, "kept_text", t->kept_text);
	keel_put_int(out, "kept_elsewhere", t->kept_elsewhere);
}

void kept_tell(struct keel_mod *mod, const char *peer, struct keel_obj *job, const struct keel_msg *m)
{
	const char *why = keel_msg_str(m, "kept_why"), *text = keel_msg_str(m, "kept_text"), *remark = keel_msg_str(m, "remark");

	if (remark && *remark)
		TELL(mod, remark, job, remark);
	if (why && *why)
		TELL(mod, undelivered, job, peer, why, text ? text : why, keel_msg_int(m, "kept_elsewhere", 0) != 0);
}
