/* SPDX-License-Identifier: Apache-2.0
 *
 * known.h - what a host knows of its jobs: attributes of each and of its vnodes, in memory and in mom_priv/hooks/jobs. Calls nothing of the daemon.
 */
#ifndef PYTHON_HOOKS_KNOWN_H
#define PYTHON_HOOKS_KNOWN_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "talk.h"

#define KNOWN_MAX (16u * 1024u * 1024u) /* bytes of one job, as the server sends it */

struct known_value {
	char *attr, *key, *text; /* key NULL: none */
};
struct known_thing {
	char *id;
	struct known_value *values; /* those of one attribute stand together */
	uint32_t n, room;
	uint32_t round; /* of an event that shows it */
};
struct known {
	UT_hash_handle hh;
	char *id;
	int64_t run, at; /* its run_version; when it came */
	struct known_thing job, *vnodes;
	struct known_thing made; /* variables that scripts have set (variables.c), by name; in memory alone */
	uint32_t n_vnodes, next; /* the one that is likely looked for next */
	uint32_t round;
	bool kept; /* in memory and on disk; else only what the part says is known, for one event */
};

/* Of {run, at, job: OBJECT, vnodes: {name: OBJECT}}. NULL: it is not that, or no memory. */
struct known *known_read(const char *id, const void *bytes, uint32_t len);
struct known *known_new(const char *id, int64_t run);
void known_free(struct known *k);
void known_write(const struct known *k, struct pack *p); /* the same map again */
struct known_thing *known_vnode(const struct known *k, const char *name, bool make); /* NULL: it has no such vnode, or no memory */
const char *known_get(const struct known_thing *t, const char *attr, const char *key); /* NULL: unset */
/* text NULL: unset; with key NULL of all keys, and the value as a whole. -ENOMEM. */
int known_set(struct known_thing *t, const char *attr, const char *key, const char *text);
void known_pack(const struct known_thing *t, const char *klass, struct pack *p); /* an OBJECT, without facts */
void known_pack_attrs(const struct known_thing *t, struct pack *p); /* {name: text | {key: text}} */

/* The folder: a file for each job, by its id. Ids that are no names of files fail with -EINVAL. */
int known_save(const char *dir, const struct known *k); /* 0; -errno */
void known_forget(const char *dir, const char *id);
/* Calls fn for each, which owns it. -errno: the folder cannot be made or read. */
int known_load(const char *dir, void (*fn)(void *arg, struct known *k), void *arg);
#endif
