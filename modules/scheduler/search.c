/* SPDX-License-Identifier: Apache-2.0
 *
 * search.c - the first moment at which a job fits.
 *
 * Moments are those at which something ends or begins. Between two moments at which the planned jobs
 * ahead change, more and more comes free: there the last moment is tried, and if the job fits then, the
 * first such moment is found by halving. Blocks are ahead like planned jobs.
 */
#include "calendar.h"
#include "spans.h"

#include <stdlib.h>

#define MOVES 500 /* happenings in a step */
#define MANY 16	  /* segments */

struct search {
	struct calendar *c;
	int64_t duration, longest, not_before;
	uint32_t segments; /* in which it did not fit */
	search_fits *fits;
	void *arg;
	struct snapshot *base; /* `done` happenings have happened */
	uint32_t done;
	struct snapshot *trying; /* on its way to `target` */
	uint32_t tried, target;
	int64_t low, high;     /* halving: does not fit, fits (numbers of happenings); high -1: not yet */
	struct holds *holds;
	bool failed;
};

static int by_time(const void *a, const void *b)
{
	const struct happening *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->begins - y->begins; /* what ends makes room for what begins */
}

static int by_begin(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* When the first n have happened. */
static int64_t time_after(const struct search *s, uint32_t n)
{
	int64_t at = n ? s->c->list[n - 1].at : s->c->now;

	return at > s->not_before ? at : s->not_before;
}

static uint32_t next_moment(const struct search *s, uint32_t n)
{
	/* Does the moment after the first n end the previous one? Those within the grain are one. */
	while (n < s->c->n && !(n == s->c->n || s->c->list[n].at > time_after(s, n) + s->c->grain))
		n++;
	return n;
}

static uint64_t begun(const struct calendar *c, int64_t at)
{
	uint32_t low = 0, high = c->n_begin;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (c->begin[mid] <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Which planned jobs and blocks have begun, and which will begin before it would end. */
static uint64_t ahead(const struct search *s, int64_t at)
{
	uint64_t sum = begun(s->c, at) + begun(s->c, at + s->longest - 1);
	uint32_t i;

	for (i = 0; i < s->c->n_planned; i++)
		sum += (s->c->planned[i].from <= at) +
		       (uint64_t)(s->c->planned[i].from < at + s->duration);
	return sum;
}

/* The last moment, from `from` on, that has the same jobs and blocks ahead. Where there are blocks, after many of them in
 * vain two are looked at as one, then four, and so on: what is found then fits, but need not be the first such moment. */
static uint32_t segment_of(const struct search *s, uint32_t from)
{
	uint64_t first = ahead(s, time_after(s, from)), now;
	uint32_t at = from, next, doubled = s->c->n_begin ? s->segments / MANY : 0;
	uint32_t skip = (1u << (doubled < 20 ? doubled : 20)) - 1;

	while (at < s->c->n) {
		next = next_moment(s, at + 1);
		now = ahead(s, time_after(s, next));
		if (now != first && !skip--)
			break;
		first = now;
		at = next;
	}
	return at;
}

static bool aim(struct search *s, uint32_t target)
{
	s->trying = snapshot_copy(s->base);
	s->tried = s->done;
	s->target = target;
	s->failed |= !s->trying;
	return s->trying != NULL;
}

struct search *search_begin(struct calendar *c, const struct snapshot *now, int64_t duration, int64_t longest,
			    int64_t not_before, search_fits *fits, void *arg)
{
	struct search *s = calloc(1, sizeof(*s));
	uint32_t first = 0;

	if (!s)
		return NULL;
	if (!c->sorted && c->n)
		qsort(c->list, c->n, sizeof(*c->list), by_time);
	if (!c->sorted && c->n_begin)
		qsort(c->begin, c->n_begin, sizeof(*c->begin), by_begin);
	c->sorted = true;
	s->c = c;
	s->duration = duration;
	s->longest = longest;
	s->not_before = not_before;
	s->fits = fits;
	s->arg = arg;
	s->base = snapshot_copy(now);
	for (uint32_t i = 0; s->base && i < s->base->n; i++)
		s->base->node[i].fenced = false; /* it is of today */
	s->high = -1;
	if (!s->base) {
		search_free(s);
		return NULL;
	}
	while (first < c->n && c->list[first].at <= not_before)
		first++;
	s->low = first ? (int64_t)first - 1 : 0; /* the caller searches because it does not fit now */
	aim(s, segment_of(s, next_moment(s, first)));
	return s;
}

/* What it costs, besides being one of them. */
static uint32_t block_happens(struct search *s, const struct happening *h)
{
	spans_begin(s->trying, h->block, h->begins);
	return h->block->exec ? h->block->exec->n / 4 : 0;
}

static void move_on(struct search *s)
{
	uint32_t n;

	for (n = 0; n < MOVES && s->tried < s->target; n++) {
		const struct happening *h = &s->c->list[s->tried++];

		if (h->block)
			n += block_happens(s, h);
		else
			(h->begins ? place_occupy : place_vacate)(s->trying, h->exec, h->share, NULL, h->till);
		if (s->c->moved && !h->block)
			s->c->moved(s->c->arg, s->trying, h->who, h->exec, h->begins ? 1 : -1);
	}
}

static enum found found(struct search *s)
{
	int64_t at = s->trying->at = time_after(s, s->target);

	s->holds = calendar_hold(s->c, s->trying, at, at + s->duration);
	return s->holds ? FOUND_IT : FOUND_NEVER;
}

/* The moment in the middle between one that does not fit and one that does; the latter when there is
 * none. */
static uint32_t middle(const struct search *s)
{
	int64_t half = (s->high - s->low) / 2;
	uint32_t m = next_moment(s, (uint32_t)(s->low + (half > 0 ? half : 1)));

	if (m >= s->high)
		m = next_moment(s, (uint32_t)(s->low + 1)); /* many happenings in few moments */
	return m < s->high ? m : (uint32_t)s->high;
}

enum found search_step(struct search *s)
{
	uint32_t next;
	int64_t at;
	struct holds *h;
	bool fits;

	if (s->failed)
		return FOUND_NEVER;
	move_on(s);
	if (s->tried < s->target)
		return FOUND_MORE;
	if (s->high == (int64_t)s->target)
		return found(s);
	at = s->trying->at = time_after(s, s->target);
	h = calendar_hold(s->c, s->trying, at, at + s->duration);
	fits = h && s->fits(s->arg, s->trying);
	s->failed |= !h;
	calendar_unhold(s->trying, h);
	if (fits) {
		s->high = s->target;
		snapshot_copy_free(s->trying);
		s->trying = NULL;
		next = middle(s);
	} else {
		if (s->high < 0 && s->target >= s->c->n)
			return FOUND_NEVER;
		s->low = s->target;
		s->segments++;
		/* It does not fit there: everything before is of no more interest. */
		snapshot_copy_free(s->base);
		s->base = s->trying;
		s->done = s->target;
		s->trying = NULL;
		next = s->high < 0 ? segment_of(s, next_moment(s, s->done + 1)) : middle(s);
	}
	return aim(s, next) ? FOUND_MORE : FOUND_NEVER;
}

int64_t search_at(const struct search *s)
{
	return time_after(s, s->target);
}

struct snapshot *search_snapshot(struct search *s)
{
	return s->trying;
}

void search_unhold(struct search *s)
{
	calendar_unhold(s->trying, s->holds);
	s->holds = NULL;
}

void search_free(struct search *s)
{
	if (!s)
		return;
	calendar_unhold(s->trying, s->holds);
	snapshot_copy_free(s->trying);
	snapshot_copy_free(s->base);
	free(s);
}
