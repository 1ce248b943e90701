/* SPDX-License-Identifier: Apache-2.0
 *
 * check_rows.h - the tables of a descriptor row by row, whatever the size of a row is in the module.
 */
#ifndef KEELSON_CHECK_ROWS_H
#define KEELSON_CHECK_ROWS_H

#include "keel/keel.h"
#include "points.h"
#include "rules/rules.h"

/* As this SDK's struct, missing fields zero; likewise rule_at(). */
struct keel_tap tap_row(const struct keel_module *m, uint32_t i);
bool said(const char *text);

#endif
