/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.c - see rules.h.
 */
#include "rules.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const limits[LIMITS] = {
	[LIMIT_MEM] = "mem", [LIMIT_COMPLEXMEM] = "complexmem", [LIMIT_AVERAGE] = "cpuaverage", [LIMIT_BURST] = "cpuburst",
};

static const struct {
	const char *name;
	double usual, least, most;
} numbers[NUMBERS] = {
	[TRIAL_PERIOD] = { "average_trialperiod", 120, 0, 31536000 },
	[AVERAGE_PERCENT] = { "average_percent_over", 50, 0, 1000000 },
	[AVERAGE_FACTOR] = { "average_cpufactor", 1.025, 0, 1000 },
	[DELTA_PERCENT] = { "delta_percent_over", 50, 0, 1000000 },
	[DELTA_FACTOR] = { "delta_cpufactor", 1.05, 0, 1000 },
	[WEIGHT_UP] = { "delta_weightup", 0.4, 0, 1 },
	[WEIGHT_DOWN] = { "delta_weightdown", 0.1, 0, 1 },
};

void rules_init(struct rules *r)
{
	*r = (struct rules){ .on = { false } };
	for (int i = 0; i < NUMBERS; i++)
		r->number[i] = numbers[i].usual;
}

static int number_set(struct rules *r, int i, const char *value, char why[RULES_WHY])
{
	char *end;
	double n = strtod(value, &end);

	if (end == value || *end || !isfinite(n) || n < numbers[i].least || n > numbers[i].most) {
		snprintf(why, RULES_WHY, "%s: \"%.80s\" is no number from %g to %g", numbers[i].name, value, numbers[i].least,
			 numbers[i].most);
		return -EINVAL;
	}
	r->number[i] = n;
	return 0;
}

int rules_set(struct rules *r, const char *text, char why[RULES_WHY])
{
	bool on = *text != '!';
	const char *name = text + !on, *value = name + strcspn(name, " \t");
	size_t len = (size_t)(value - name);

	value += strspn(value, " \t");
	for (int i = 0; i < LIMITS; i++)
		if (strlen(limits[i]) == len && strncmp(name, limits[i], len) == 0) {
			snprintf(why, RULES_WHY, "behind %s stands nothing", limits[i]);
			r->on[i] = *value ? r->on[i] : on;
			return *value ? -EINVAL : 0;
		}
	for (int i = 0; i < NUMBERS; i++)
		if (on && strlen(numbers[i].name) == len && strncmp(name, numbers[i].name, len) == 0)
			return number_set(r, i, value, why);
	snprintf(why, RULES_WHY, "\"%.80s\" is neither mem, complexmem, cpuaverage nor cpuburst, with or without a !, nor a number of "
		 "these such as average_trialperiod", text);
	return -EINVAL;
}

/* ---- memory --------------------------------------------------------------------------------------------------- */
/* Of "100kb": in kb, rounded up. Rubbish is 0, what is too much the most there is. */
static int64_t size_kb(const char *text)
{
	static const char units[] = "kmgtp";
	char *end;
	long long n;
	const char *unit;
	bool words;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (end == text || n <= 0)
		return 0;
	unit = *end ? strchr(units, *end | 0x20) : NULL;
	words = (end[unit != NULL] | 0x20) == 'w';
	if (__builtin_mul_overflow(n, words ? 8LL : 1LL, &n))
		return INT64_MAX;
	if (!unit)
		return n / 1024 + (n % 1024 != 0);
	for (const char *u = units; u < unit; u++)
		if (__builtin_mul_overflow(n, 1024LL, &n))
			return INT64_MAX;
	return n;
}

int64_t share_mem_kb(const char *vnodes)
{
	static const char key[] = ":mem=";
	int64_t sum = 0;

	for (const char *at = strstr(vnodes, key); at; at = strstr(at, key)) {
		at += sizeof(key) - 1;
		if (__builtin_add_overflow(sum, size_kb(at), &sum))
			return INT64_MAX;
	}
	return sum;
}

/* ---- processors ------------------------------------------------------------------------------------------------- */
void load_take(struct load *l, const struct rules *r, int64_t cput_ms, int64_t walltime_ms, int64_t window_ms)
{
	int64_t passed = walltime_ms - l->walltime_ms, used = cput_ms - l->cput_ms;
	double now, weight;

	if (l->begun && passed <= 0) /* it was suspended */
		return;
	if (l->begun && used >= 0) {
		now = (double)used * 100 / (double)passed;
		weight = r->number[now > l->percent ? WEIGHT_UP : WEIGHT_DOWN];
		if (passed < window_ms)
			weight *= (double)passed / (double)window_ms;
		l->percent = now * weight + l->percent * (1 - weight);
	}
	l->begun = true;
	l->cput_ms = cput_ms;
	l->walltime_ms = walltime_ms;
}

bool over_burst(const struct load *l, const struct rules *r, uint32_t ncpus, double *ret_used)
{
	*ret_used = l->percent / 100;
	return l->percent > ncpus * 100.0 * r->number[DELTA_FACTOR] + r->number[DELTA_PERCENT];
}

bool over_average(const struct rules *r, uint32_t ncpus, int64_t cput_ms, int64_t walltime_ms, double *ret_used)
{
	if (walltime_ms <= 0 || (double)walltime_ms <= r->number[TRIAL_PERIOD] * 1000)
		return false;
	*ret_used = (double)cput_ms / (double)walltime_ms;
	return *ret_used > ncpus * r->number[AVERAGE_FACTOR] + r->number[AVERAGE_PERCENT] / 100;
}
