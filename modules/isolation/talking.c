/* SPDX-License-Identifier: Apache-2.0
 *
 * talking.c - messages to the process, the answers that it owes, and its own messages: one that does not parse ends it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "isolation.h"

#define LOGS_BURST 5000
#define LOGS_PER_SECOND 1000
#define LOGS_TOLD_MS 1000

/* ---- to the process -------------------------------------------------------------------------------- */
struct talk *tell_begin(struct isolated *iso, enum down what, ...)
{
	va_list values;

	iso->out.len = 0;
	iso->out.failed = false;
	va_start(values, what);
	talk_int(&iso->out, what);
	talk_values(&iso->out, down_arguments[what], values);
	va_end(values);
	return &iso->out;
}

static void ignore(struct isolated *iso, void *arg, struct talk_in *in, const char *why)
{
	(void)iso, (void)arg, (void)in, (void)why;
}

bool tell(struct isolated *iso, owed_fn *fn, void *arg)
{
	struct owed *o = malloc(sizeof(*o));

	if (!o || iso->out.failed || !iso->process || keel_supervise_send(iso->process, iso->out.data, iso->out.len) < 0) {
		free(o);
		return false;
	}
	*o = (struct owed){ .fn = fn, .arg = arg };
	*iso->owed_end = o;
	iso->owed_end = &o->next;
	iso->n_owed++;
	keel_supervise_owes(iso->process);
	return true;
}

bool tell_ignored(struct isolated *iso)
{
	return tell(iso, ignore, NULL);
}

void owed_forget(struct isolated *iso, const void *arg)
{
	for (struct owed *o = iso->owed; o; o = o->next)
		if (o->arg == arg)
			*o = (struct owed){ .next = o->next, .fn = ignore };
}

static void owed_pay(struct isolated *iso, struct talk_in *in, const char *why)
{
	struct owed *o = iso->owed, was = *o;

	iso->owed = o->next;
	if (!iso->owed)
		iso->owed_end = &iso->owed;
	iso->n_owed--;
	free(o);
	was.fn(iso, was.arg, in, why);
}

void owed_fail(struct isolated *iso, const char *why)
{
	while (iso->owed)
		owed_pay(iso, NULL, why);
}

/* ---- records: as many as a busy module writes, not as many as a broken one ------------------------- */
bool log_may(struct isolated *iso)
{
	int64_t now = keel_now_ms(iso->st->mod), fresh = (now - iso->log.at_ms) * LOGS_PER_SECOND / 1000;

	if (fresh > 0) {
		iso->log.left = fresh >= LOGS_BURST - iso->log.left ? LOGS_BURST : iso->log.left + fresh;
		iso->log.at_ms = now;
	}
	if (iso->log.lost > 0 && now - iso->log.told_ms >= LOGS_TOLD_MS) {
		iso_log(iso, KEEL_LOG_ERROR, "%lld records of its process were too many and are not here",
			(long long)iso->log.lost);
		iso->log.lost = 0;
		iso->log.told_ms = now;
	}
	if (iso->log.left > 0) {
		iso->log.left--;
		return true;
	}
	if (iso->log.lost++ == 0)
		iso->log.told_ms = now;
	return false;
}

void iso_log(const struct isolated *iso, uint32_t event, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	keel_log(iso->mod, event, "Module", iso->name, "%s", text);
}

void asked_log(struct asked *a, const struct value *v)
{
	struct isolated *iso = a->iso;

	if (log_may(iso))
		keel_log(iso->mod, (uint32_t)v[0].i & ~(uint32_t)KEEL_LOG_FORCE, v[1].s, v[2].s, "%s",
			 v[3].s ? v[3].s : "");
}

/* ---- hearing --------------------------------------------------------------------------------------- */
static asked_fn *const asked[UP_LAST] = {
#define ASK(name, arguments, answer) [UP_##name] = asked_##name,
#define TELL(name, arguments) [UP_##name] = asked_##name,
#include "talk.def"
};

void bad(struct isolated *iso)
{
	keel_supervise_give_up(iso->process, "its process sent what is no message");
}

/* The replay may be as long as it is; replies that the process does not read may not. */
static void reply(struct isolated *iso, const struct talk *out)
{
	int32_t queued = keel_supervise_send(iso->process, out->data, out->len);

	iso->unread = queued > 0 ? iso->unread + out->len : 0;
	if (iso->unread > UNREAD_MAX)
		keel_supervise_give_up(iso->process, "its process does not read what it is told");
}

static void asks(struct isolated *iso, int64_t what, struct talk_in *in)
{
	int64_t number = take_int(in);
	struct talk out = { .data = NULL };
	struct asked a = { .iso = iso, .call = slot_get(&iso->calls, number), .out = &out };
	struct value v[VALUES];

	if (!take_values(in, up_arguments[what], v)) {
		in->bad = true;
		return;
	}
	if (what < UP_TOLD)
		talk_int(&out, DOWN_REPLY);
	if (asked_resolve(&a, up_arguments[what], v))
		asked[what](&a, v);
	if (out.failed)
		keel_supervise_give_up(iso->process, "no memory to answer its process");
	else if (what < UP_TOLD && !in->bad)
		reply(iso, &out);
	free(out.data);
}

void heard(struct keel_mod *m, void *arg, const void *bytes, uint32_t len)
{
	struct isolated *iso = arg;
	struct talk_in in = { .at = bytes, .end = (const char *)bytes + len };
	int64_t what = take_int(&in);
	bool inner = iso->reading;

	(void)m;
	iso->reading = true;
	if (what == UP_REPLY && iso->owed && !in.bad) {
		keel_supervise_paid(iso->process);
		owed_pay(iso, &in, NULL);
	} else if (what > UP_REPLY && what < UP_LAST && what != UP_TOLD && iso->phase != DOWN) {
		asks(iso, what, &in);
	} else {
		in.bad = true; /* nothing of the module runs while its file is opened */
	}
	iso->reading = inner;
	if (in.bad)
		bad(iso);
}
