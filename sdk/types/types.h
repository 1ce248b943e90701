/* SPDX-License-Identifier: Apache-2.0
 *
 * types.h - the types every host has: bool long time float size string string_array, as rows like a module's.
 *
 * parse() that refuses returns PBSE_BADATVAL, or PBSE_SYSTEM without memory, and leaves the words to the host; match()
 * returns the same, negated.
 */
#ifndef KEELSON_TYPES_H
#define KEELSON_TYPES_H

#include "keel/contrib.h"

/* Names of them in the order of this list; NULL ends it. */
extern const struct keel_type_def *const types_common[];

extern const struct keel_type_def type_bool, type_long, type_time, type_float; /* number.c */
extern const struct keel_type_def type_size;                                   /* size.c */
extern const struct keel_type_def type_string, type_string_array;              /* text.c */

/* What format() writes, for hosts that are in a hurry: not terminated; how many bytes. */
#define TYPES_DIGITS 32 /* as long as either can be */
uint32_t types_long(char buf[TYPES_DIGITS], int64_t n);
uint32_t types_time(char buf[TYPES_DIGITS], int64_t seconds); /* HH:MM:SS */
/* Kilobytes of a size, rounded up. */
int64_t types_size_kb(const union keel_slot *slot);
/* Does `order` (<0, 0, >0, as of strcmp()) answer a comparison with yes? -PBSE_BADATVAL: it is none. */
int32_t types_match(int order, int32_t op);

#endif
