/* SPDX-License-Identifier: Apache-2.0
 *
 * layout.c - what modules were built against, as assertions about today's headers. Part of every build, so that
 * nobody needs a tool to see that he broke the interface; scripts/check-abi says more.
 *
 * layout_v1.h is made by scripts/check-abi --rebaseline, never by hand.
 */
#include <stddef.h>

#include "keel/types.h"

/* A member is where it was, and of the type it was. */
#define KEEL_ABI_AT(type, member, at, ...)                                                         \
	_Static_assert(offsetof(type, member) == (at),                                             \
		       #type " " #member " is not at byte " #at " any more");                      \
	_Static_assert(__builtin_types_compatible_p(__typeof__(((type *)0)->member),               \
						    __typeof__(__VA_ARGS__)),                      \
		       #type " " #member " is not a " #__VA_ARGS__ " any more");
/* A type without a size of its own: rows of tables, what is embedded. */
#define KEEL_ABI_FIXED(type, bytes)                                                                \
	_Static_assert(sizeof(type) == (bytes), #type " does not have " #bytes " bytes any more, "  \
						"and cannot say how many it has");
#define KEEL_ABI_GROWS(type, bytes)                                                                \
	_Static_assert(sizeof(type) >= (bytes), #type " has fewer than " #bytes " bytes");
/* The same for those who aim at a released minor: not even larger. */
#define KEEL_ABI_SIZE(type, bytes)                                                                 \
	_Static_assert(sizeof(type) == (bytes), #type " does not have its " #bytes " bytes of that " \
						"minor: what is newer belongs inside #if KEEL_SINCE()");
#define KEEL_ABI_TYPE(name, ...)                                                                   \
	_Static_assert(__builtin_types_compatible_p(name, __typeof__(__VA_ARGS__)),                \
		       #name " is not a " #__VA_ARGS__ " any more");
#define KEEL_ABI_IS(name, value) _Static_assert((name) == (value), #name " is not " #value " any more");

#include "layout_v1.h"
