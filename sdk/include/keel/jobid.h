/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/jobid.h - what an id of a job says: `7.svr` a job, `7[].svr` a whole, `7[3].svr` its part 3. Header only.
 *
 * Server and hosts read ids with this and with nothing else; which parts there are is known to the module that
 * offers the JOB_FORM.
 */
#ifndef KEEL_JOBID_H
#define KEEL_JOBID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The index in the id of a part, in *ret_len characters, which point into the caller's id; NULL: it is no part. */
static inline const char *keel_id_index(const char *id, size_t *ret_len)
{
	const char *open = strchr(id, '['), *shut = open ? strchr(open, ']') : NULL;

	if (!shut || shut == open + 1)
		return NULL;
	*ret_len = (size_t)(shut - open) - 1;
	return open + 1;
}

static inline bool keel_id_is_part(const char *id)
{
	size_t len;

	return keel_id_index(id, &len) != NULL;
}

static inline bool keel_id_is_whole(const char *id)
{
	const char *open = strchr(id, '[');

	return open && open[1] == ']';
}

/* Writes the id of the whole that `id` is a part of into the caller's buffer. False: it is no part, or there is no room. */
static inline bool keel_id_whole(const char *id, char *buf, size_t size)
{
	size_t len;
	const char *index = keel_id_index(id, &len);
	int n = index ? snprintf(buf, size, "%.*s%s", (int)(index - id), id, index + len) : -1;

	return n >= 0 && (size_t)n < size;
}

/* Is `id` that of this job, or of one of its parts, when it is a whole? Two parts of one whole: alike, too. */
static inline bool keel_id_is_kin(const char *id, const char *other)
{
	size_t len = strcspn(id, "[");

	return id[len] == '[' ? strncmp(id, other, len + 1) == 0 : strcmp(id, other) == 0;
}

/* How much of an operand is the number of a job: the length of `12`, `12[]` or `12[3]`; 0: it begins with none. */
static inline size_t keel_id_number(const char *operand)
{
	static const char digits[] = "0123456789";
	size_t at = strspn(operand, digits);

	if (at == 0 || operand[at] != '[')
		return at;
	at += 1 + strspn(operand + at + 1, digits);
	return operand[at] == ']' ? at + 1 : 0;
}

#endif
