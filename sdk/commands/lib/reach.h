/* SPDX-License-Identifier: Apache-2.0
 *
 * reach.h - connect to a server for a listing, say why not, say what a server answered.
 */
#ifndef KEELSON_COMMANDS_REACH_H
#define KEELSON_COMMANDS_REACH_H

#include <stdbool.h>
#include <stdio.h>

/* First thing in main(): what is printed from now on arrives, or the command fails. "--version" or "--help" alone on
 * the command line: what was asked for is on stdout, and true is returned. */
bool reach_asked(int argc, char **argv, const char *usage);

/* The version of this program. */
const char *reach_own_version(void);

/* Connect to `server` ("" or NULL: the default one). On failure one line on stderr says why, and
 * pbs_errno is set; the command's own line is the caller's. The handle, or -1. */
int reach_connect(const char *server);

/* The name the second line of a failed connect gives: always the default server's. */
const char *reach_default_name(void);

/* "CMD: TEXT ID" of the error just returned on `c`, or the form for errors without text. Sets
 * nothing; returns pbs_errno. */
int reach_complain(const char *cmd, int c, const char *id);

/* An error number as an exit status that is never 0. */
int reach_exit_status(int error);

#endif
