/* SPDX-License-Identifier: Apache-2.0
 *
 * random.c - splitmix64 and FNV-1a.
 */
#include "random.h"

#include <string.h>

#define FNV_BASIS 14695981039346656037u
#define FNV_PRIME 1099511628211u

uint64_t hash_bytes(uint64_t hash, const void *bytes, uint64_t len)
{
	const unsigned char *at = bytes;

	if (hash == 0)
		hash = FNV_BASIS;
	for (uint64_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * FNV_PRIME;
	return hash;
}

uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text) + 1);
}

struct chance chance_of(uint64_t seed, const char *stream)
{
	struct chance c = { hash_text(seed + 1, stream) };

	chance_next(&c);
	return c;
}

uint64_t chance_next(struct chance *c)
{
	uint64_t z = c->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t chance_below(struct chance *c, uint64_t n)
{
	return n == 0 ? 0 : chance_next(c) % n;
}

int64_t chance_between(struct chance *c, int64_t first, int64_t last)
{
	return last <= first ? first : first + (int64_t)chance_below(c, (uint64_t)(last - first + 1));
}

bool chance_is(struct chance *c, double rate)
{
	return rate > 0 && (double)(chance_next(c) >> 11) / 9007199254740992.0 < rate;
}

/* A product of two even draws: skewed, without a logarithm whose last bit depends on a library. */
int64_t chance_wait(struct chance *c, int64_t mean)
{
	uint64_t a = chance_below(c, 2001), b = chance_below(c, 2001);

	return (int64_t)(a * b / 1000 * (uint64_t)mean / 1000);
}
