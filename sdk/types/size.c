/* SPDX-License-Identifier: Apache-2.0
 *
 * size.c - the type size: a number and the unit it was given in.
 *
 * slot.i = number * 16 + unit, so a size needs no memory of its own and prints as it was given.
 * Sums keep the smaller unit of the two, in which they are exact; a word is 8 bytes.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "types/types.h"

#define NUMBER_MAX (INT64_MAX / 16)

/* By unit: the letters; 0..5 bytes, 6..11 words. */
static const char *const letters[] = { "b",  "kb", "mb", "gb", "tb", "pb",
				       "w",  "kw", "mw", "gw", "tw", "pw" };
#define N_SCALES 6u

struct size {
	int64_t n;
	uint32_t unit;
};

static struct size unpack(const union keel_slot *slot)
{
	return (struct size){ slot->i / 16, (uint32_t)(slot->i % 16) };
}

static unsigned __int128 bytes_of(struct size s)
{
	unsigned __int128 bytes = (unsigned __int128)s.n << 10 * (s.unit % N_SCALES);

	return s.unit < N_SCALES ? bytes : bytes * 8;
}

static bool read_unit(const char *text, uint32_t *ret)
{
	static const char scales[] = "kmgtp";
	const char *scale = *text ? strchr(scales, tolower((unsigned char)*text)) : NULL;
	uint32_t unit = 0;

	if (scale) {
		unit = (uint32_t)(scale - scales) + 1;
		text++;
	}
	if (*text == 'w' || *text == 'W')
		unit += N_SCALES;
	else if (*text && *text != 'b' && *text != 'B')
		return false;
	else if (!*text && scale)
		return false; /* a scale without b or w */
	*ret = unit;
	return !*text || !text[1];
}

static bool read_size(const char *text, struct size *ret)
{
	char *end;
	long long n;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno || n > NUMBER_MAX)
		return false;
	ret->n = n;
	return read_unit(end, &ret->unit);
}

/* The unit both are whole numbers of. */
static uint32_t common_unit(struct size a, struct size b)
{
	uint32_t scale_a = a.unit % N_SCALES, scale_b = b.unit % N_SCALES;
	uint32_t scale = scale_a < scale_b ? scale_a : scale_b;

	if (a.n == 0)
		return b.unit;
	if (b.n == 0)
		return a.unit;
	return a.unit >= N_SCALES && b.unit >= N_SCALES ? scale + N_SCALES : scale;
}

/* *a += b or -= b; false: below zero or too large. */
static bool combine(struct size *a, struct size b, int32_t op)
{
	uint32_t unit = common_unit(*a, b);
	unsigned __int128 one = bytes_of((struct size){ 1, unit });
	unsigned __int128 left = bytes_of(*a), right = bytes_of(b), n;

	if (op == KEEL_DECR && left < right)
		return false;
	n = (op == KEEL_DECR ? left - right : left + right) / one;
	if (n > (unsigned __int128)NUMBER_MAX)
		return false;
	*a = (struct size){ (int64_t)n, unit };
	return true;
}

static int32_t parse_size(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key,
			  const char *text, union keel_slot *slot, bool *is_set,
			  struct keel_err *err)
{
	struct size given, now;

	(void)m, (void)a, (void)key, (void)err;
	if (!text || !read_size(text, &given))
		return PBSE_BADATVAL;
	now = given;
	if (op != KEEL_SET) {
		now = *is_set ? unpack(slot) : (struct size){ 0, given.unit };
		if (!combine(&now, given, op))
			return PBSE_BADATVAL;
	}
	slot->i = now.n * 16 + now.unit;
	*is_set = true;
	return 0;
}

static void format_size(struct keel_mod *m, const union keel_slot *slot, const char *key,
			const struct keel_emit *e)
{
	struct size s = unpack(slot);
	char buf[TYPES_DIGITS];
	uint32_t len = types_long(buf, s.n);

	(void)m, (void)key;
	for (const char *letter = letters[s.unit]; *letter; letter++)
		buf[len++] = *letter;
	e->fn(e->arg, NULL, buf, len);
}

static int32_t match_size(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			  const char *key, const char *text, struct keel_err *err)
{
	struct size wanted;
	unsigned __int128 left, right;

	(void)m, (void)key, (void)err;
	if (!text || !read_size(text, &wanted))
		return -PBSE_BADATVAL;
	if (!is_set)
		return op == KEEL_NE;
	left = bytes_of(unpack(slot));
	right = bytes_of(wanted);
	return types_match((left > right) - (left < right), op);
}

int64_t types_size_kb(const union keel_slot *slot)
{
	unsigned __int128 kb = (bytes_of(unpack(slot)) + 1023) / 1024;

	return kb > (unsigned __int128)INT64_MAX ? INT64_MAX : (int64_t)kb;
}

const struct keel_type_def type_size = {
	.size = sizeof(struct keel_type_def),
	.name = "size",
	.doc = "an amount of memory: a number and b kb mb gb tb pb (or words: w kw mw gw tw pw)",
	.parse = parse_size,
	.format = format_size,
	.match = match_size,
};
