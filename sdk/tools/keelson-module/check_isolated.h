/* SPDX-License-Identifier: Apache-2.0
 *
 * check_isolated.h - the group isolated: may the module run in a process of its own, and does it the same there?
 */
#ifndef KEELSON_CHECK_ISOLATED_H
#define KEELSON_CHECK_ISOLATED_H

#include "check_stage.h"

/* `must`: it is to be possible. The transcript is compared when it is, if `sound`: no other rule is broken. */
void check_isolated(const struct subject *s, bool must, bool sound);

#endif
