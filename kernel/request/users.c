/* SPDX-License-Identifier: Apache-2.0
 *
 * users.c - user names by uid.
 *
 * NSS may use the network, so it is called on worker threads only. An entry is being looked up (lookup set, waits are
 * queued) or known (user set, until expires_ms). Errors are kept for a short time. A user is reference
 * counted: sessions outlive an expired entry.
 *
 * Groups change: an entry older than FRESH_MS is looked up again at its next use. When that takes longer than
 * PATIENCE_MS, fails, or many are under way (the store needs worker threads, too), the last user is still returned.
 */
#include "request/users.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "loop/loop.h"
#include "util/index.h"

#define KNOWN_MS (10 * 60 * 1000)
#define FRESH_MS 900 /* no membership is older than a second */
#define PATIENCE_MS 500
#define ERROR_MS 2000
#define REFRESHES_MAX 4u
#define ENTRIES_MAX 4096u
#define PASSWD_BUF_MAX (1024u * 1024u)

/* The part that a worker thread uses. Outlives its entry when users are destroyed meanwhile. */
struct lookup {
	struct user *user; /* being filled in; then owned by the entry */
	struct users_entry *entry; /* loop thread only; NULL: the entry is gone */
};

struct users_entry {
	struct index_key key; /* first; uid */
	uint32_t uid;
	struct users *users;
	struct lookup *lookup;
	struct user *user;
	int64_t expires_ms, stale_ms;
	struct loop_timer *patience; /* deadline of a lookup while there is an older user */
	bool late;		     /* it has passed: the older user is returned */
	struct users_wait *waits;
	struct users_entry *prev, *next;
};

struct users {
	struct loop *loop;
	char *host;
	struct index entries;
	struct users_entry *oldest; /* the first of them all */
	unsigned refreshes;	     /* lookups of users that are known */
};

int users_create(struct loop *l, const char *host, struct users **ret_users)
{
	struct users *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return -ENOMEM;
	u->loop = l;
	u->host = strdup(host);
	if (u->host == NULL) {
		free(u);
		return -ENOMEM;
	}
	*ret_users = u;
	return 0;
}

static void user_destroy(struct user *u)
{
	if (u == NULL)
		return;
	free(u->name);
	free(u->who);
	free(u->group);
	free(u->groups);
	free(u);
}

void user_unref(struct user *u)
{
	if (u != NULL && --u->refs == 0)
		user_destroy(u);
}

static void entry_destroy(struct users_entry *e)
{
	index_remove(&e->users->entries, &e->key);
	DL_DELETE(e->users->oldest, e);
	if (e->lookup != NULL)
		e->lookup->entry = NULL; /* the result of its worker thread is dropped */
	loop_timer_cancel(e->patience);
	user_unref(e->user);
	free(e);
}

void users_destroy(struct users *u)
{
	struct users_entry *e, *next;

	if (u == NULL)
		return;
	DL_FOREACH_SAFE(u->oldest, e, next) {
		while (e->waits != NULL)
			users_forget(e->waits);
		entry_destroy(e);
	}
	index_fini(&u->entries);
	free(u->host);
	free(u);
}

void users_forget(struct users_wait *w)
{
	if (w->entry == NULL)
		return;
	DL_DELETE(w->entry->waits, w);
	w->entry = NULL;
}

static char *group_name(gid_t gid)
{
	char buf[16384];
	struct group gr, *found = NULL;

	if (getgrgid_r(gid, &gr, buf, sizeof(buf), &found) != 0 || found == NULL)
		return NULL;
	return strdup(found->gr_name);
}

/* "a,b,c"; the primary group comes first. */
static char *group_names(const char *user, gid_t primary)
{
	gid_t *ids = NULL;
	int room, n = 64;
	char *list = NULL;

	do { /* when `ids` is too small the call sets n to what is needed */
		gid_t *more = reallocarray(ids, room = n, sizeof(*ids));

		if (more == NULL) {
			free(ids);
			return NULL;
		}
		ids = more;
	} while (getgrouplist(user, primary, ids, &n) < 0 && n > room);
	for (int i = 0; i < n; i++) {
		char *name = group_name(ids[i]), *longer = NULL;

		if (name != NULL && asprintf(&longer, "%s%s%s", list != NULL ? list : "",
					     list != NULL ? "," : "", name) >= 0) {
			free(list);
			list = longer;
		}
		free(name);
	}
	free(ids);
	return list;
}

/* On a worker thread. */
static void lookup_work(void *arg)
{
	struct user *u = ((struct lookup *)arg)->user;
	struct passwd pw, *found = NULL;
	size_t size = 4096;
	char *buf = NULL;
	int ret;

	do {
		char *bigger = realloc(buf, size *= 2);

		if (bigger == NULL) {
			ret = ENOMEM;
			break;
		}
		buf = bigger;
		ret = getpwuid_r(u->uid, &pw, buf, size, &found);
	} while (ret == EINTR || (ret == ERANGE && size < PASSWD_BUF_MAX));
	if (ret == 0 && found != NULL) {
		u->name = strdup(found->pw_name);
		u->group = group_name(found->pw_gid);
		u->groups = group_names(found->pw_name, found->pw_gid);
		u->error = u->name == NULL ? -ENOMEM : 0;
	} else {
		u->error = ret == 0 ? -ENOENT : -ret;
	}
	free(buf);
}

int user_who(struct user *u, const char *host)
{
	if (u->name != NULL && asprintf(&u->who, "%s@%s", u->name, host) < 0) {
		u->who = NULL;
		u->error = -ENOMEM;
	}
	return u->error;
}

/* Calls the callbacks that wait for the entry; they may add, forget or drop others. */
static void waits_run(struct users_entry *e)
{
	struct users_wait *w;

	while ((w = e->waits) != NULL) {
		DL_DELETE(e->waits, w);
		w->entry = NULL;
		e->user->refs++;
		w->fn(w->arg, e->user);
	}
}

/* Moves the result of a lookup into the entry, unless it is an error and there is an older user. */
static void entry_settle(struct users_entry *e, struct lookup *k)
{
	int64_t now_ms = loop_now_ms(e->users->loop);
	bool known = user_who(k->user, e->users->host) == 0;

	e->users->refreshes -= e->user != NULL;
	e->stale_ms = now_ms + (known ? FRESH_MS : ERROR_MS);
	if (!known && e->user != NULL)
		return;
	user_unref(e->user);
	e->user = k->user;
	k->user = NULL;
	e->expires_ms = now_ms + (known ? KNOWN_MS : ERROR_MS);
}

static void lookup_done(void *arg)
{
	struct lookup *k = arg;
	struct users_entry *e = k->entry;

	if (e != NULL) {
		loop_timer_cancel(e->patience);
		e->patience = NULL;
		entry_settle(e, k);
		e->late = true; /* no caller waits from now on */
		waits_run(e);
		e->lookup = NULL; /* may be evicted from now on */
	}
	user_unref(k->user);
	free(k);
}

static void evict_oldest(struct users *u)
{
	struct users_entry *e, *next;

	DL_FOREACH_SAFE(u->oldest, e, next) {
		if (e->lookup == NULL) {
			entry_destroy(e);
			return;
		}
	}
}

static struct users_entry *entry_find(struct users *u, uint32_t uid)
{
	struct users_entry *e = (struct users_entry *)index_find(&u->entries, (const char *)&uid, sizeof(uid));

	if (e != NULL && e->lookup == NULL && e->expires_ms <= loop_now_ms(u->loop)) {
		entry_destroy(e);
		return NULL;
	}
	return e;
}

static struct users_entry *entry_ask(struct users *u, uint32_t uid)
{
	struct users_entry *e = calloc(1, sizeof(*e));
	struct lookup *k = calloc(1, sizeof(*k));
	struct user *user = calloc(1, sizeof(*user));

	if (e == NULL || k == NULL || user == NULL)
		goto fail;
	*user = (struct user){ .uid = uid, .refs = 1 };
	*k = (struct lookup){ .user = user, .entry = e };
	*e = (struct users_entry){ .uid = uid, .users = u, .lookup = k };
	index_key_init(&e->key, (const char *)&e->uid, sizeof(e->uid));
	if (u->entries.n >= ENTRIES_MAX)
		evict_oldest(u);
	if (index_add(&u->entries, &e->key) < 0)
		goto fail;
	DL_APPEND(u->oldest, e);
	if (loop_work(u->loop, lookup_work, lookup_done, k) == 0)
		return e;
	DL_DELETE(u->oldest, e);
	index_remove(&u->entries, &e->key);
fail:
	free(e);
	free(k);
	free(user);
	return NULL;
}

static void lookup_late(void *arg)
{
	struct users_entry *e = arg;

	e->patience = NULL;
	e->late = true;
	waits_run(e);
}

/* Looks a known user up again; on an error the entry stays as it is. */
static void entry_refresh(struct users_entry *e)
{
	struct users *u = e->users;
	struct lookup *k = calloc(1, sizeof(*k));
	struct user *user = calloc(1, sizeof(*user));

	if (k != NULL && user != NULL && (e->patience = loop_timer(u->loop, PATIENCE_MS, lookup_late, e)) != NULL) {
		*user = (struct user){ .uid = e->uid, .refs = 1 };
		*k = (struct lookup){ .user = user, .entry = e };
		if (loop_work(u->loop, lookup_work, lookup_done, k) == 0) {
			e->lookup = k;
			e->late = false;
			u->refreshes++;
			return;
		}
		loop_timer_cancel(e->patience);
		e->patience = NULL;
	}
	free(k);
	free(user);
}

/* Returns whether the entry is known and need not be waited for. */
static bool entry_holds(struct users_entry *e)
{
	struct users *u = e->users;

	if (e->user == NULL)
		return false;
	if (e->lookup == NULL && e->stale_ms <= loop_now_ms(u->loop) && u->refreshes < REFRESHES_MAX)
		entry_refresh(e);
	return e->lookup == NULL || e->late;
}

int users_ask(struct users *u, uint32_t uid, struct users_wait *w)
{
	struct users_entry *e = entry_find(u, uid);

	w->entry = NULL;
	if (e != NULL && entry_holds(e)) {
		e->user->refs++;
		w->fn(w->arg, e->user);
		return 0;
	}
	if (e == NULL)
		e = entry_ask(u, uid);
	if (e == NULL)
		return -ENOMEM;
	DL_APPEND(e->waits, w);
	w->entry = e;
	return 0;
}
