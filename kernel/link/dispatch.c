/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch.c - from a message's name to the module that listens to it.
 *
 * The sender's role is that of its key; a message from a role the module did not name is logged and
 * dropped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link/inside.h"
#include "log/log.h"
#include "msg/msg.h"
#include "util/crumb.h"

int dispatch_on(struct links *l, struct owner *owner, const char *name, uint32_t from, message_fn *fn)
{
	struct handler *h;

	if (name == NULL || name[0] == '\0' || fn == NULL || (from & KEEL_ANY) == 0)
		return -EINVAL;
	if (index_find(&l->handlers, name, strlen(name)))
		return -EEXIST;
	h = calloc(1, sizeof(*h) + strlen(name) + 1);
	if (h == NULL)
		return -ENOMEM;
	h->from = from;
	h->owner = owner;
	h->fn = fn;
	strcpy(h->name, name);
	index_key_init(&h->key, h->name, strlen(h->name));
	if (index_add(&l->handlers, &h->key) == 0)
		return 0;
	free(h);
	return -ENOMEM;
}

void dispatch_detach(struct links *l, struct owner *owner)
{
	struct handler *h;

	for (uint32_t at = 0; (h = (struct handler *)index_next(&l->handlers, &at));) {
		if (owner != NULL && h->owner != owner)
			continue;
		index_remove(&l->handlers, &h->key);
		free(h);
		at--;
	}
}

int dispatch(struct links *l, const char *peer, uint32_t daemon, const char *bytes, size_t len)
{
	struct keel_msg *m;
	struct handler *h;
	const char *name;

	if (msg_open(bytes, len, &m) < 0)
		return -EPROTO;
	name = msg_api()->str(m, "msg");
	if (name == NULL) {
		msg_destroy(m);
		return -EPROTO;
	}
	h = (struct handler *)index_find(&l->handlers, name, strlen(name));
	if (strcmp(name, GOODBYE) == 0)
		peer_leaves(l, peer);
	else if (h == NULL)
		log_add(l->parts->log, KEEL_LOG_DEBUG, "Link", peer,
			"message '%.64s' ignored: no module here listens to it", name);
	else if ((h->from & daemon) == 0)
		log_add(l->parts->log, KEEL_LOG_SECURITY, "Link", peer,
			"message '%.64s' refused: it may not come from this kind of daemon", name);
	else
		CRUMB_CALL(h->owner, "message handler", name, h->fn(&h->owner->pub, peer, m));
	msg_destroy(m);
	return 0;
}
