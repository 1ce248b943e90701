/* SPDX-License-Identifier: Apache-2.0
 *
 * check_letter.h - job_state as it is in a daemon: an integer to those who ask for one, a letter to those who read it.
 */
#ifndef KEELSON_CHECK_LETTER_H
#define KEELSON_CHECK_LETTER_H

#include "keel/keel.h"
#include "keel/mock.h"

/* The type of the installed modules that it stands in for, and its own name on the host. */
#define LETTER_FOR "job_state"
#define LETTER_TYPE "letter"

void letter_give(struct keel_mock *mock);

#endif
