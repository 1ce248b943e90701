/* SPDX-License-Identifier: Apache-2.0
 *
 * check_isolated.h - the group isolated: may the module of this file run in a process of its own?
 */
#ifndef KEELSON_CHECK_ISOLATED_H
#define KEELSON_CHECK_ISOLATED_H

#include "check_report.h"

void check_isolated(const char *path);

#endif
