/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.c - the attribute type eligible_clock: a duration that stands still or grows with time.
 *
 * A running one is stored as the moment it began, so nothing is written while it runs, and it goes on
 * over a restart.
 */
#include "eligible-time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/type.h"

int64_t clock_read(int64_t clock, int64_t now)
{
	int64_t seconds = clock < 0 ? now + clock : clock;

	return seconds > 0 ? seconds : 0; /* the machine's time was set back */
}

int64_t clock_run(int64_t clock, int64_t now)
{
	return clock_read(clock, now) - now;
}

int64_t clock_stop(int64_t clock, int64_t now)
{
	return clock_read(clock, now);
}

int64_t clock_parse(const char *text)
{
	int64_t seconds = 0;
	int parts = 0;
	char *end;

	do {
		long long n;

		if (*text < '0' || *text > '9')
			return -1;
		n = strtoll(text, &end, 10);
		if (n > 1000000000 || (*end && *end != ':') || ++parts > 3)
			return -1;
		seconds = seconds * 60 + n;
		text = end + 1;
	} while (*end);
	return seconds;
}

static int32_t parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op, const char *key,
		     const char *text, union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	int64_t now = keel_time(mod), have = *is_set ? clock_read(slot->i, now) : 0;
	int64_t seconds = clock_parse(text);
	bool runs = *is_set && slot->i < 0;

	(void)key;
	if (op == KEEL_INCR && seconds >= 0)
		seconds = have + seconds;
	else if (op == KEEL_DECR && seconds >= 0)
		seconds = have > seconds ? have - seconds : 0;
	if (seconds < 0 || seconds > CLOCK_MAX)
		return keel_error(err, PBSE_BADATVAL, "%s %s", keel_pbse_text(PBSE_BADATVAL),
				  keel_attr_name(attr));
	slot->i = runs ? clock_run(seconds, now) : seconds;
	*is_set = true;
	return 0;
}

static void format(struct keel_mod *mod, const union keel_slot *slot, const char *key,
		   const struct keel_emit *emit)
{
	long long s = clock_read(slot->i, keel_time(mod));
	char text[40];
	int n = snprintf(text, sizeof(text), "%02lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);

	(void)key;
	emit->fn(emit->arg, NULL, text, (uint32_t)n);
}

static int32_t match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op,
		     const char *key, const char *text, struct keel_err *err)
{
	int64_t have = is_set ? clock_read(slot->i, keel_time(mod)) : 0, want = clock_parse(text);

	(void)key;
	if (want < 0)
		return -keel_error(err, PBSE_BADATVAL, "%s", keel_pbse_text(PBSE_BADATVAL));
	switch (op) {
	case KEEL_EQ: return is_set && have == want;
	case KEEL_NE: return !is_set || have != want;
	case KEEL_GE: return is_set && have >= want;
	case KEEL_GT: return is_set && have > want;
	case KEEL_LE: return is_set && have <= want;
	case KEEL_LT: return is_set && have < want;
	default: return 0;
	}
}

const struct keel_type_def clock_type = {
	.size = sizeof(struct keel_type_def),
	.flags = KEEL_TYPE_INT | KEEL_TYPE_MERGES, /* a clock that runs goes on from the new value */
	.name = "eligible_clock",
	.doc = "HH:MM:SS, standing or running",
	.parse = parse,
	.format = format,
	.match = match,
	KEEL_TYPE_OF_INT,
};
