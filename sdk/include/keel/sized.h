/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/sized.h - structs that cross with their size: converted once, at the boundary, so that no code behind it sees one
 * that is shorter or longer than it was compiled with. Header only.
 *
 *   static void api_ask(..., const struct keel_job_ask *theirs, ...)
 *   {
 *           struct keel_job_ask ask;
 *
 *           KEEL_SIZED(&ask, theirs);     fields they did not know are zero: the default
 */
#ifndef KEEL_SIZED_H
#define KEEL_SIZED_H

#include <stdint.h>
#include <string.h>

static inline void keel_sized(void *ret, uint32_t size, const void *from)
{
	uint32_t theirs;

	memcpy(&theirs, from, sizeof(theirs));
	memset(ret, 0, size);
	memcpy(ret, from, theirs < size ? theirs : size);
	memcpy(ret, &size, sizeof(size));
}
#define KEEL_SIZED(ret, from) keel_sized((ret), (uint32_t)sizeof(*(ret)), (from))

/* The other way: fills a struct of the caller's, whose `size` says how much of it the caller knows. */
static inline void keel_sized_give(void *theirs, const void *mine)
{
	uint32_t size, own;

	memcpy(&size, theirs, sizeof(size));
	memcpy(&own, mine, sizeof(own));
	memcpy(theirs, mine, size < own ? size : own);
	memcpy(theirs, &size, sizeof(size));
}

#endif
