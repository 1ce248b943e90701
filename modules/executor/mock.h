/* SPDX-License-Identifier: Apache-2.0
 *
 * mock.h - the API groups over memory and poll(), with both halves of the module in one process.
 */
#ifndef EXECUTOR_MOCK_H
#define EXECUTOR_MOCK_H

#include "executor.h"

/* Start the module in `home`; NULL and a message on failure. One at a time. */
struct keel_mod *mock_start(const char *home, const char *shepherd);
void mock_stop(void); /* as a daemon that ends: tasks go on */
void mock_link_set(bool up); /* false: messages fail; true: peers come up again */
/* Run the loop until `done()` or the deadline; true: done. */
bool mock_until(bool (*done)(void *arg), void *arg, int64_t deadline_ms);

/* Objects of class "job": attributes are "name" or "name.key". */
struct keel_obj *mock_job(const char *id, const char *script);
void mock_set(struct keel_obj *job, const char *attr, const char *value);
void mock_jobs_free(void);
extern int32_t mock_reject_point; /* a GATE that is rejected, 0 none */
extern bool mock_freezer;

bool mock_logged(const char *text); /* in the text of any record so far */
int mock_notes(uint32_t point);

#endif
