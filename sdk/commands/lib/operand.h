/* SPDX-License-Identifier: Apache-2.0
 *
 * operand.h - what a word on a command line names: a job, a queue, a server.
 */
#ifndef KEELSON_COMMANDS_OPERAND_H
#define KEELSON_COMMANDS_OPERAND_H

#include <stdbool.h>

#include "pbs_ifl.h"

#define OPERAND_SERVER_SIZE (PBS_MAXSERVERNAME + 1 + PBS_MAXPORTNUM + 1)

struct operand {
	char id[PBS_MAXCLTJOBID + 1]; /* full job id, or queue name; "" for a whole server */
	char server[OPERAND_SERVER_SIZE]; /* to send the request to; "" is the default server */
	bool named; /* the server was given with @ */
};

/* Parses SEQ[.server[:port]][@server[:port]], SEQ[], SEQ[IDX], SEQ[X-Y[:Z],...]; blanks in front are
 * skipped and a missing server is completed. Returns 0, or -EINVAL: malformed, or its server is no host. */
int operand_job(const char *text, struct operand *ret);

/* Parses R12, S12 or M12, [.server[:port]][@server[:port]]. Returns as operand_job(). */
int operand_resv(const char *text, struct operand *ret);

/* Parses queue, queue@server[:port] or @server[:port]. Returns 0 or -EINVAL. */
int operand_destination(const char *text, struct operand *ret);

/* Parses server[:port]. Returns 0 or -EINVAL. */
int operand_server(const char *text, struct operand *ret);

#endif
