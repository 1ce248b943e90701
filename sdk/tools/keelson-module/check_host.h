/* SPDX-License-Identifier: Apache-2.0
 *
 * check_host.h - an execution host, as the service `task`: every request succeeds.
 */
#ifndef KEELSON_CHECK_HOST_H
#define KEELSON_CHECK_HOST_H

#include "keel/mock.h"

/* Offer the service. One at a time. */
void host_offer(struct keel_mock *mock);
/* The host comes up, with four processors. */
void host_up(const char *name);
/* The job that runs there ends. */
void host_ends(struct keel_obj *job);

#endif
