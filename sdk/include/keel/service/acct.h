/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/acct.h - service "acct" (offered by accounting): records of the day files.
 */
#ifndef KEEL_SERVICE_ACCT_H
#define KEEL_SERVICE_ACCT_H

#include "keel/types.h"

struct keel_acct_api {
	uint32_t size, version;
	struct keel_mod *self; /* first argument of every function below that takes a keel_mod */
	/* A record whose text the caller made (D, A, a, r ...). In the file once, when the changes
	 * of this turn are durable, whatever happens to the daemon in between. */
	void (*record)(struct keel_mod *, char letter, const char *id, const char *text);
	/* A record about a job, made from its attributes: Q S E R z. */
	void (*job)(struct keel_mod *, char letter, struct keel_obj *job);
	/* `text` as the value of an item of a record: in quotes where it would be taken for more than one, without control
	 * characters. The caller frees it; NULL without memory. */
	char *(*value)(struct keel_mod *, const char *text);
};

#endif
