/* SPDX-License-Identifier: Apache-2.0
 *
 * store.h - facts of jobs in memory, and in a file for the next daemon: the last record of a job counts. Calls no API.
 *
 * A record is "ID LENGTH RUN TIME\n" and so many bytes: "name", "value", "name", ..., each ended by a NUL. It is one write: a daemon
 * that is killed meanwhile leaves a tail that is no record, and the next one cuts it off.
 */
#ifndef JOB_FACTS_STORE_H
#define JOB_FACTS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FACTS_MAX (4 * 1024 * 1024) /* bytes of a job */

struct facts; /* of a job */
struct store {
	struct facts *all; /* hash by id */
	char path[4096];
	int fd;
	off_t size, long_at; /* of the file; from here on it is shortened */
};

/* Reads what is there. 0; fails with -errno. */
int store_open(struct store *s, const char *path);
void store_close(struct store *s);

/* Replaces those of the job; they are of that run. 0, and they are in the file; fails with -errno: those before it stay. -EINVAL: no id of a job;
 * -E2BIG: more than FACTS_MAX. */
int store_put(struct store *s, const char *id, int64_t run, const char *bytes, size_t len, int64_t now);
void store_drop(struct store *s, const char *id);
bool store_has(const struct store *s, const char *id);
/* INT64_MIN: nothing is known of the job. */
int64_t store_run(const struct store *s, const char *id);
/* Owned by the store; NULL: there is none. */
const char *store_value(const struct store *s, const char *id, const char *name);

/* A store whose file is long wants to be shortened: jobs that are not kept are dropped, the file becomes what is in memory. */
bool store_is_long(const struct store *s);
int store_shorten(struct store *s, bool (*keep)(void *arg, const char *id, int64_t at), void *arg);

#endif
