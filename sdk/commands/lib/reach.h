/* SPDX-License-Identifier: Apache-2.0
 *
 * reach.h - connect to a server for a listing, and print errors.
 */
#ifndef KEELSON_COMMANDS_REACH_H
#define KEELSON_COMMANDS_REACH_H

#include <stdbool.h>
#include <stdio.h>

/* First call in main(): from now on the command fails if its output cannot be written. Returns true if "--version" or
 * "--help" was alone on the command line; it is printed. */
bool reach_asked(int argc, char **argv, const char *usage);

/* Returns the version of this program. */
const char *reach_own_version(void);

/* Connects to `server` ("" or NULL: the default one). Returns the handle, or -1 after one line on stderr with the
 * error, with pbs_errno set; the caller prints the command's own line. */
int reach_connect(const char *server);

/* Returns the name for the second line of a failed connect: always the default server's. */
const char *reach_default_name(void);

/* Prints "CMD: TEXT ID" for the last error on `c`, or the form for errors without text. Returns pbs_errno. */
int reach_complain(const char *cmd, int c, const char *id);

/* Did the last request on `c` fail because the daemon does not know it, and has no more to say? */
bool reach_unknown(int c);

/* Returns an error number as an exit status that is never 0. */
int reach_exit_status(int error);

#endif
