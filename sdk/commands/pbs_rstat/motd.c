/* SPDX-License-Identifier: Apache-2.0
 *
 * motd.c - lines for those who log in: maintenance that runs or begins within a week.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attr_list.h"
#include "resv.h"
#include "rstat.h"

#define WEEK (7 * 24 * 60 * 60)
#define HOSTS_MOST 8

/* Is it confirmed, and not over? */
static bool is_planned(const struct batch_status *resv)
{
	switch (rstat_number(resv, ATTR_resv_state)) {
	case RESV_CONFIRMED:
	case RESV_RUNNING:
	case RESV_DEGRADED:
	case RESV_BEING_ALTERED:
		return true;
	default:
		return false;
	}
}

static void put_moment(int64_t when)
{
	char text[64];
	time_t at = (time_t)when;
	struct tm tm;

	if (localtime_r(&at, &tm) && strftime(text, sizeof(text), "%a %b %d %Y %H:%M %Z", &tm) > 0)
		fputs(text, stdout);
}

static void put_name(const char *name)
{
	fputs(", ", stdout);
	for (const unsigned char *at = (const unsigned char *)name; *at; at++)
		putchar(*at < ' ' || *at == 0x7f ? ' ' : *at);
}

void rstat_motd(struct rstat *r, const struct batch_status *resv)
{
	int64_t start = rstat_number(resv, ATTR_resv_start), end = rstat_number(resv, ATTR_resv_end);

	if (!rstat_is_maintenance(resv) || !is_planned(resv) || start > r->now + WEEK || end <= r->now)
		return;
	fputs("Maintenance of ", stdout);
	resv_hosts_print(stdout, resv, HOSTS_MOST);
	if (start > r->now) {
		fputs(" is planned from ", stdout);
		put_moment(start);
	} else {
		fputs(" is under way", stdout);
	}
	fputs(" until ", stdout);
	put_moment(end);
	printf(" (%s", resv->name);
	if (rstat_name(resv))
		put_name(rstat_name(resv));
	fputs(").\n", stdout);
}
