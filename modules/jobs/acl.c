/* SPDX-License-Identifier: Apache-2.0
 *
 * acl.c - who may submit: the lists of the server and of the queue.
 *
 * An entry is `[+|-]name[@host]`, or `[+|-]host`; a host may be `*` or `*.domain`. Of the entries that
 * fit, the one that says most about the host counts; `-` denies. Nothing fits: denied, unless a bare
 * `+` is in the list. An empty list that is enabled denies everybody.
 */
#include "jobs.h"

#include <string.h>
#include <strings.h>

static const struct {
	const char *klass, *enable, *list;
	enum { BY_USER, BY_GROUP, BY_HOST } by;
	int32_t code;
} lists[] = {
	{ "server", "acl_user_enable", "acl_users", BY_USER, PBSE_PERM },
	{ "server", "acl_host_enable", "acl_hosts", BY_HOST, PBSE_BADHOST },
	{ "queue", "acl_user_enable", "acl_users", BY_USER, PBSE_PERM },
	{ "queue", "acl_group_enable", "acl_groups", BY_GROUP, PBSE_PERM },
	{ "queue", "acl_host_enable", "acl_hosts", BY_HOST, PBSE_QACESS },
};
_Static_assert(KEEL_COUNT(lists) == ACL_LISTS, "room for the handles");

struct search {
	const char *name; /* NULL: hosts only */
	const char *host;
	int best; /* how much the entry that counts says; -1 none fits */
	bool allowed;
};

/* How much a host pattern says about `host` when it fits it; -1 it does not. */
static int host_fits(const char *pattern, size_t len, const char *host)
{
	size_t have = strlen(host);

	if (len && *pattern == '*')
		return have >= len - 1 &&
		       strncasecmp(host + have - (len - 1), pattern + 1, len - 1) == 0
			       ? (int)len
			       : -1;
	return have == len && strncasecmp(host, pattern, len) == 0 ? 1024 + (int)len : -1;
}

static int entry_fits(const struct search *s, const char *entry, size_t len)
{
	const char *at = memchr(entry, '@', len);
	size_t name = at ? (size_t)(at - entry) : len;

	if (!s->name)
		return host_fits(entry, len, s->host);
	if (strlen(s->name) != name || strncmp(s->name, entry, name) != 0)
		return -1;
	return at ? host_fits(at + 1, len - name - 1, s->host) : 0;
}

static void search_entry(struct search *s, const char *entry, size_t len)
{
	bool allow = *entry != '-';
	int fits;

	if (len && (*entry == '+' || *entry == '-')) {
		entry++;
		len--;
	}
	if (!len) { /* a bare sign is what counts where nothing fits */
		s->allowed = s->best < 0 ? allow : s->allowed;
		return;
	}
	fits = entry_fits(s, entry, len);
	if (fits < 0 || fits < s->best)
		return;
	s->best = fits;
	s->allowed = allow;
}

static void search_text(void *arg, const char *key, const char *text, uint32_t len)
{
	const char *end = text + len;

	(void)key;
	while (text < end) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		size_t n = (size_t)((comma ? comma : end) - text);

		if (n)
			search_entry(arg, text, n);
		text += n + 1;
	}
}

void acl_find(struct keel_mod *mod)
{
	struct state *st = mod->state;

	for (size_t i = 0; i < KEEL_COUNT(lists); i++) {
		st->acl[i].enable = st->object->attr(mod, lists[i].klass, lists[i].enable);
		st->acl[i].list = st->object->attr(mod, lists[i].klass, lists[i].list);
	}
}

int32_t acl_check(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *queue)
{
	struct state *st = mod->state;
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));

	for (size_t i = 0; i < KEEL_COUNT(lists); i++) {
		struct keel_obj *obj = strcmp(lists[i].klass, "server") == 0 ? server : queue;
		struct search s = { .host = who->host, .best = -1 };

		if (!st->acl[i].enable || !st->object->get_int(obj, st->acl[i].enable))
			continue;
		if (lists[i].by != BY_HOST)
			s.name = lists[i].by == BY_USER ? who->user : who->group ? who->group : "";
		if (st->acl[i].list && st->object->is_set(obj, st->acl[i].list))
			st->object->emit(obj, st->acl[i].list, NULL,
					 &(struct keel_emit){ search_text, &s });
		if (!s.allowed)
			return lists[i].code;
	}
	return 0;
}
