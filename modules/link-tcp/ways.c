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
	free(w->address);
	w->address = copy;
	w->has_key = key != NULL;
	if (key != NULL)
		memcpy(w->key, key, KEY_SIZE);
	return w;
}

/* Connections that were opened for it, or are with it, end. */
void way_forget(struct link *l, struct way *w)
{
	struct conn *c;

	dial_stop(w);
	DL_FOREACH(l->conns, c) {
		if (c->way != w && strcmp(c->name, w->host) != 0)
			continue;
		c->way = NULL;
		conn_break(c, "it is expected no more");
	}
	DL_DELETE(l->ways, w);
	free(w->host);
	free(w->address);
	free(w);
}

static bool is_address(const char *text)
{
	char *host, *port;

	if (address_split(text, &host, &port) < 0)
		return false;
	free(host);
	free(port);
	return true;
}

int32_t ways_expect(struct keel_mod *m, const char *host, const char *address, const char *key)
{
	struct link *l = m->state;
	uint8_t bytes[KEY_SIZE];
	struct keel_err err;
	struct way *w = way_find(l, host);
	int32_t ret;

	if (key == NULL) {
		if (w != NULL)
			way_forget(l, w);
		return 0;
	}
	if (!key_host_valid(host, strlen(host)) || strcmp(host, SERVER_PEER) == 0 || !key_decode(key, strlen(key), bytes) ||
	    (address != NULL && !is_address(address)))
		return -EINVAL;
	ret = own_key(l, &err);
	if (ret < 0) {
		keel_log(m, KEEL_LOG_ERROR, "Link", host, "%s", err.text);
		return ret;
	}
	w = way_set(l, host, address, bytes);
	if (w == NULL)
		return -ENOMEM;
	if (address != NULL && l->running)
		dial_start(w);
	return 0;
}
