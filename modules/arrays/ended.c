/* SPDX-License-Identifier: Apache-2.0
 *
 * ended.c - values of subjobs, and those that are over as a stored text. See ended.h.
 */
#include "ended.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keel/service/job.h"

enum kind kind_of(int32_t value)
{
	return value == WAITS ? KIND_WAITS
	       : value == LIVES ? KIND_LIVES
	       : value == KEPT	? KIND_KEPT
				: KIND_OVER;
}

/* Bits 0-3 of what is above OVER: substate - 90, 0: it is not known; above them the exit status. */
int32_t over_value(int32_t substate, int32_t exit_status)
{
	int32_t way = substate - 90;

	if (exit_status < -32768 || exit_status > 32767)
		exit_status = 32767;
	return OVER + (int32_t)((uint32_t)(exit_status + 32768) << 4 | (uint32_t)(way & 15));
}

int32_t over_unknown(void)
{
	return over_value(90, 0);
}

int32_t over_substate(int32_t value)
{
	int32_t way = (value - OVER) & 15;

	return way ? 90 + way : SUB_EXPIRED;
}

int32_t over_exit(int32_t value)
{
	return ((value - OVER) >> 4) - 32768;
}

bool over_failed(int32_t value)
{
	return value != over_unknown() && over_substate(value) != KEEL_SUB_FINISHED;
}

static int32_t only_that(int32_t value)
{
	return kind_of(value) == KIND_OVER ? over_unknown() : value;
}

bool ended_coarsen(struct runs *r)
{
	if (r->n <= WAYS_MAX)
		return false;
	runs_map(r, only_that);
	return true;
}

int ended_load(const struct indices *x, struct runs *r, int32_t others, const char *text)
{
	struct selection s;
	char *end;
	int rc = 0;

	while (text && *text && !rc) {
		int32_t value = (int32_t)strtol(text, &end, 10);
		size_t len = *end == ':' ? strcspn(end + 1, ";") : 0;

		if (value < OVER || !len || selection_parse(x, end + 1, len, &s))
			break;
		for (uint32_t i = 0; i < s.n && !rc; i++)
			rc = runs_replace(r, s.at[i].first, s.at[i].last, s.at[i].step, others, value, NULL);
		selection_fini(&s);
		text = end + 1 + len + (end[1 + len] == ';');
	}
	return rc;
}

char *ended_text(const struct indices *x, const struct runs *r)
{
	return indices_text_each(x, r, OVER);
}
