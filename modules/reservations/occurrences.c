/* SPDX-License-Identifier: Apache-2.0
 *
 * occurrences.c - when the occurrences of a recurrence rule begin: spec 11 section 2.6.
 *
 * The rule is read here, word by word, because libical accepts more than a reservation may have. Weeks, months, years and
 * days are then walked by libical; hours, minutes and seconds are a step of a fixed length on the clock of the wall, where
 * hours and days that do not match are jumped over, so that no rule makes a long loop. Each moment is converted by the
 * time zone at the end: one that the clock of the wall passes twice or never is what libical says, and a moment that
 * comes twice is one occurrence.
 */
#include <libical/ical.h>
#include <stdlib.h>
#include <string.h>

#include "reservations.h"

enum {
	RULE_LEN = 66, /* as the client's */
	ZONE_LEN = 64,
	ORDINALS_MONTH = 5, /* BYDAY=5MO */
	ORDINALS_YEAR = 53,
	NUMBER_MAX = 32767, /* INTERVAL; libical has a short */
	JUMPS_MAX = 20000,  /* of hours that do not match, for a rule */
	HOUR = 3600,
	DAY = 86400,
};
#define LATEST INT64_C(16725225600) /* 2500-01-01: libical ends in 2582 */
#define YEARS_NEAR 20

/* One frequency: how long an occurrence may be, and the error when it is longer. `step`: walked here. */
static const struct frequency {
	const char *name;
	icalrecurrencetype_frequency freq;
	int64_t longest, step;
	int32_t error;
} frequencies[] = {
	{"YEARLY", ICAL_YEARLY_RECURRENCE, INT64_C(366) * DAY, 0, PBSE_BAD_RRULE_YEARLY},
	{"MONTHLY", ICAL_MONTHLY_RECURRENCE, INT64_C(31) * DAY, 0, PBSE_BAD_RRULE_MONTHLY},
	{"WEEKLY", ICAL_WEEKLY_RECURRENCE, INT64_C(7) * DAY, 0, PBSE_BAD_RRULE_WEEKLY},
	{"DAILY", ICAL_DAILY_RECURRENCE, DAY, 0, PBSE_BAD_RRULE_DAILY},
	{"HOURLY", ICAL_HOURLY_RECURRENCE, HOUR, HOUR, PBSE_BAD_RRULE_HOURLY},
	{"MINUTELY", ICAL_MINUTELY_RECURRENCE, 60, 60, PBSE_BAD_RRULE_MINUTELY},
	{"SECONDLY", ICAL_SECONDLY_RECURRENCE, 1, 1, PBSE_BAD_RRULE_SECONDLY},
};

struct rule_read {
	char text[RULE_LEN + 1]; /* upper case; its parts are ended by '\0' while it is read */
	const struct frequency *freq;
	uint32_t count, interval; /* count 0: until */
	struct icaltimetype until;
	bool has_until, until_is_utc;
	uint32_t hours; /* bits; 0: any */
	uint32_t days;	/* bits, Sunday is 1; 0: any */
	uint32_t ordinal; /* the greatest one of BYDAY */
	const char *by_day, *by_hour; /* in text */
};

/* ---- Reading ---------------------------------------------------------------------------------------- */
static bool number(const char *s, const char *end, uint32_t from, uint32_t to, uint32_t *ret)
{
	uint32_t n = 0;

	if (s == end || end - s > 5)
		return false;
	for (; s < end; s++) {
		if (*s < '0' || *s > '9')
			return false;
		n = n * 10 + (uint32_t)(*s - '0');
	}
	*ret = n;
	return n >= from && n <= to;
}

static bool read_freq(struct rule_read *r, char *value)
{
	for (uint32_t i = 0; i < KEEL_COUNT(frequencies); i++)
		if (!strcmp(frequencies[i].name, value))
			r->freq = &frequencies[i];
	return r->freq;
}

static bool read_count(struct rule_read *r, char *value)
{
	return number(value, value + strlen(value), 1, 99999, &r->count);
}

static bool read_interval(struct rule_read *r, char *value)
{
	return number(value, value + strlen(value), 1, NUMBER_MAX, &r->interval);
}

/* YYYYMMDD or YYYYMMDDTHHMMSS, on the clock of the zone; with Z: UTC. */
static bool read_until(struct rule_read *r, char *value)
{
	size_t len = strlen(value);
	uint32_t part[6] = {0};
	static const struct field {
		uint32_t at, len, from, to;
	} fields[] = {{0, 4, 1970, 9999}, {4, 2, 1, 12}, {6, 2, 1, 31}, {9, 2, 0, 23}, {11, 2, 0, 59}, {13, 2, 0, 59}};

	r->until_is_utc = len == 16 && value[15] == 'Z';
	if (len != 8 && ((len != 15 && !r->until_is_utc) || value[8] != 'T'))
		return false;
	for (uint32_t i = 0; i < (len == 8 ? 3 : KEEL_COUNT(fields)); i++)
		if (!number(value + fields[i].at, value + fields[i].at + fields[i].len, fields[i].from, fields[i].to,
			    &part[i]))
			return false;
	r->until = icaltime_null_time();
	r->until.year = (int)part[0], r->until.month = (int)part[1], r->until.day = (int)part[2];
	r->until.hour = (int)part[3], r->until.minute = (int)part[4], r->until.second = (int)part[5];
	r->until.is_date = len == 8;
	r->has_until = true;
	return part[2] <= (uint32_t)icaltime_days_in_month(r->until.month, r->until.year);
}

/* MO or 2MO */
static bool read_day(struct rule_read *r, const char *s, const char *end)
{
	static const char *const names[] = {"SU", "MO", "TU", "WE", "TH", "FR", "SA"};
	uint32_t ordinal = 0;

	if (end - s < 2 || end - s > 4 || (end - s > 2 && !number(s, end - 2, 1, ORDINALS_YEAR, &ordinal)))
		return false;
	r->ordinal = ordinal > r->ordinal ? ordinal : r->ordinal;
	for (uint32_t i = 0; i < KEEL_COUNT(names); i++)
		if (!strncmp(names[i], end - 2, 2)) {
			r->days |= 1U << i;
			return true;
		}
	return false;
}

static bool read_hour(struct rule_read *r, const char *s, const char *end)
{
	uint32_t hour = 0;

	if (end - s > 2 || !number(s, end, 0, 23, &hour))
		return false;
	r->hours |= 1U << hour;
	return true;
}

/* Calls `read` for each word between commas. */
static bool read_list(struct rule_read *r, const char *value,
		      bool (*read)(struct rule_read *, const char *s, const char *end))
{
	for (const char *s = value;; s++) {
		const char *end = s + strcspn(s, ",");

		if (!read(r, s, end))
			return false;
		if (!*end)
			return true;
		s = end;
	}
}

static bool read_by_day(struct rule_read *r, char *value)
{
	r->by_day = value;
	return read_list(r, value, read_day);
}

static bool read_by_hour(struct rule_read *r, char *value)
{
	r->by_hour = value;
	return read_list(r, value, read_hour);
}

static const struct part {
	const char *name;
	bool (*read)(struct rule_read *, char *value);
	int32_t error;
} parts[] = {
	{"FREQ", read_freq, PBSE_BAD_RRULE_SYNTAX},	 {"INTERVAL", read_interval, PBSE_BAD_RRULE_SYNTAX},
	{"COUNT", read_count, PBSE_BAD_RRULE_SYNTAX2},	 {"UNTIL", read_until, PBSE_BAD_RRULE_SYNTAX2},
	{"BYDAY", read_by_day, PBSE_BAD_RRULE_SYNTAX}, {"BYHOUR", read_by_hour, PBSE_BAD_RRULE_SYNTAX},
};

/* `*seen` has a bit for each part that was there: none may come twice. */
static int32_t read_part(struct rule_read *r, char *text, uint32_t *seen)
{
	char *value = strchr(text, '=');

	if (!value)
		return PBSE_BAD_RRULE_SYNTAX;
	*value++ = '\0';
	for (uint32_t i = 0; i < KEEL_COUNT(parts); i++) {
		if (strcmp(parts[i].name, text))
			continue;
		if (*seen & 1U << i)
			return PBSE_BAD_RRULE_SYNTAX;
		*seen |= 1U << i;
		return parts[i].read(r, value) ? 0 : parts[i].error;
	}
	return PBSE_BAD_RRULE_SYNTAX;
}

/* What the parts mean together. An ordinal before a day has a meaning in months and years. */
static int32_t check_whole(const struct rule_read *r)
{
	if (!r->freq)
		return PBSE_BAD_RRULE_SYNTAX;
	if (r->ordinal && r->freq->freq != ICAL_YEARLY_RECURRENCE &&
	    (r->freq->freq != ICAL_MONTHLY_RECURRENCE || r->ordinal > ORDINALS_MONTH))
		return PBSE_BAD_RRULE_SYNTAX;
	return (r->count > 0) == r->has_until ? PBSE_BAD_RRULE_SYNTAX2 : 0;
}

static int32_t read_rule(struct rule_read *r, const char *text)
{
	uint32_t seen = 0;
	char *rest = r->text, *part;
	size_t len = text ? strlen(text) : 0;

	if (!len || len > RULE_LEN)
		return PBSE_BAD_RRULE_SYNTAX;
	for (size_t i = 0; i < len; i++)
		r->text[i] = (char)(text[i] >= 'a' && text[i] <= 'z' ? text[i] - 'a' + 'A' : text[i]);
	while ((part = strsep(&rest, ";"))) {
		int32_t rc = read_part(r, part, &seen);

		if (rc)
			return rc;
	}
	return check_whole(r);
}

/* ---- Zones ------------------------------------------------------------------------------------------- */
/* A name of the database is a path below its folder: parts of letters, digits and `_+-`, none of them empty. */
static bool zone_is_sane(const char *zone)
{
	size_t len = zone ? strlen(zone) : 0;

	if (!len || len > ZONE_LEN || zone[0] == '/' || zone[len - 1] == '/' || strstr(zone, "//"))
		return false;
	return strspn(zone, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/") == len;
}

static icaltimezone *zone_of(const char *zone)
{
	return zone_is_sane(zone) ? icaltimezone_get_builtin_timezone(zone) : NULL;
}

/* ---- Walking ------------------------------------------------------------------------------------------ */
struct walk {
	const struct rule_read *r;
	icaltimezone *zone;
	icalrecur_iterator *it; /* of libical, or: */
	int64_t at, until;	/* seconds on the clock of the wall, as if it were UTC */
	int daylight;		/* at its start: which of two equal times it means */
	uint32_t jumps;
	int first_year;
	bool far; /* the zone is laid out until LATEST */
	int64_t *moment;
	uint32_t n, max;
};

static int64_t wall_seconds(struct icaltimetype t)
{
	return icaltime_as_timet_with_zone(t, icaltimezone_get_utc_timezone());
}

static struct icaltimetype wall_time(int64_t seconds)
{
	return icaltime_from_timet_with_zone(seconds, 0, icaltimezone_get_utc_timezone());
}

static bool wall_matches(const struct rule_read *r, int64_t at)
{
	uint32_t hour = (uint32_t)(at % DAY / HOUR), day = (uint32_t)((at / DAY + 4) % 7); /* 1970 began on a Thursday */

	return (!r->hours || r->hours >> hour & 1) && (!r->days || r->days >> day & 1);
}

/* The next moment of a rule of a fixed step; false: there is none, or none within the bounds. */
static bool step_next(struct walk *w, struct icaltimetype *ret)
{
	int64_t step = w->r->freq->step * w->r->interval;

	while (!wall_matches(w->r, w->at)) {
		int64_t left = HOUR - w->at % HOUR; /* of this hour */

		if (w->jumps++ >= JUMPS_MAX)
			return false;
		w->at += (left + step - 1) / step * step;
	}
	if (w->r->has_until && (w->r->until.is_date ? w->at >= w->until : w->at > w->until))
		return false;
	*ret = wall_time(w->at);
	ret->is_daylight = w->daylight;
	w->at += step;
	return true;
}

static bool ical_next(struct walk *w, struct icaltimetype *ret)
{
	*ret = icalrecur_iterator_next(w->it);
	return !icaltime_is_null_time(*ret);
}

/* Libical lays out a zone five years further when it has to, each time from its beginning: for a rule that goes far, once. */
static void reach(struct walk *w, int year)
{
	if (w->far || year <= w->first_year + YEARS_NEAR)
		return;
	(void)icaltime_as_timet_with_zone(wall_time(LATEST), w->zone);
	w->far = true;
}

/* Keeps a moment. It fails with an error when there are too many. */
static int32_t keep(struct walk *w, struct icaltimetype t)
{
	int64_t moment;

	reach(w, t.year);
	t.zone = w->zone;
	moment = icaltime_as_timet_with_zone(t, w->zone);
	if (w->n && moment <= w->moment[w->n - 1])
		return 0;
	if (w->n == w->max)
		return PBSE_BAD_RRULE_SYNTAX2;
	w->moment[w->n++] = moment;
	return 0;
}

static int32_t walk_all(struct walk *w)
{
	struct icaltimetype t;
	uint32_t seen = 0;

	while ((!w->r->count || seen++ < w->r->count) && (w->it ? ical_next(w, &t) : step_next(w, &t))) {
		int32_t rc = keep(w, t);

		if (rc)
			return rc;
	}
	return w->n ? 0 : PBSE_BAD_RRULE_SYNTAX2;
}

/* The rule for libical, which counts nothing itself. */
static struct icalrecurrencetype ical_rule(const struct rule_read *r)
{
	char text[RULE_LEN + 64];

	(void)snprintf(text, sizeof(text), "FREQ=%s;INTERVAL=%u%s%s%s%s", r->freq->name, r->interval,
		       r->by_day ? ";BYDAY=" : "", r->by_day ? r->by_day : "", r->by_hour ? ";BYHOUR=" : "",
		       r->by_hour ? r->by_hour : "");
	return icalrecurrencetype_from_string(text);
}

/* Every n weeks, on other days than the start's: libical would look until its end of time. */
static bool never_matches(const struct rule_read *r, int64_t wall)
{
	uint32_t day = (uint32_t)((wall / DAY + 4) % 7);

	return r->freq->freq == ICAL_DAILY_RECURRENCE && r->days && r->interval % 7 == 0 && !(r->days >> day & 1);
}

static int32_t walk_begin(struct walk *w, int64_t start)
{
	struct icaltimetype first = icaltime_from_timet_with_zone(start, 0, w->zone), until = w->r->until;
	struct icalrecurrencetype rule;

	if (w->r->has_until && w->r->until_is_utc) {
		until.zone = icaltimezone_get_utc_timezone();
		until = icaltime_convert_to_zone(until, w->zone);
	}
	first.zone = until.zone = NULL;
	w->first_year = first.year;
	w->at = wall_seconds(first);
	w->daylight = first.is_daylight;
	w->until = w->r->has_until ? wall_seconds(until) : 0;
	if (w->r->freq->step)
		return 0;
	if (never_matches(w->r, w->at))
		return PBSE_BAD_RRULE_SYNTAX2;
	rule = ical_rule(w->r);
	if (w->r->has_until)
		rule.until = until;
	w->it = icalrecur_iterator_new(rule, first);
	return w->it ? 0 : PBSE_BAD_RRULE_SYNTAX2; /* it has none */
}

static int32_t walk(struct walk *w, int64_t start)
{
	int32_t rc = walk_begin(w, start);

	if (!rc)
		rc = walk_all(w);
	if (w->it)
		icalrecur_iterator_free(w->it);
	if (rc)
		free(w->moment);
	return rc;
}

int32_t occurrences_of(const char *rule, const char *zone, int64_t start, int64_t duration, uint32_t max, int64_t **ret,
		       uint32_t *ret_n)
{
	struct rule_read r = {.interval = 1};
	struct walk w = {.r = &r, .max = max};
	int32_t rc = read_rule(&r, rule);

	*ret = NULL, *ret_n = 0;
	if (rc)
		return rc;
	if (duration > r.freq->longest)
		return r.freq->error;
	w.zone = zone_of(zone);
	if (!w.zone)
		return PBSE_BAD_ICAL_TZ;
	if (start <= 0 || start >= LATEST)
		return PBSE_BAD_RRULE_SYNTAX2;
	w.moment = calloc((size_t)max + 1, sizeof(*w.moment));
	if (!w.moment)
		return PBSE_SYSTEM;
	rc = walk(&w, start);
	if (rc) {
		*ret_n = w.n == max ? max : 0;
		return rc;
	}
	*ret = w.moment, *ret_n = w.n;
	return 0;
}
