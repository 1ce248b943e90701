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

static void handler_destroy(struct links *l, struct handler *h)
{
	HASH_DEL(l->handlers, h);
	free(h->name);
	free(h);
}

int dispatch_on(struct links *l, struct owner *owner, const char *name, uint32_t from,
		void (*fn)(struct keel_mod *, const char *, const struct keel_msg *))
{
	struct handler *h;

	if (name == NULL || name[0] == '\0' || fn == NULL || (from & KEEL_ANY) == 0)
		return -EINVAL;
	HASH_FIND_STR(l->handlers, name, h);
	if (h != NULL)
		return -EEXIST;
	h = calloc(1, sizeof(*h));
	if (h == NULL)
		return -ENOMEM;
	h->name = strdup(name);
	if (h->name == NULL) {
		free(h);
		return -ENOMEM;
	}
	h->from = from;
	h->owner = owner;
	h->fn = fn;
	HASH_ADD_KEYPTR(hh, l->handlers, h->name, strlen(h->name), h);
	if (hash_holds(h))
		return 0;
	free(h->name);
	free(h);
	return -ENOMEM;
}

void dispatch_detach(struct links *l, struct owner *owner)
{
	struct handler *h, *next;

	HASH_ITER(hh, l->handlers, h, next) {
		if (owner == NULL || h->owner == owner)
			handler_destroy(l, h);
	}
}

int dispatch(struct links *l, const char *peer, uint32_t daemon, const char *bytes, size_t len)
{
	struct keel_msg *m;
	struct handler *h = NULL;
	struct crumb crumb;
	const char *name;

	if (msg_open(bytes, len, &m) < 0)
		return -EPROTO;
	name = msg_api()->str(m, "msg");
	if (name == NULL) {
		msg_destroy(m);
		return -EPROTO;
	}
	HASH_FIND_STR(l->handlers, name, h);
	if (h == NULL)
		log_add(l->parts->log, KEEL_LOG_DEBUG, "Link", peer,
			"message '%.64s' ignored: no module here listens to it", name);
	else if ((h->from & daemon) == 0)
		log_add(l->parts->log, KEEL_LOG_SECURITY, "Link", peer,
			"message '%.64s' refused: it may not come from this kind of daemon", name);
	else {
		crumb_begin(&crumb, h->owner, "message handler", name);
		h->fn(&h->owner->pub, peer, m);
		crumb_end(&crumb);
	}
	msg_destroy(m);
	return 0;
}
