/* SPDX-License-Identifier: Apache-2.0
 *
 * watchdog.h - what the daemon does at each clock tick of its loop: finds calls that take too long, and reports a loop that
 * stands still, and where.
 */
#ifndef KEELSON_WATCHDOG_H
#define KEELSON_WATCHDOG_H

#include "util/owner.h"

/* On the thread of the loop, until that is destroyed. One per process. `soft_ms`: the daemon's soft budget. `after_ms` 0: no
 * report and no end; `abort_ms` 0: it only reports. 0 or -errno. */
int watchdog_start(struct parts *parts, int64_t soft_ms, int64_t after_ms, int64_t abort_ms);

#endif
