/* SPDX-License-Identifier: Apache-2.0
 *
 * core_api.h - the API group "core": log, clock, timers, fds, worker threads.
 */
#ifndef KEELSON_CORE_API_H
#define KEELSON_CORE_API_H

#include "keel/api.h"

/* Each timer, watch, deferred call and worker call counts in its owner's `live` until it has ended. */
const struct keel_core_api *core_api(void);

#endif
