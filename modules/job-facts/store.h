/* SPDX-License-Identifier: Apache-2.0
 *
 * store.h - facts of a job as a file: "name", "value", "name", ..., each ended by a NUL; calls no API.
 */
#ifndef JOB_FACTS_STORE_H
#define JOB_FACTS_STORE_H

#include <stdbool.h>
#include <stdint.h>

#define FACTS_MAX (4 * 1024 * 1024) /* bytes of a file */

/* May it be the name of a file? Ids come from the link. */
bool store_id_ok(const char *id);
/* Replaces the file of the job in the directory. 0; fails with -errno, -E2BIG: more than FACTS_MAX. */
int store_write(const char *dir, const char *id, const char *const *names, const char *const *values, uint32_t n);
/* The value, which the caller frees; NULL: there is none. */
char *store_read(const char *dir, const char *id, const char *name);

#endif
