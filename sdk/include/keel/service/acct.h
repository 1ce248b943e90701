/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/acct.h - service "acct" (offered by accounting): records of the day files.
 */
#ifndef KEEL_SERVICE_ACCT_H
#define KEEL_SERVICE_ACCT_H

#include "keel/types.h"
#include "keel/use.h"

struct keel_acct_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	/* A record whose text the caller made (D, A, a, r ...). In the file once, when the changes
	 * of this turn are durable, whatever happens to the daemon in between. */
	void (*record)(struct keel_mod *, char letter, const char *id, const char *text);
	/* A record about a job, made from its attributes: Q S E R z; of one that shrinks s u c e. */
	void (*job)(struct keel_mod *, char letter, struct keel_obj *job);
	/* `text` as the value of an item of a record: in quotes where it would be taken for more than one, without control
	 * characters. The caller frees it; NULL without memory. */
	char *(*value)(struct keel_mod *, const char *text);
};

KEEL_SERVICE(acct);
#define keel_acct_record(...) KEEL_CALL(acct, record, __VA_ARGS__)
#define keel_acct_job(...) KEEL_CALL(acct, job, __VA_ARGS__)
#define keel_acct_value(...) KEEL_CALL(acct, value, __VA_ARGS__)

#endif
