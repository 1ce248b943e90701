/* SPDX-License-Identifier: Apache-2.0
 *
 * server.h - on a server: jobs whose hosts fail.
 */
#ifndef SERVER_H
#define SERVER_H

#include "tolerate.h"

int32_t server_start(struct keel_mod *mod, struct keel_err *err);
keel_verdict on_job_started(struct keel_call *c, const struct keel_ev_job_started *ev);
keel_verdict on_job_step(struct keel_call *c, const struct keel_ev_job_step *ev);

#endif
