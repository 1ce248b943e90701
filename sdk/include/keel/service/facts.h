/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/facts.h - service "facts" (offered by job-facts on a mom): attributes of a job, on its primary host.
 *
 * Modules name the attributes with rows of the kind HOST_FACT, on server and mom; the server sends them before each start. They
 * are on disk, and there until the part of the job is gone.
 */
#ifndef KEEL_SERVICE_FACTS_H
#define KEEL_SERVICE_FACTS_H

#include "keel/types.h"
#include "keel/use.h"

struct keel_facts_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the function below */
	/* The attribute as it was at the start, as users see it; of one with keys "ncpus=1,place=free". The caller frees it. NULL:
	 * it was not set, or nothing is known of the job, or there is no memory. */
	char *(*text)(struct keel_mod *, const char *id, const char *attr);
	/* Is anything known of the job? */
	bool (*known)(struct keel_mod *, const char *id);
};

KEEL_SERVICE(facts);
#define keel_facts_text(...) KEEL_CALL(facts, text, __VA_ARGS__)
#define keel_facts_known(...) KEEL_CALL(facts, known, __VA_ARGS__)

#endif
