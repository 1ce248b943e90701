/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/queue.h - service "queue" (offered by queues): what a queue's type means.
 */
#ifndef KEEL_SERVICE_QUEUE_H
#define KEEL_SERVICE_QUEUE_H

#include "keel/types.h"
#include "keel/use.h"

struct keel_queue_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below, as their first argument */
	/* Are jobs of this queue started? False: they wait in it for something else to happen, as its
	 * type says; also when the type is unknown now. A queue without a type starts no jobs. */
	bool (*runs)(struct keel_mod *, struct keel_obj *queue);
};

KEEL_SERVICE(queue);
#define keel_queue_runs(...) KEEL_CALL(queue, runs, __VA_ARGS__)

#endif
