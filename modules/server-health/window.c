/* SPDX-License-Identifier: Apache-2.0
 *
 * window.c - accounts of the kernel, which count since the start, as figures of the last minute and hour.
 */
#include "health.h"

void window_begin(struct keel_mod *mod, struct window *w, uint32_t which)
{
	struct keel_account now = { .size = sizeof(now) };

	keel_account(mod, which, &now);
	for (int i = 0; i < MINUTE; i++) {
		w->before[i] = now;
		w->before_ms[i] = keel_now_ms(mod);
	}
}

/* Returns what is counted now; the longest one since the last look belongs to this slot. */
static struct keel_account look(struct keel_mod *mod, struct window *w, uint32_t which)
{
	struct keel_account now = { .size = sizeof(now) };
	uint64_t *slot = &w->longest[w->slots % HOUR];

	keel_account(mod, which, &now);
	if (now.longest_ns > *slot)
		*slot = now.longest_ns;
	return now;
}

void window_turn(struct keel_mod *mod, struct window *w, uint32_t which)
{
	uint32_t place = w->slots % MINUTE;

	w->before[place] = look(mod, w, which);
	w->before_ms[place] = keel_now_ms(mod);
	w->slots++;
	w->longest[w->slots % HOUR] = 0;
}

double quantile(const struct keel_account *now, const struct keel_account *before, double part)
{
	double left = (double)(now->count - before->count) * part, from, n;
	int i;

	if (left <= 0)
		return 0;
	for (i = 0; i < KEEL_ACCOUNT_BUCKETS; i++) {
		n = (double)(now->bucket[i] - before->bucket[i]);
		if (n >= left) {
			from = i ? (double)(1ULL << (i - 1)) : 0;
			return (from + ((double)(1ULL << i) - from) * left / n) / 1e6;
		}
		left -= n;
	}
	return (double)(1ULL << (KEEL_ACCOUNT_BUCKETS - 1)) / 1e6;
}

static double longest(const struct window *w, uint32_t slots)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < slots && i <= w->slots; i++)
		if (w->longest[(w->slots - i) % HOUR] > most)
			most = w->longest[(w->slots - i) % HOUR];
	return (double)most / 1e9;
}

void window_read(struct keel_mod *mod, struct window *w, uint32_t which, struct recent *ret)
{
	const uint32_t first = w->slots % MINUTE; /* the next to be written is the oldest */
	const struct keel_account *before = &w->before[first];
	double seconds = (double)(keel_now_ms(mod) - w->before_ms[first]) / 1000, now_s;

	ret->all = look(mod, w, which);
	now_s = (double)ret->all.now_ns / 1e9;
	ret->rate = seconds > 0 ? (double)(ret->all.count - before->count) / seconds : 0;
	ret->half = quantile(&ret->all, before, 0.5);
	ret->most = quantile(&ret->all, before, 0.99);
	ret->minute = longest(w, MINUTE + 1);
	ret->hour = longest(w, HOUR);
	if (now_s > ret->minute)
		ret->minute = now_s;
	if (now_s > ret->hour)
		ret->hour = now_s;
}
