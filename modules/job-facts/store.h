/* SPDX-License-Identifier: Apache-2.0
 *
 * store.h - facts of a job as a file: "name", "value", "name", ..., each ended by a NUL; calls no API.
 */
#ifndef JOB_FACTS_STORE_H
#define JOB_FACTS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACTS_MAX (4 * 1024 * 1024) /* bytes of a file */

/* May it be the name of a file? Ids come from the link. */
bool store_id_ok(const char *id);
struct facts {
	char *bytes; /* owned; terminated once more */
	size_t len;
};

/* Owned by the caller; no bytes: there is no memory. */
struct facts facts_copy(const char *bytes, size_t len);
/* Borrowed from `f`; NULL: there is none. */
const char *facts_value(const struct facts *f, const char *name);

/* Replaces the file of the job in the directory. 0; fails with -errno, -E2BIG: more than FACTS_MAX. */
int store_write(const char *dir, const char *id, const struct facts *f);
/* What the file has, owned by the caller; no bytes: there is none. */
struct facts store_read(const char *dir, const char *id);

#endif
