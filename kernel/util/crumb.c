/* SPDX-License-Identifier: Apache-2.0
 *
 * crumb.c - see crumb.h.
 */
#include "util/crumb.h"

_Thread_local const struct crumb *crumb_top;
_Thread_local uint64_t crumb_count;
_Thread_local volatile sig_atomic_t crumb_is_late;

static void nothing(const struct crumb *c)
{
	(void)c;
}

void (*crumb_late)(const struct crumb *c) = nothing;
