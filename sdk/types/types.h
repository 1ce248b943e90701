/* SPDX-License-Identifier: Apache-2.0
 *
 * types.h - the types every host has: bool long time float size string string_array, as rows like a module's.
 *
 * parse() returns 0, PBSE_BADATVAL, or PBSE_SYSTEM if out of memory; the host supplies the error's text.
 * match() returns the same errors, negated.
 */
#ifndef KEELSON_TYPES_H
#define KEELSON_TYPES_H

#include "keel/contrib.h"

/* Names of them in the order of this list; NULL ends it. */
extern const struct keel_type_def *const types_common[];

extern const struct keel_type_def type_bool, type_long, type_time, type_float; /* number.c */
extern const struct keel_type_def type_size;                                   /* size.c */
extern const struct keel_type_def type_string, type_string_array;              /* text.c */

/* As format(), for hot paths: the text is not terminated; returns its length. */
#define TYPES_DIGITS 32 /* as long as either can be */
uint32_t types_long(char buf[TYPES_DIGITS], int64_t n);
uint32_t types_time(char buf[TYPES_DIGITS], int64_t seconds); /* HH:MM:SS */
/* Kilobytes of a size, rounded up. */
int64_t types_size_kb(const union keel_slot *slot);
/* Returns 1 if `order` (as of strcmp()) fulfils the comparison `op`, else 0; -PBSE_BADATVAL: no comparison. */
int32_t types_match(int order, int32_t op);

#endif
