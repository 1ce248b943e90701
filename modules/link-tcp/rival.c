/* SPDX-License-Identifier: Apache-2.0
 *
 * rival.c - a daemon has proved a name and a key that are linked already. It is the same one that has lost its link, or a
 * second host with a copy of the key: the linked one is pinged.
 *
 *	RIVAL -- the pong comes ------------------------> refused, with both addresses
 *	     '-- the link ends, or no pong in rival_ms -> up
 */
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "link-tcp.h"

static void rival_wins(struct keel_mod *m, void *arg)
{
	struct conn *c = arg, *other = conn_named(c->link, c->name);

	(void)m;
	c->deadline = NULL;
	if (other != NULL)
		conn_drop(other, "it does not answer, and links anew"); /* rivals_take() goes on */
	else
		rivals_take(c->link, c->name);
}

void rival_begin(struct conn *c, struct conn *other)
{
	struct link *l = c->link;

	keel_timer_cancel(c->deadline);
	c->state = CONN_RIVAL;
	c->deadline = keel_timer(l->mod, l->limits.rival_ms, rival_wins, c);
	if (c->deadline == NULL) {
		c->broken = "no memory";
		return;
	}
	conn_ping(other);
	c->awaited = other->pings;
	other->tried = true;
}

static void rival_refuse(struct conn *c, const struct conn *other)
{
	char words[REASON_MAX];
	int n = snprintf(words, sizeof(words),
			 "a host with this name and this key is linked there already and answers, from %s; this one came from %.*s. Each "
			 "host needs a name and a key of its own (keelson-key(8))",
			 other->address, (int)strcspn(c->address, " "), c->address);

	if ((size_t)n >= sizeof(words))
		n = sizeof(words) - 1;
	conn_seal(c, words, (size_t)n, crypto_secretstream_xchacha20poly1305_TAG_FINAL);
	conn_write(c);
	snprintf(c->broken_text, sizeof(c->broken_text),
		 "a second host with the name and the key of %s, which is linked from %s and answers; make a key of its own for it "
		 "(keelson-key(8))", c->name, other->address);
	conn_break(c, c->broken_text);
}

void rivals_answered(struct conn *other)
{
	struct link *l = other->link;
	struct conn *c;

	if (!other->tried)
		return;
	other->tried = false;
	DL_FOREACH(l->conns, c) {
		if (c->state != CONN_RIVAL || c->broken != NULL || strcmp(c->name, other->name) != 0)
			continue;
		if (other->pongs >= c->awaited)
			rival_refuse(c, other);
		else
			other->tried = true;
	}
}

void rivals_take(struct link *l, const char *name)
{
	struct conn *c, *taken = NULL;

	DL_FOREACH(l->conns, c) {
		if (c->state != CONN_RIVAL || c->broken != NULL || strcmp(c->name, name) != 0)
			continue;
		if (taken != NULL) {
			rival_begin(c, taken);
		} else {
			greet_take(c);
			taken = c;
		}
	}
}
