/* SPDX-License-Identifier: Apache-2.0
 *
 * host_merge.h - several vnodes as one host.
 */
#ifndef CLIENT_HOST_MERGE_H
#define CLIENT_HOST_MERGE_H

#include "pbs_ifl.h"

/* Returns a new object `name` with the sums of the list `vnodes`, which is only read. NULL: out of memory. */
struct batch_status *host_merge(const char *name, const struct batch_status *vnodes);

#endif
