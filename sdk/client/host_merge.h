/* SPDX-License-Identifier: Apache-2.0
 *
 * host_merge.h - several vnodes as one host.
 */
#ifndef CLIENT_HOST_MERGE_H
#define CLIENT_HOST_MERGE_H

#include "pbs_ifl.h"

/* A new object called `name` that sums up the list `vnodes` (only read). NULL: no memory. */
struct batch_status *host_merge(const char *name, const struct batch_status *vnodes);

#endif
