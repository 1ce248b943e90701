/* SPDX-License-Identifier: Apache-2.0
 *
 * retry.c - degraded, in conflict.
 */
#include "reservations.h"

void resv_judge(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
void retry_set(struct keel_mod *mod, struct keel_obj *resv, int64_t when) { (void)mod, (void)resv, (void)when; }
int64_t retry_time(struct keel_mod *mod, struct keel_obj *resv) { (void)resv; return keel_time(mod) + 600; }
bool retry_is_due(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; return false; }
void reconfirm_failed(struct keel_mod *mod, struct keel_obj *resv, const char *why) { (void)mod, (void)resv, (void)why; }
bool resv_lose(struct keel_mod *mod, struct keel_obj *resv, const struct keel_resv_loss *loss) { (void)mod, (void)resv, (void)loss; return false; }
void resv_retry(struct keel_mod *mod, const char *id) { (void)mod, (void)id; }
