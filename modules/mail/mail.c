/* SPDX-License-Identifier: Apache-2.0
 *
 * mail.c - mail to the users of a job: that it begins, ends or is aborted.
 *
 *   job_started, job_step   it begins; an array has begun
 *   job_obit                it has ended, perhaps because it was over a limit
 *   job_notice              it is deleted, or the system ends it
 *   job_known               it began before we came
 */
#include "mail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

KEEL_ATTRS_OF(job, mail_suppressed, job_state);
KEEL_ATTR_OPT(job, remark);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(STRING, struct conf, sendmail, .fallback = "/usr/sbin/sendmail",
		       .doc = "the program that mail is handed to, as sendmail is; empty: no mail"),
	KEEL_CONF_RULE(DURATION, struct conf, timeout, .fallback = "30s", .min = 100, .max = 600000,
		       .doc = "how long it may take"),
	KEEL_CONF_RULE(INT, struct conf, queue, .fallback = "1000", .min = 1, .max = 100000,
		       .doc = "how many mails may wait; those beyond are not sent"),
};

static keel_verdict on_started(struct keel_call *c, const struct keel_ev_job_started *ev)
{
	if (ev->job)
		write_about(c->mod, ev->job, 'b', NULL);
	return KEEL_NEXT;
}

static keel_verdict on_step(struct keel_call *c, const struct keel_ev_job_step *ev)
{
	struct slot *s = ev->job && ev->state == 'B' ? keel_slot(c->mod, ev->job) : NULL;

	if (!s || s->begun)
		return KEEL_NEXT;
	s->begun = true;
	write_about(c->mod, ev->job, 'b', NULL);
	return KEEL_NEXT;
}

static keel_verdict on_obit(struct keel_call *c, const struct keel_ev_job_obit *ev)
{
	const char *why = reason_of_status(ev->exit_status), *more = job_remark && ev->job ? keel_get_str(ev->job, job_remark) : NULL;
	bool said = ev->exit_status != -29 && ev->why && *ev->why;
	char text[1400];

	if (!ev->job || keel_is_set(ev->job, job_mail_suppressed))
		return KEEL_NEXT;
	if (why) {
		snprintf(text, sizeof(text), "%s%s%.300s%s%s", why, said ? "\n" : "", said ? ev->why : "", more ? "\n" : "", more ? more : "");
		write_about(c->mod, ev->job, 'a', text);
	}
	write_about(c->mod, ev->job, 'e', NULL);
	return KEEL_NEXT;
}

static keel_verdict on_notice(struct keel_call *c, const struct keel_ev_job_notice *ev)
{
	if (ev->job && ev->letter[0] == 'n')
		keel_set_int(ev->job, job_mail_suppressed, 1);
	else if (ev->job)
		write_about(c->mod, ev->job, ev->letter[0], ev->text);
	return KEEL_NEXT;
}

/* Mail that it has begun was sent by the daemon before this one. */
static keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	struct slot *s = keel_slot(c->mod, ev->job);
	char letter[8];

	if (s && keel_get_text(ev->job, job_job_state, NULL, letter, sizeof(letter)) > 0)
		s->begun = strcmp(letter, "B") == 0;
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_started, on_started),
	KEEL_TAP(job_step, on_step),
	KEEL_TAP(job_obit, on_obit),
	KEEL_TAP(job_notice, on_notice),
	KEEL_TAP(job_known, on_known),
};

/* Kept, as a job that is deleted may end after a restart. */
static const struct keel_attr_def quiet =
	KEEL_ATTR_DEF("job", "mail_suppressed", "bool", .order = 950, .flags = KEEL_ATTR_SAVE,
		      .doc = "nobody wants to hear of its end");

static const struct keel_contrib contribs[] = {
	KEEL_ROW(ATTR, quiet),
	KEEL_ROW(SERVICE, mail_service),
};

/* ---- module ------------------------------------------------------------------------------------------- */

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	st->post.end = &st->post.first;
	return keel_slot_bind(mod, "job", sizeof(struct slot), NULL) ? keel_error(err, -1, "out of memory") : 0;
}

static int32_t reconf(struct keel_mod *mod, const void *now, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)now, (void)err;
	st->post.failing = false; /* the program may be another: its errors are logged again */
	return 0;
}

/* The callback of a mail program that runs needs this module. */
static int32_t busy(struct keel_mod *mod, struct keel_err *why)
{
	const struct conf *conf = mod->conf;
	const struct state *st = mod->state;
	int64_t n = st->post.waiting + st->post.sending;

	return n ? keel_error(why, -EBUSY, "%lld mails are being handed to %s; ask again when they are sent",
			      (long long)n, conf->sendmail)
		 : 0;
}

static const char *const requires_modules[] = { "manager", "jobs", NULL };

KEEL_MODULE(.name = "mail", .version = "1.0", .vendor = "Keelson",
	    .summary = "tells people by mail what becomes of their jobs", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .requires_modules = requires_modules,
	    .init = init, .reconf = reconf, .busy = busy, .fini = post_close);
