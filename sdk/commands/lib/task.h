/* SPDX-License-Identifier: Apache-2.0
 *
 * task.h - what the commands that use tasks of a job have in common.
 */
#ifndef KEELSON_COMMANDS_TASK_H
#define KEELSON_COMMANDS_TASK_H

#include "tm.h"

/* Returns the text of a TM error, with its number: "bad environment (17005)". Valid until the next call. */
const char *task_error(int error);

/* INT, TERM and HUP are caught from now on: task_poll() sees them. */
void task_signals_catch(void);

/* As tm_poll() that waits; returns TM_ENOEVENT when a signal came instead, with its number in *ret_signal. */
int task_poll(tm_event_t *ret_event, int *ret_error, int *ret_signal);

/* Sends a signal to `n` tasks (TM_NULL_TASK: none there) and waits until it has arrived, for some seconds at most. */
void task_kill_all(const tm_task_id *tasks, int n, int signal);

#endif
