/* SPDX-License-Identifier: Apache-2.0
 *
 * roles.c - adds the roles manager and operator to verified clients.
 */
#include "manager.h"

#include <string.h>

KEEL_ATTRS_OF(server, managers, operators);

/* An entry `user@host`, `user@*` or `user@*.domain`. */
static bool entry_is(const char *entry, size_t len, const char *user, const char *host)
{
	const char *at = memchr(entry, '@', len);
	size_t name = at ? (size_t)(at - entry) : len, rest, have = strlen(host);

	if (strlen(user) != name || memcmp(entry, user, name) != 0)
		return false;
	if (!at)
		return true;
	at++;
	rest = len - name - 1;
	if (rest && *at == '*')
		return have >= rest - 1 && memcmp(host + have - (rest - 1), at + 1, rest - 1) == 0;
	return have == rest && memcmp(host, at, rest) == 0;
}

struct search {
	const char *user, *host;
	bool found;
};

static void search_text(void *arg, const char *key, const char *text, uint32_t len)
{
	struct search *s = arg;
	const char *end = text + len;

	(void)key;
	while (text < end && !s->found) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		size_t n = (size_t)((comma ? comma : end) - text);

		s->found = entry_is(text, n, s->user, s->host);
		text += n + 1;
	}
}

static bool listed(struct keel_mod *mod, const struct keel_attr *attr,
		   const struct keel_ev_client_auth *ev)
{
	struct keel_obj *server = server_object(mod);
	struct search s = { ev->user, ev->host, false };

	if (server && keel_is_set(server, attr))
		keel_emit(server, attr, NULL, &(struct keel_emit){ search_text, &s });
	return s.found;
}

keel_verdict on_client_auth(struct keel_call *c, const struct keel_ev_client_auth *ev)
{
	if (listed(c->mod, server_managers, ev))
		keel_add(c, KEEL_MANAGER);
	if (listed(c->mod, server_operators, ev))
		keel_add(c, KEEL_OPERATOR);
	return KEEL_NEXT;
}
