/* SPDX-License-Identifier: Apache-2.0
 *
 * cells.c - the texts of table cells.
 */
#include "cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set(char cell[CELL_SIZE], const char *text)
{
	snprintf(cell, CELL_SIZE, "%s", text);
}

void cell_cut(char cell[CELL_SIZE], const char *text, size_t len, size_t width)
{
	if (width >= CELL_SIZE)
		width = CELL_SIZE - 1;
	if (len <= width) {
		memcpy(cell, text, len);
		cell[len] = '\0';
		return;
	}
	memcpy(cell, text, width);
	if (width > 0)
		cell[width - 1] = '*';
	cell[width] = '\0';
}

size_t cell_id_length(const char *id)
{
	const char *dot = strchr(id, '.');

	dot = dot ? strchr(dot + 1, '.') : NULL;
	return dot ? (size_t)(dot - id) : strlen(id);
}

static const char prefixes[] = " kmgtp";

/* Power of 1024 of a unit letter; -1: not one. */
static int unit_power(char letter)
{
	const char *p;

	if (letter >= 'A' && letter <= 'Z')
		letter = (char)(letter - 'A' + 'a');
	p = letter && letter != ' ' ? strchr(prefixes, letter) : NULL;
	return p ? (int)(p - prefixes) : -1;
}

static uint64_t divide_up(uint64_t n, uint64_t by)
{
	return n / by + (n % by != 0);
}

/* `n` of 1024^power (bytes or words) as that many of 2^shift bytes, rounded up. */
static uint64_t in_units(uint64_t n, int power, bool words, int shift)
{
	int have = power * 10 + (words ? 3 : 0) - shift;

	if (have <= 0)
		return have < -63 ? n != 0 : divide_up(n, UINT64_C(1) << -have);
	return n > (UINT64_MAX >> have) ? UINT64_MAX : n << have;
}

void cell_memory(char cell[CELL_SIZE], const char *size, enum cell_unit unit)
{
	char *end, text[48], letter[2] = { 0 };
	uint64_t n;
	int power;
	bool words;

	if (!size || *size < '0' || *size > '9') {
		set(cell, CELL_NONE);
		return;
	}
	n = strtoull(size, &end, 10);
	power = unit_power(*end);
	end += power >= 0;
	power = power < 0 ? 0 : power;
	words = *end == 'w' || *end == 'W';
	if (unit == CELL_GIGABYTES) {
		snprintf(text, sizeof(text), "%" PRIu64 "gb", in_units(n, power, words, 30));
	} else if (unit == CELL_MEGAWORDS) {
		snprintf(text, sizeof(text), "%" PRIu64 "mw", in_units(n, power, words, 23));
	} else {
		for (; n > 9999 && power < 5; power++)
			n = divide_up(n, 1024);
		letter[0] = power > 0 ? prefixes[power] : '\0';
		snprintf(text, sizeof(text), "%" PRIu64 "%s%c", n, letter, words ? 'w' : 'b');
	}
	text[5] = '\0';
	set(cell, text);
}

int64_t cell_seconds(const char *duration)
{
	int64_t total = 0;
	const char *at = duration;
	char *end;
	unsigned long long n;

	for (;;) {
		if (*at < '0' || *at > '9')
			return -1;
		n = strtoull(at, &end, 10);
		if (n > INT32_MAX || total > INT64_MAX / 128)
			return -1;
		total = total * 60 + (int64_t)n;
		if (*end != ':')
			return *end == '\0' || *end == '.' ? total : -1;
		at = end + 1;
	}
}

static long share(const char *requested, const char *used)
{
	int64_t a = requested ? cell_seconds(requested) : -1, u = used ? cell_seconds(used) : -1;

	return a > 0 && u >= 0 ? (long)(u * 100 / a) : -1;
}

void cell_percent(char cell[CELL_SIZE], const struct cell_progress *p)
{
	long cput = share(p->cput_asked, p->cput_used);
	long walltime = share(p->walltime_asked, p->walltime_used);
	long percent = cput > walltime ? cput : walltime, expired, total;

	if (p->array_counts) {
		expired = cell_counted(p->array_counts, "Expired");
		total = expired + cell_counted(p->array_counts, "Queued") +
			cell_counted(p->array_counts, "Running") + cell_counted(p->array_counts, "Exiting");
		percent = total > 0 ? expired * 100 / total : -1;
	}
	if (p->state == 'X')
		percent = 100;
	else if (strchr("QTW", p->state))
		percent = -1;
	if (percent < 0)
		set(cell, CELL_NONE);
	else
		snprintf(cell, CELL_SIZE, "%3ld ", percent);
}

void cell_estimate(char cell[CELL_SIZE], const char *start, time_t now)
{
	static const char days[] = "SuMoTuWeThFrSa";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t when = start ? (time_t)strtoll(start, NULL, 10) : 0;
	struct tm then, today;

	if (start && (strcmp(start, "0") == 0 || strspn(start, "0123456789") != strlen(start)))
		set(cell, "    ?");
	else if (!start || when < now || !localtime_r(&when, &then) || !localtime_r(&now, &today))
		set(cell, "   --");
	else if (then.tm_year == today.tm_year && then.tm_yday == today.tm_yday)
		snprintf(cell, CELL_SIZE, "%02d:%02d", then.tm_hour, then.tm_min);
	else if (when - now < 7 * 86400)
		snprintf(cell, CELL_SIZE, "%.2s %02d", days + 2 * then.tm_wday, then.tm_hour);
	else if (then.tm_year == today.tm_year)
		snprintf(cell, CELL_SIZE, "  %.3s", months + 3 * then.tm_mon);
	else if (then.tm_year - today.tm_year < 5)
		snprintf(cell, CELL_SIZE, "%5d", then.tm_year + 1900);
	else
		set(cell, ">5yrs");
}

void cell_count(char cell[CELL_SIZE], const char *number)
{
	cell_cut(cell, number, strlen(number), 5);
}

void column_count(struct out *o, const char *number)
{
	char cell[CELL_SIZE];

	cell_count(cell, number);
	out_char(o, ' ');
	out_right(o, cell, 5);
}

void columns_states(struct out *o, const char *counts)
{
	static const char *const words[] = { "Queued", "Running", "Held", "Waiting", "Transit", "Exiting" };
	char number[24];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		snprintf(number, sizeof(number), "%ld", cell_counted(counts, words[i]));
		column_count(o, number);
	}
}

long cell_counted(const char *counts, const char *word)
{
	size_t n = strlen(word);
	const char *at = counts;

	while ((at = strstr(at, word)) != NULL) {
		if ((at == counts || at[-1] == ' ') && at[n] == ':')
			return strtol(at + n + 1, NULL, 10);
		at += n;
	}
	return 0;
}
