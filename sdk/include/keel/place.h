/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/place.h - where a file of a job is, "host:path": the same host, marks in a path. Header only.
 *
 * It asks no name service and touches no file. Any thread.
 */
#ifndef KEEL_PLACE_H
#define KEEL_PLACE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "keel/jobid.h"
#include "keel/text.h"

/* The same host by its name? One of the two may lack its domain. */
static inline bool keel_host_same(const char *a, const char *b)
{
	size_t n = strcspn(a, "."), m = strcspn(b, ".");

	if (strcasecmp(a, b) == 0)
		return true;
	return (!a[n] || !b[m]) && n == m && strncasecmp(a, b, n) == 0;
}

/* How long the mark at `at` is, and what stands for it, *ret_len characters of the id; 0: there is none. */
static inline size_t keel_mark_at(const char *id, const char *at, const char **ret, size_t *ret_len)
{
	static const char number[] = "^array_index^";

	*ret = keel_id_index(id, ret_len);
	if (*ret && strncmp(at, number, sizeof(number) - 1) == 0)
		return sizeof(number) - 1;
	*ret = id;
	*ret_len = strlen(id);
	if (strncmp(at, "${PBS_JOBID}", 12) == 0)
		return 12;
	return strncmp(at, "$PBS_JOBID", 10) == 0 ? 10 : 0;
}

/* The path with ^array_index^ and $PBS_JOBID filled in; the caller frees it. NULL without memory. */
static inline char *keel_marks_fill(const char *id, const char *path)
{
	struct keel_text text;
	const char *part;
	size_t skip, len;
	char *ret = NULL;

	keel_text_init(&text);
	for (; *path; path += skip ? skip : 1) {
		skip = keel_mark_at(id, path, &part, &len);
		keel_text_add(&text, skip ? part : path, skip ? len : 1);
	}
	if (!text.failed && (ret = (char *)malloc(text.len + 1)))
		memcpy(ret, text.data, text.len + 1);
	keel_text_fini(&text);
	return ret;
}

#endif
