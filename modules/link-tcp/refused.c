/* SPDX-License-Identifier: Apache-2.0
 *
 * refused.c - strangers that are refused, in the log: each change of the reason, by address and name. What is repeated is
 * silent until it has not come for a while. Who changes its name or address each time gets one record in LOG_MS.
 */
#include <stdio.h>
#include <string.h>

#include "link-tcp.h"

#define LOG_MS 200
#define QUIET_MS (10 * 60 * 1000)

static void host_of(const struct conn *c, char address[ADDRESS_MAX])
{
	snprintf(address, ADDRESS_MAX, "%.*s", (int)strcspn(c->address, " "), c->address);
}

/* That of this address and name, else the one that was not seen for the longest time. */
static struct refused *refusal_of(struct link *l, const char *address, const char *name)
{
	struct refused *oldest = l->refusals;

	for (struct refused *r = l->refusals; r < l->refusals + REFUSALS; r++) {
		if (r->seen_ms != 0 && strcmp(r->address, address) == 0 && strcmp(r->name, name) == 0)
			return r;
		if (r->seen_ms < oldest->seen_ms)
			oldest = r;
	}
	oldest->seen_ms = 0;
	return oldest;
}

void refused_log(const struct conn *c, const char *why)
{
	struct link *l = c->link;
	int64_t now_ms = keel_now_ms(l->mod);
	char address[ADDRESS_MAX];
	struct refused *r;
	bool known;

	host_of(c, address);
	r = refusal_of(l, address, c->theirs.host);
	known = r->seen_ms != 0 && now_ms - r->seen_ms < QUIET_MS && strcmp(r->why, why) == 0;
	if (known)
		r->seen_ms = now_ms;
	if (known || now_ms - l->refused_log_ms < LOG_MS) {
		l->refused_untold++;
		return;
	}
	snprintf(r->address, sizeof(r->address), "%s", address);
	snprintf(r->name, sizeof(r->name), "%s", c->theirs.host);
	snprintf(r->why, sizeof(r->why), "%s", why);
	r->seen_ms = now_ms > 0 ? now_ms : 1;
	keel_log(l->mod, KEEL_LOG_SECURITY, "Link", c->theirs.host[0] != '\0' ? c->theirs.host : "?",
		 "link from %s refused: %s (%u more refused before)", c->address, why, l->refused_untold);
	l->refused_log_ms = now_ms;
	l->refused_untold = 0;
}

void refused_forget(const struct conn *c)
{
	char address[ADDRESS_MAX];

	host_of(c, address);
	refusal_of(c->link, address, c->name)->seen_ms = 0;
}
