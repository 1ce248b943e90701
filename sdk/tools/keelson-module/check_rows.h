/* SPDX-License-Identifier: Apache-2.0
 *
 * check_rows.h - the tables of a descriptor row by row, whatever the size of a row is in the module; and
 * what the rules of a configuration allow.
 */
#ifndef KEELSON_CHECK_ROWS_H
#define KEELSON_CHECK_ROWS_H

#include "keel/keel.h"
#include "points.h"

/* As this SDK's struct, missing fields zero. */
struct keel_conf_rule conf_row(const struct keel_module *m, uint32_t i);
struct keel_tap tap_row(const struct keel_module *m, uint32_t i);

/* Bytes of a value of this type; 0: there is no such type. */
uint32_t conf_width(uint32_t type);
/* Why the rule does not allow this text; NULL: it does. */
const char *conf_objection(const struct keel_conf_rule *r, const char *text);
bool said(const char *text);

#endif
