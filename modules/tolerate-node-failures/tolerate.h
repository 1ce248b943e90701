/* SPDX-License-Identifier: Apache-2.0
 *
 * tolerate.h - what the files of this module share.
 */
#ifndef TOLERATE_H
#define TOLERATE_H

#include "keel/keel.h"
#include "keel/text.h"
#include "pbs_error.h"

#define TEXT_MAX 512		  /* of a reason; what is longer is cut */
#define FACTS_WITHIN_MS 600000	  /* the start of a job fails when the server is away for longer */
#define STATUS_RETRY -3		  /* exit status of a start that is tried again */

enum failed_node { FAILED_NODE_NOTHING, FAILED_NODE_OFFLINE };
struct conf {
	int32_t failed_node; /* enum failed_node */
};

/* Values of tolerate_node_failures; none is what unset means. */
enum tolerance { TOLERATE_NONE, TOLERATE_JOB_START, TOLERATE_ALL, TOLERANCES };

/* False: it is none of the words. */
bool tolerance_of(const char *text, enum tolerance *ret);

extern const struct keel_type_def tolerance_type;
extern const struct keel_attr_def tolerance_row, spares_row, kept_row, lost_row, failed_row, unsatisfied_row;
extern const struct keel_job_prepare_def spare_prepare;

#endif
