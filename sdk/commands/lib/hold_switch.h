/* SPDX-License-Identifier: Apache-2.0
 *
 * hold_switch.h - qhold, qrls: the same command line, two requests.
 */
#ifndef KEELSON_COMMANDS_HOLD_SWITCH_H
#define KEELSON_COMMANDS_HOLD_SWITCH_H

#include "cmd.h"

/* pbs_holdjob() or pbs_rlsjob(). */
typedef int hold_request(int c, const char *id, const char *holds, const char *extend);

/* Runs the whole command; returns the exit status. */
int hold_switch_main(const struct cmd *cmd, hold_request *request, int argc, char **argv);

#endif
