/* SPDX-License-Identifier: Apache-2.0
 *
 * duration.h - texts of resource values: "01:00:00" and "64kb".
 */
#ifndef EXECUTOR_DURATION_H
#define EXECUTOR_DURATION_H

#include <stddef.h>
#include <stdint.h>

int64_t duration_parse(const char *text); /* [[HH:]MM:]SS[.f] in seconds; fails with -1 */
int64_t size_parse(const char *text);     /* bytes; a number with b, kb, mb, gb, tb, pb or w; fails with -1 */
void duration_text(int64_t seconds, char *buf, size_t len); /* HH:MM:SS */

#endif
