/* SPDX-License-Identifier: Apache-2.0
 *
 * tolerate.h - what the files of this module share.
 */
#ifndef TOLERATE_H
#define TOLERATE_H

#include "keel/keel.h"
#include "keel/text.h"
#include "pbs_error.h"

/* Values of tolerate_node_failures; none is what unset means. */
enum tolerance { TOLERATE_NONE, TOLERATE_JOB_START, TOLERATE_ALL, TOLERANCES };

/* False: it is none of the words. */
bool tolerance_of(const char *text, enum tolerance *ret);

extern const struct keel_type_def tolerance_type;
extern const struct keel_attr_def tolerance_row, spares_row, asked_row;

#endif
