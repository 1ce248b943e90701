/* SPDX-License-Identifier: Apache-2.0
 *
 * resv.h - what the commands about reservations have in common.
 */
#ifndef KEELSON_COMMANDS_RESV_H
#define KEELSON_COMMANDS_RESV_H

#include <stdio.h>

#include "attr_list.h"
#include "cmd.h"
#include "date.h"

/* Prints the error for a malformed id. Returns the exit status. */
int resv_bad_id(const char *command, const char *text, int status);

/* Returns the attribute of an option whose value is sent as it is; NULL: another one. */
const char *resv_attribute(int letter);

/* Prints why the library or the server refused a submission or an alteration on `c`. Returns the exit status. */
int resv_failed(const struct cmd *cmd, int c);

/* The value of -I. Returns 0 or -EINVAL. */
int resv_seconds(const char *text, long *ret);

/* Sets reserve_start and reserve_end, those that are given. Returns 0 or -ENOMEM. */
int resv_times_set(struct attr_list *l, const struct date_span *times);

/* Returns RESV_CONFIRMED, or CO, for the number of a state in decimal; other texts as they are. */
const char *resv_state_name(const char *value);
const char *resv_state_letters(const char *value);

/* Prints the hosts of a maintenance reservation, by its select: "a, b and 3 more", not more than `most` (0: all). */
void resv_hosts_print(FILE *out, const struct batch_status *resv, unsigned most);

#endif
