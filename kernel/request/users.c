/* SPDX-License-Identifier: Apache-2.0
 *
 * users.c - what the clients of one uid share: their number, the memory of frames to them, and who their user is.
 *
 * NSS may use the network, so it is called on worker threads only; clients wait meanwhile. Errors are kept for a short
 * time. A user is reference counted: sessions outlive a newer lookup.
 *
 * Groups change: a user older than FRESH_MS is looked up again for the next client. When that takes longer than
 * PATIENCE_MS, fails, or many are under way (the store needs worker threads, too), clients get the older user.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "request/inside.h"

#define KNOWN_MS (10 * 60 * 1000)
#define FRESH_MS 900 /* no membership is older than a second */
#define PATIENCE_MS 500
#define ERROR_MS 2000
#define REFRESHES_MAX 4u
#define SHARES_MAX 1024u /* beside those of clients that are connected */
#define PASSWD_BUF_MAX (1024u * 1024u)

/* What a worker thread uses; it may outlive the share. */
struct lookup {
	struct user *user;	 /* being filled in */
	struct uid_share *share; /* loop thread only; NULL: it is gone */
};

/* ---- users -------------------------------------------------------------------------------------- */
void user_unref(struct user *u)
{
	if (u == NULL || --u->refs > 0)
		return;
	free(u->name);
	free(u->who);
	free(u->group);
	free(u->groups);
	free(u);
}

int user_who(struct user *u, const char *host)
{
	if (u->name != NULL && asprintf(&u->who, "%s@%s", u->name, host) < 0) {
		u->who = NULL;
		u->error = -ENOMEM;
	}
	return u->error;
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

/* ---- shares ------------------------------------------------------------------------------------- */
static void share_destroy(struct uid_share *s)
{
	DL_DELETE(s->router->shares, s);
	s->router->n_shares--;
	if (s->lookup != NULL)
		s->lookup->share = NULL;
	loop_timer_cancel(s->patience);
	user_unref(s->user);
	free(s);
}

void shares_destroy(struct router *r)
{
	while (r->shares != NULL)
		share_destroy(r->shares);
}

struct uid_share *share_get(struct router *r, uint32_t uid)
{
	struct uid_share *s, *unused = NULL;

	DL_FOREACH(r->shares, s) {
		if (s->uid == uid)
			return s;
		if (unused == NULL && s->n == 0 && s->lookup == NULL)
			unused = s;
	}
	if (r->n_shares >= SHARES_MAX && unused != NULL)
		share_destroy(unused);
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return NULL;
	s->router = r;
	s->uid = uid;
	DL_APPEND(r->shares, s);
	r->n_shares++;
	return s;
}

/* Clients that wait for their user get it; each call may drop the client. */
static void waiting_go_on(struct uid_share *s)
{
	struct client *c = s->router->clients;

	while (c != NULL) {
		if (c->share == s && c->user == NULL) {
			s->user->refs++;
			client_known(c, s->user);
			c = s->router->clients;
		} else {
			c = c->next;
		}
	}
}

static void lookup_done(void *arg)
{
	struct lookup *k = arg;
	struct uid_share *s = k->share;

	if (s != NULL) {
		struct router *r = s->router;
		int64_t now_ms = loop_now_ms(r->parts->loop);
		bool known = user_who(k->user, r->parts->host_name) == 0;

		loop_timer_cancel(s->patience);
		s->patience = NULL;
		s->lookup = NULL;
		r->refreshes -= s->user != NULL;
		s->stale_ms = now_ms + (known ? FRESH_MS : ERROR_MS);
		if (known || s->user == NULL) {
			user_unref(s->user);
			s->user = k->user;
			k->user = NULL;
			s->expires_ms = now_ms + (known ? KNOWN_MS : ERROR_MS);
		}
		waiting_go_on(s);
	}
	user_unref(k->user);
	free(k);
}

static void lookup_late(void *arg)
{
	struct uid_share *s = arg;

	s->patience = NULL;
	s->late = true;
	waiting_go_on(s);
}

/* Without memory for it there is no lookup. */
static void lookup_start(struct uid_share *s)
{
	struct loop *l = s->router->parts->loop;
	struct lookup *k = calloc(1, sizeof(*k));
	struct user *user = calloc(1, sizeof(*user));

	if (s->user != NULL)
		s->patience = loop_timer(l, PATIENCE_MS, lookup_late, s);
	if (k != NULL && user != NULL && (s->user == NULL || s->patience != NULL)) {
		*user = (struct user){ .uid = s->uid, .refs = 1 };
		*k = (struct lookup){ .user = user, .share = s };
		if (loop_work(l, lookup_work, lookup_done, k) == 0) {
			s->lookup = k;
			s->late = false;
			s->router->refreshes += s->user != NULL;
			return;
		}
	}
	loop_timer_cancel(s->patience);
	s->patience = NULL;
	free(k);
	free(user);
}

int user_find(struct client *c)
{
	struct uid_share *s = c->share;
	struct router *r = s->router;
	int64_t now_ms = loop_now_ms(r->parts->loop);

	if (s->user != NULL && s->lookup == NULL && s->expires_ms <= now_ms) {
		user_unref(s->user);
		s->user = NULL;
	}
	if (s->lookup == NULL && (s->user == NULL || (s->stale_ms <= now_ms && r->refreshes < REFRESHES_MAX)))
		lookup_start(s);
	if (s->user != NULL && (s->lookup == NULL || s->late)) {
		s->user->refs++;
		client_known(c, s->user);
		return 0;
	}
	return s->lookup != NULL ? 0 : -ENOMEM;
}
