/* SPDX-License-Identifier: Apache-2.0
 *
 * ways.c - the daemons that are expected: a mom's server, and those that modules name with expect().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "link-tcp.h"

struct way *way_find(const struct link *l, const char *host)
{
	struct way *w = l->ways;

	while (w != NULL && strcmp(w->host, host) != 0)
		w = w->next;
	return w;
}

static struct way *way_get(struct link *l, const char *host)
{
	struct way *w = way_find(l, host);

	if (w != NULL)
		return w;
	w = calloc(1, sizeof(*w));
	if (w == NULL || (w->host = strdup(host)) == NULL) {
		free(w);
		return NULL;
	}
	w->link = l;
	DL_APPEND(l->ways, w);
	return w;
}

struct way *way_set(struct link *l, const char *host, const char *address, const uint8_t *key)
{
	char *copy = address != NULL ? strdup(address) : NULL;
	struct way *w = address != NULL && copy == NULL ? NULL : way_get(l, host);

	if (w == NULL) {
		free(copy);
		return NULL;
	}
	if (copy != NULL) {
		free(w->address);
		w->address = copy;
	}
	w->has_key = key != NULL;
	if (key != NULL)
		memcpy(w->key, key, KEY_SIZE);
	return w;
}

static bool is_enrolled(const struct link *l, const char *name, const uint8_t *key)
{
	struct identity id;
	struct keel_err err;

	return key_read_public(l->peers_dir, name, &id, &err) == 0 && memcmp(id.public_key, key, KEY_SIZE) == 0;
}

/* Connections that were opened for it, or are with it, end; one that is up and enrolled does not. */
void way_forget(struct link *l, struct way *w)
{
	bool stays = w->has_key && is_enrolled(l, w->host, w->key);
	struct conn *c;

	dial_stop(w);
	DL_FOREACH(l->conns, c) {
		if (c->way != w && strcmp(c->name, w->host) != 0)
			continue;
		c->way = NULL;
		if (!stays || c->state != CONN_UP)
			conn_break(c, "it is expected no more");
	}
	DL_DELETE(l->ways, w);
	free(w->host);
	free(w->address);
	free(w);
}

bool address_is(const char *text)
{
	char *host, *port;

	if (address_split(text, &host, &port) < 0)
		return false;
	free(host);
	free(port);
	return true;
}

/* Connections with another key than the new one. */
static void conns_recheck(const struct way *w)
{
	struct conn *c;

	DL_FOREACH(w->link->conns, c)
		if ((c->way == w || strcmp(c->name, w->host) == 0) && c->state >= CONN_HEADER &&
		    memcmp(c->theirs.static_key, w->key, KEY_SIZE) != 0)
			conn_break(c, "it is expected with another key now");
}

/* An attempt is under way, or has led to a link; one that waits for its time is made now. */
static bool is_dialled(const struct way *w)
{
	const struct conn *c = w->link->conns;

	while (c != NULL && c->way != w)
		c = c->next;
	return c != NULL || w->job != NULL;
}

int32_t ways_expect(struct keel_mod *m, const char *host, const char *address, const char *key)
{
	struct link *l = m->state;
	uint8_t bytes[KEY_SIZE];
	struct keel_err err;
	struct way *w = way_find(l, host);
	bool dials;
	int32_t ret;

	if (key == NULL) {
		if (w != NULL && w->n_callers > 0 && --w->n_callers == 0)
			way_forget(l, w);
		return 0;
	}
	if (!key_host_valid(host, strlen(host)) || strcmp(host, SERVER_PEER) == 0 || !key_decode(key, strlen(key), bytes) ||
	    (address != NULL && (strlen(address) >= KEEL_CARRIER_ADDRESS || !address_is(address))))
		return -EINVAL;
	if (is_enrolled(l, SERVER_PEER, bytes))
		return 0;
	ret = own_key(l, &err);
	if (ret < 0) {
		keel_log(m, KEEL_LOG_ERROR, "Link", host, "%s", err.text);
		return ret;
	}
	dials = w != NULL && w->address != NULL && address != NULL && strcmp(w->address, address) == 0 && is_dialled(w);
	w = way_set(l, host, address, bytes);
	if (w == NULL)
		return -ENOMEM;
	w->n_callers++;
	conns_recheck(w);
	if (address != NULL && l->running && !dials)
		dial_start(w);
	return 0;
}

static void key_text(const uint8_t key[KEY_SIZE], char text[KEEL_CARRIER_KEY])
{
	sodium_bin2base64(text, KEEL_CARRIER_KEY, key, KEY_SIZE, sodium_base64_VARIANT_ORIGINAL);
}

int32_t ways_own(struct keel_mod *m, char address[KEEL_CARRIER_ADDRESS], char key[KEEL_CARRIER_KEY])
{
	struct link *l = m->state;
	struct keel_err err;
	int32_t ret = own_key(l, &err);

	if (ret < 0)
		return ret;
	strcpy(address, l->address);
	key_text(l->me.public_key, key);
	return 0;
}

int32_t ways_proved(struct keel_mod *m, const char *peer, char key[KEEL_CARRIER_KEY])
{
	const struct conn *c = conn_named(m->state, peer);

	if (c == NULL)
		return -ENOTCONN;
	key_text(c->theirs.static_key, key);
	return 0;
}
