/* SPDX-License-Identifier: Apache-2.0
 *
 * isolable.h - may a module run in a process of its own (isolation = "process")?
 */
#ifndef KEELSON_ISOLABLE_H
#define KEELSON_ISOLABLE_H

#include "words.h"

/* NULL: it may. Else why not, in buf: "it taps job_rank, where ...". The daemon refuses for the same reasons. */
const char *why_inside(const struct modfile_module *m, char buf[WORDS_MAX]);

#endif
