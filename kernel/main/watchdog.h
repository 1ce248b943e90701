/* SPDX-License-Identifier: Apache-2.0
 *
 * watchdog.h - a thread that reports when the loop stands still, and where.
 */
#ifndef KEELSON_WATCHDOG_H
#define KEELSON_WATCHDOG_H

#include "util/owner.h"

struct watchdog;

/* On the thread of the loop. One per process. `after_ms` 0: none (*ret_watchdog is NULL);
 * `abort_ms` 0: it only reports. */
int watchdog_start(struct parts *parts, int64_t after_ms, int64_t abort_ms,
		   struct watchdog **ret_watchdog);
void watchdog_stop(struct watchdog *w); /* NULL is fine */

#endif
