/* SPDX-License-Identifier: Apache-2.0
 *
 * hook.c - what a hook is: its attributes and the rules for their values, and the table of hooks by name.
 */
#include "hooks.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(EVENTS <= 32, "events are bits of 32");

#define BIT(event) (UINT32_C(1) << EVENT_##event)
#define TIMED_EVENTS (BIT(periodic) | BIT(exechost_periodic))
#define OWNER_EVENTS (BIT(execjob_prologue) | BIT(execjob_epilogue) | BIT(execjob_preterm))
#define START_EVENTS (BIT(execjob_begin) | BIT(execjob_prologue))
#define ECHO_MAX 30 /* of a wrong word in a sentence with a long list */
#define FAIL_ACTION_WORDS "\"offline_vnodes\",\"clear_vnodes_upon_recovery\", \"scheduler_restart_cycle\""

static const struct hook defaults = { .enabled = true, .user = HOOK_ADMIN, .alarm = 30, .freq = 120, .order = 1 };

/* ---- words of a comma list -------------------------------------------------------------------------------------------------- */

struct word {
	const char *s;
	size_t len;
};

/* The next word without blanks around it; false: that was all. A text of blanks alone has none. */
static bool word_next(const char **at, struct word *ret)
{
	const char *text = *at;

	if (!text || !text[strspn(text, " \t")])
		return false;
	ret->s = text + strspn(text, " \t");
	ret->len = strcspn(ret->s, ",");
	*at = ret->s[ret->len] ? ret->s + ret->len + 1 : NULL;
	while (ret->len > 0 && isblank((unsigned char)ret->s[ret->len - 1]))
		ret->len--;
	return true;
}

static bool word_is(const struct word *w, const char *text)
{
	return strlen(text) == w->len && memcmp(text, w->s, w->len) == 0;
}

static uint32_t combined(uint32_t old, int32_t op, uint32_t bits)
{
	return op == KEEL_INCR ? old | bits : op == KEEL_DECR ? old & ~bits : bits;
}

/* ---- setting one attribute -------------------------------------------------------------------------------------------------- */

static int32_t set_type(struct hook *h, int32_t op, const char *text, struct keel_err *err)
{
	(void)h, (void)op;
	if (strcmp(text, "site") == 0)
		return 0;
	if (strcmp(text, "pbs") == 0)
		return keel_error(err, PBSE_HOOKERROR, "not allowed to set hook to 'pbs' type");
	return keel_error(err, PBSE_HOOKERROR, "invalid argument to type, must be \"site\"");
}

static int32_t set_bool(bool *value, const char *text, struct keel_err *err)
{
	static const char *const words[] = { "false", "f", "n", "0", "true", "t", "y", "1" };

	for (uint32_t i = 0; i < KEEL_COUNT(words); i++)
		if (strcasecmp(words[i], text) == 0) {
			*value = i >= KEEL_COUNT(words) / 2;
			return 0;
		}
	return keel_error(err, PBSE_HOOKERROR, "unexpected value '%s', must be (not case sensitive) true|t|y|1|false|f|n|0", text);
}

static int32_t set_enabled(struct hook *h, int32_t op, const char *text, struct keel_err *err)
{
	(void)op;
	return set_bool(&h->enabled, text, err);
}

static int32_t set_debug(struct hook *h, int32_t op, const char *text, struct keel_err *err)
{
	(void)op;
	return set_bool(&h->debug, text, err);
}

static int32_t bad_event(const struct word *w, struct keel_err *err)
{
	char list[512] = "";
	size_t at = 0;

	for (uint32_t i = 0; i < EVENTS && at < sizeof(list); i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i ? "," : "", events[i].name);
	return keel_error(err, PBSE_HOOKERROR, "invalid argument (%.*s) to event. Should be one or more of: %s or \"\" for no event",
			  (int)(w->len < ECHO_MAX ? w->len : ECHO_MAX), w->s, list);
}

static int32_t set_event(struct hook *h, int32_t op, const char *text, struct keel_err *err)
{
	uint32_t bits = 0;
	struct word w;

	while (word_next(&text, &w)) {
		const struct event_row *row = event_by_name(w.s, w.len);

		if (!row)
			return bad_event(&w, err);
		if (row->flags & EVENT_ABSENT)
			return keel_error(err, PBSE_HOOKERROR,
					  "Event %s is not supported: vnodes are not provisioned by this server", row->name);
		bits |= UINT32_C(1) << (row - events);
	}
	bits = combined(h->events, op, bits);
	if (bits & BIT(periodic) && h->user == HOOK_OWNER)
		return keel_error(err, PBSE_HOOKERROR, "user value of a server periodic hook must be pbsadmin");
	h->events = bits;
	return 0;
}

static int32_t set_user(struct hook *h, int32_t op, const char *text, struct keel_err *err)
{
	bool owner = strcmp(text, "pbsuser") == 0;

	(void)op;
	if (!owner && strcmp(text, "pbsadmin") != 0)
		return keel_error(err, PBSE_HOOKERROR, "user value of a hook must be pbsadmin,pbsuser");
	if (owner && h->events & BIT(periodic))
		return keel_error(err, PBSE_HOOKERROR, "user value of a server periodic hook must be pbsadmin");
	if (owner && !(h->events & OWNER_EVENTS))
		return keel_error(err, PBSE_HOOKERROR,
				  "Can't set hook user value to 'pbsuser': hook event must contain at least execjob_prologue,"
				  "execjob_epilogue,execjob_preterm");
	h->user = owner ? HOOK_OWNER : HOOK_ADMIN;
	return 0;
}

/* A whole number of decimal digits, with a sign perhaps; 0 for anything else. */
static int64_t number(const char *text)
{
	char *end;
	int64_t n = strtoll(text, &end, 10);

	return *text && *end == '\0' ? n : 0;
}

static int32_t set_alarm(struct hook *h, int32_t op, const char *text, struct keel_err *err)
{
	int64_t n = number(text);

	(void)op;
	if (n <= 0)
		return keel_error(err, PBSE_HOOKERROR, "set_hook_alarm: alarm value '%s' of a hook must be > 0", text);
	if (n > INT32_MAX)
		return keel_error(err, PBSE_HOOKERROR, "set_hook_alarm: alarm value '%s' of a hook must be at most %d", text, INT32_MAX);
	h->alarm = n;
	return 0;
}

static int32_t set_freq(struct hook *h, int32_t op, const char *text, struct keel_err *err)
{
	size_t digits = strspn(text, "0123456789");

	(void)op;
	if (!(h->events & TIMED_EVENTS))
		return keel_error(err, PBSE_HOOKERROR, "set_hook_freq: Can't set hook freq value: hook event must contain at least"
						       "'exechost_periodic' or 'periodic'");
	if (text[digits])
		return keel_error(err, PBSE_HOOKERROR, "set_hook_freq: encountered a non-digit freq value: %c", text[digits]);
	if (number(text) <= 0)
		return keel_error(err, PBSE_HOOKERROR, "set_hook_freq: freq value '%s' of a hook must be > 0", text);
	if (number(text) > INT32_MAX)
		return keel_error(err, PBSE_HOOKERROR, "set_hook_freq: freq value '%s' of a hook must be at most %d", text, INT32_MAX);
	h->freq = number(text);
	return 0;
}

static int32_t set_order(struct hook *h, int32_t op, const char *text, struct keel_err *err)
{
	int64_t n = number(text);

	(void)op;
	if (n < 1 || n > 1000)
		return keel_error(err, PBSE_HOOKERROR,
				  "order given (%lld) is outside the acceptable range of [1, 1000] for type 'site'.", (long long)n);
	h->order = (int32_t)n;
	return 0;
}

/* A word of fail_action: one of `events` has to be there, which `needs` says in words. */
static const struct fail_word {
	const char *name;
	uint32_t bit, events;
	const char *needs;
} fail_words[] = {
	{ "offline_vnodes", FAIL_OFFLINE, START_EVENTS | BIT(exechost_startup),
	  "one of execjob_begin, exechost_startup, execjob_prologue" },
	{ "clear_vnodes_upon_recovery", FAIL_CLEAR, BIT(exechost_startup), "an exechost_startup value" },
	{ "scheduler_restart_cycle", FAIL_CYCLE, START_EVENTS, "one of execjob_begin, execjob_prologue" },
};

static const struct fail_word *fail_word(const struct word *w)
{
	for (uint32_t i = 0; i < KEEL_COUNT(fail_words); i++)
		if (word_is(w, fail_words[i].name))
			return &fail_words[i];
	return NULL;
}

static int32_t set_fail_action(struct hook *h, int32_t op, const char *text, struct keel_err *err)
{
	bool none = strcmp(text, "none") == 0;
	uint32_t bits = 0;
	struct word w;

	while (!none && word_next(&text, &w)) {
		const struct fail_word *row = fail_word(&w);

		if (!row)
			return keel_error(err, PBSE_HOOKERROR,
					  "fail_action value of a hook must be \"none\" or one or more of " FAIL_ACTION_WORDS);
		if (op != KEEL_DECR && !(h->events & row->events))
			return keel_error(err, PBSE_HOOKERROR,
					  "Can't set hook fail_action value to '%s': hook event must contain at least %s",
					  row->name, row->needs);
		bits |= row->bit;
	}
	h->fail_action = combined(h->fail_action, op, bits);
	return 0;
}

/* ---- as text ---------------------------------------------------------------------------------------------------------------- */

static void add_word(char *buf, size_t size, size_t *at, const char *word)
{
	if (*at < size)
		*at += (size_t)snprintf(buf + *at, size - *at, "%s%s", *at ? "," : "", word);
}

static int32_t text_type(const struct hook *h, char *buf, uint32_t len)
{
	(void)h;
	return snprintf(buf, len, "site");
}

static int32_t text_enabled(const struct hook *h, char *buf, uint32_t len)
{
	return snprintf(buf, len, "%s", h->enabled ? "true" : "false");
}

static int32_t text_debug(const struct hook *h, char *buf, uint32_t len)
{
	return snprintf(buf, len, "%s", h->debug ? "true" : "false");
}

/* Those of jobs first, then those of hosts. */
static int32_t text_event(const struct hook *h, char *buf, uint32_t len)
{
	const uint32_t hosts = BIT(exechost_periodic) | BIT(exechost_startup);
	char list[1024] = "";
	size_t at = 0;

	for (uint32_t part = 0; part < 2; part++)
		for (uint32_t i = 0; i < EVENTS; i++)
			if (h->events & (part ? hosts : ~hosts) & (UINT32_C(1) << i))
				add_word(list, sizeof(list), &at, events[i].name);
	return snprintf(buf, len, "%s", list);
}

static int32_t text_user(const struct hook *h, char *buf, uint32_t len)
{
	return snprintf(buf, len, "%s", h->user == HOOK_OWNER ? "pbsuser" : "pbsadmin");
}

static int32_t text_alarm(const struct hook *h, char *buf, uint32_t len)
{
	return snprintf(buf, len, "%lld", (long long)h->alarm);
}

static int32_t text_freq(const struct hook *h, char *buf, uint32_t len)
{
	return h->events & TIMED_EVENTS ? snprintf(buf, len, "%lld", (long long)h->freq) : -ENOENT;
}

static int32_t text_order(const struct hook *h, char *buf, uint32_t len)
{
	return snprintf(buf, len, "%d", (int)h->order);
}

static int32_t text_fail_action(const struct hook *h, char *buf, uint32_t len)
{
	char list[128] = "";
	size_t at = 0;

	for (uint32_t i = 0; i < KEEL_COUNT(fail_words); i++)
		if (h->fail_action & fail_words[i].bit)
			add_word(list, sizeof(list), &at, fail_words[i].name);
	return snprintf(buf, len, "%s", at ? list : "none");
}

/* ---- attributes by name ----------------------------------------------------------------------------------------------------- */

const char *const hook_attrs[] = { "type", "enabled", "event", "user", "alarm", "freq", "order", "debug", "fail_action", NULL };

#define ROW(attr, member, is_list)                                                                         \
	{ #attr, is_list, offsetof(struct hook, member), sizeof(((struct hook *)0)->member), set_##attr, text_##attr }
static const struct attr_row {
	const char *name;
	bool list; /* += and -= */
	size_t at, size; /* where it is in a hook: unset restores the default */
	int32_t (*set)(struct hook *h, int32_t op, const char *text, struct keel_err *err);
	int32_t (*text)(const struct hook *h, char *buf, uint32_t len);
} rows[] = {
	{ "type", false, 0, 0, set_type, text_type },
	ROW(enabled, enabled, false), ROW(event, events, true), ROW(user, user, false),
	ROW(alarm, alarm, false), ROW(freq, freq, false), ROW(order, order, false),
	ROW(debug, debug, false), ROW(fail_action, fail_action, true),
};

static const struct attr_row *row_of(const char *name)
{
	for (uint32_t i = 0; name && i < KEEL_COUNT(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

int32_t hook_set(struct hook *h, const char *attr, int32_t op, const char *text, struct keel_err *err)
{
	const struct attr_row *row = row_of(attr);

	if (!row)
		return keel_error(err, PBSE_HOOKERROR, "Undefined attribute  - %s", attr ? attr : "");
	if (op == KEEL_UNSET) {
		memcpy((char *)h + row->at, (const char *)&defaults + row->at, row->size);
		return 0;
	}
	if (op != KEEL_SET && !(row->list && (op == KEEL_INCR || op == KEEL_DECR)))
		return keel_error(err, PBSE_HOOKERROR, "'%s' operator not =", op == KEEL_INCR ? "+=" : op == KEEL_DECR ? "-=" : "?");
	return row->set(h, op, text ? text : "", err);
}

int32_t hook_text(const struct hook *h, const char *attr, char *buf, uint32_t len)
{
	const struct attr_row *row = row_of(attr);

	return row ? row->text(h, buf, len) : -ENOENT;
}

bool hook_has(const struct hook *h, enum event_id event)
{
	return h->enabled && !h->pending && h->events & (UINT32_C(1) << event);
}

bool hook_of_moms(const struct hook *h)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		if (h->events & (UINT32_C(1) << i) && events[i].daemon == KEEL_MOM)
			return true;
	return false;
}

/* ---- the table -------------------------------------------------------------------------------------------------------------- */

struct hook *hook_find(const struct state *st, const char *name)
{
	struct hook *h = NULL;

	HASH_FIND_STR(st->hooks, name, h);
	return h;
}

struct hook *hook_new(struct state *st, const char *name)
{
	struct hook *h = malloc(sizeof(*h));

	if (!h)
		return NULL;
	*h = defaults;
	h->name = strdup(name);
	if (h->name)
		HASH_ADD_KEYPTR(hh, st->hooks, h->name, strlen(h->name), h);
	if (h->name && h->hh.tbl)
		return h;
	free(h->name);
	free(h);
	return NULL;
}

void hook_free(struct state *st, struct hook *h)
{
	taps_free(st, h);
	timed_free(st, h);
	pool_free(h);
	HASH_DEL(st->hooks, h);
	free(h->name);
	free(h->script);
	free(h->config);
	free(h->suffix);
	free(h);
}

void hook_changed(struct state *st, struct hook *h)
{
	taps_follow(st, h);
	if (h->loading || !st->started)
		return; /* it is called again then */
	if (h->retired != h->version)
		pool_retire(h);
	h->retired = h->version;
	timed_follow(st, h);
	if (keel_daemon(st->mod) & KEEL_SERVER)
		distribute_hook(st, h); /* h may be gone after this */
}
