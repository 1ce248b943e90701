/* SPDX-License-Identifier: Apache-2.0
 *
 * own.h - points that modules publish; part of inside.h.
 */
#ifndef KEEL_MOCK_OWN_H
#define KEEL_MOCK_OWN_H

const struct point_row *own_row(struct keel_mock *mock, uint32_t id);
const struct keel_field *own_fields(const struct point_row *p, uint32_t *ret_n);
bool own_may_raise(struct mod *m, uint32_t point); /* also when it is of the map, or none */
uint32_t point_named(struct keel_mock *mock, const char *name); /* 0: none */
void own_leave(struct mod *m);
void own_fini(struct keel_mock *mock);
int point_row_add(struct mod *m, const void *row, struct keel_err *err);
void point_row_remove(struct mod *m, const void *row);
int32_t hook_about(struct keel_mod *m, uint32_t point, struct keel_point_def *ret);

#endif
