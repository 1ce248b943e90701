/* SPDX-License-Identifier: Apache-2.0
 *
 * jobs.c - jobs in reservations.
 */
#include "reservations.h"

keel_verdict on_job_submit(struct keel_call *c, const struct keel_ev_job_submit *ev) { (void)c, (void)ev; return KEEL_NEXT; }
keel_verdict on_job_move(struct keel_call *c, const struct keel_ev_job_move *ev) { (void)c, (void)ev; return KEEL_NEXT; }
const char *holder_of(struct keel_mod *mod, const char *job_id) { (void)mod, (void)job_id; return NULL; }
