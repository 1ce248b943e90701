/* SPDX-License-Identifier: Apache-2.0
 *
 * check_isolated.h - the group `isolated`: asked for by --isolated alone, for a module may stay inside.
 */
#ifndef KEELSON_CHECK_ISOLATED_H
#define KEELSON_CHECK_ISOLATED_H

void check_isolated(const char *path);

#endif
