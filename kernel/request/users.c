/* SPDX-License-Identifier: Apache-2.0
 *
 * users.c - what the clients of one uid share: their number, the memory of frames to them, and who their user is.
 *
 * NSS may use the network, so it is called on worker threads only; clients wait meanwhile. A user is reference counted:
 * sessions outlive a newer lookup.
 *
 * Groups change: an answer older than FRESH_MS is looked up again for the next client. When that takes longer than
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
#define REFRESHES_MAX 4u
#define SHARES_MAX 1024u /* beside those of clients that are connected */
#define PASSWD_BUF_MAX (1024u * 1024u)

/* ---- users -------------------------------------------------------------------------------------- */
void user_unref(struct user *u)
{
	if (u == NULL || --u->refs > 0)
		return;
	free(u->name);
	free(u->who);
	free(u->host);
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

struct user *user_of_host(const struct keel_remote_setup *def)
{
	struct user *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return NULL;
	*u = (struct user){ .uid = UINT32_MAX, .refs = 1, .name = strdup(def->user), .host = strdup(def->host),
			    .group = def->group != NULL ? strdup(def->group) : NULL,
			    .groups = def->groups != NULL ? strdup(def->groups) : NULL };
	if (u->name != NULL && u->host != NULL && (u->group == NULL) == (def->group == NULL) &&
	    (u->groups == NULL) == (def->groups == NULL) && user_who(u, u->host) == 0)
		return u;
	user_unref(u);
	return NULL;
}

static char *group_name(gid_t gid)
{
	char buf[16384];
	struct group gr, *found = NULL;

	if (getgrgid_r(gid, &gr, buf, sizeof(buf), &found) != 0 || found == NULL)
		return NULL;
	return strdup(found->gr_name);
}

/* "a,b,c"; the primary group comes first. NULL: none, or no memory. */
static char *group_names(const char *user, gid_t primary)
{
	gid_t *ids = NULL;
	int room, n = 64;
	struct buf list;

	do { /* when `ids` is too small the call sets n to what is needed */
		gid_t *more = reallocarray(ids, room = n, sizeof(*ids));

		if (more == NULL) {
			free(ids);
			return NULL;
		}
		ids = more;
	} while (getgrouplist(user, primary, ids, &n) < 0 && n > room);
	buf_init(&list);
	for (int i = 0; i < n; i++) {
		char *name = group_name(ids[i]);

		if (name != NULL)
			buf_printf(&list, "%s%s", list.len > 0 ? "," : "", name);
		free(name);
	}
	free(ids);
	return list.len > 0 ? buf_take(&list, NULL) : NULL;
}

static void lookup_work(void *arg)
{
	struct user *u = arg;
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
void share_destroy(struct uid_share *s)
{
	DL_DELETE(s->router->shares, s);
	s->router->n_shares--;
	if (s->lookup != NULL)
		s->lookup->share = NULL; /* the worker's, until lookup_done() */
	loop_timer_cancel(s->patience);
	user_unref(s->user);
	free(s->who);
	free(s);
}

struct uid_share *share_get(struct router *r, uint32_t uid, const char *who)
{
	struct uid_share *s, *unused = NULL;

	DL_FOREACH(r->shares, s) {
		if (s->uid == uid && strcmp(s->who != NULL ? s->who : "", who != NULL ? who : "") == 0)
			return s;
		if (unused == NULL && s->n == 0 && s->lookup == NULL)
			unused = s;
	}
	if (r->n_shares >= SHARES_MAX && unused != NULL)
		share_destroy(unused);
	s = calloc(1, sizeof(*s));
	if (s == NULL || (who != NULL && (s->who = strdup(who)) == NULL)) {
		free(s);
		return NULL;
	}
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
	struct user *u = arg;
	struct uid_share *s = u->share;
	int64_t now_ms;
	bool known;

	if (s == NULL) {
		user_unref(u);
		return;
	}
	now_ms = loop_now_ms(s->router->parts->loop);
	known = user_who(u, s->router->parts->host_name) == 0;
	loop_timer_cancel(s->patience);
	s->patience = NULL;
	s->lookup = NULL;
	s->router->refreshes -= s->user != NULL;
	s->stale_ms = now_ms + FRESH_MS;
	if (known || s->user == NULL || s->expires_ms <= now_ms) {
		user_unref(s->user);
		s->user = u;
		s->expires_ms = now_ms + (known ? KNOWN_MS : FRESH_MS);
	} else {
		user_unref(u);
	}
	waiting_go_on(s);
}

static void lookup_late(void *arg)
{
	struct uid_share *s = arg;

	s->patience = NULL;
	s->late = s->expires_ms > loop_now_ms(s->router->parts->loop);
	if (s->late)
		waiting_go_on(s);
}

/* Without memory for it there is no lookup. */
static void lookup_start(struct uid_share *s)
{
	struct loop *l = s->router->parts->loop;
	struct user *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return;
	*u = (struct user){ .uid = s->uid, .refs = 1, .share = s };
	if (loop_work(l, lookup_work, lookup_done, u) < 0) {
		free(u);
		return;
	}
	s->lookup = u;
	s->late = false;
	if (s->user == NULL)
		return;
	s->router->refreshes++;
	s->patience = loop_timer(l, PATIENCE_MS, lookup_late, s);
}

int user_find(struct client *c)
{
	struct uid_share *s = c->share;
	int64_t now_ms = loop_now_ms(s->router->parts->loop);
	bool known = s->user != NULL && now_ms < s->expires_ms;

	if (s->lookup == NULL && (!known || (s->stale_ms <= now_ms && s->router->refreshes < REFRESHES_MAX)))
		lookup_start(s);
	if (known && (s->lookup == NULL || s->late)) {
		s->user->refs++;
		client_known(c, s->user);
		return 0;
	}
	return s->lookup != NULL ? 0 : -ENOMEM;
}
