/* SPDX-License-Identifier: Apache-2.0
 *
 * rescinfo.c - what a host gives to a job, as one line: the sums over a part of an exec_vnode.
 */
#include "task-manager.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESOURCES = 32 };

struct sum {
	const char *name;
	size_t name_len;
	long long amount;
	const char *unit;
	size_t unit_len;
};

static void sum_add(struct sum *sums, uint32_t *n, const char *item, size_t len)
{
	const char *equals = memchr(item, '=', len);
	struct sum one;
	char *unit;

	if (equals == NULL)
		return;
	one = (struct sum){ .name = item, .name_len = (size_t)(equals - item) };
	one.amount = strtoll(equals + 1, &unit, 10);
	one.unit = unit;
	one.unit_len = (size_t)(item + len - unit);
	for (uint32_t i = 0; i < *n; i++) {
		if (sums[i].name_len != one.name_len || memcmp(sums[i].name, item, one.name_len) != 0)
			continue;
		sums[i].amount += one.amount;
		return;
	}
	if (*n < RESOURCES)
		sums[(*n)++] = one;
}

void resources_text(const char *vnodes, struct keel_text *t)
{
	struct sum sums[RESOURCES];
	uint32_t n = 0;

	for (const char *at = vnodes; *at != '\0';) {
		size_t len = strcspn(at, ":+()");

		sum_add(sums, &n, at, len);
		at += len;
		at += *at != '\0';
	}
	for (uint32_t i = 0; i < n; i++)
		keel_text_printf(t, "%s%.*s=%lld%.*s", i > 0 ? "," : "", (int)sums[i].name_len, sums[i].name, sums[i].amount,
				 (int)sums[i].unit_len, sums[i].unit);
}
