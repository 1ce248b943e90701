/* SPDX-License-Identifier: Apache-2.0
 *
 * users.h - user names by uid, looked up on worker threads and kept for a while.
 */
#ifndef KEELSON_USERS_H
#define KEELSON_USERS_H

#include <stdint.h>

struct loop;
struct users;

struct user {
	uint32_t uid;
	int error;        /* 0; -ENOENT: no such account; other -errno: the lookup failed */
	char *name, *who; /* who: name@host; NULL when error */
	char *group;      /* name of the primary group; NULL when it has none */
	char *groups;     /* all of them, a comma list, the primary first; NULL: not known */
	unsigned refs;
};
void user_unref(struct user *u); /* NULL is fine */
int user_who(struct user *u, const char *host); /* fills in `who`; returns 0 or u->error */

/* A caller that waits; owned by the caller until fn was called or it was forgotten. */
struct users_wait {
	void (*fn)(void *arg, struct user *u); /* u: one reference, moved */
	void *arg;
	struct users_entry *entry;
	struct users_wait *prev, *next;
};

int users_create(struct loop *l, const char *host, struct users **ret_users);
void users_destroy(struct users *u); /* forgets every wait */
/* fn is called once: before this returns, or later on the loop. Returns 0 or -ENOMEM (fn is never called). */
int users_ask(struct users *u, uint32_t uid, struct users_wait *w);
void users_forget(struct users_wait *w);

#endif
