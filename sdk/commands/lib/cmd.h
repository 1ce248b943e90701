/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd.h - what the commands that send a request have in common.
 *
 * A command describes itself by one constant struct cmd, which has its usage, the form of its errors and its exit
 * statuses.
 */
#ifndef KEELSON_COMMANDS_CMD_H
#define KEELSON_COMMANDS_CMD_H

#include <stdbool.h>

#include "operand.h"

/* The second line of a failed connect. */
enum cmd_unreached {
	CMD_CANNOT_CONNECT, /* "X: cannot connect to server DEFAULT (errno=N)" */
	CMD_COULD_NOT_CONNECT, /* "X: could not connect to server GIVEN (N)" */
	CMD_NO_CLUSTER, /* "Couldn't connect to cluster: DEFAULT" */
	CMD_CANNOT_CONNECT_GIVEN, /* "X: cannot connect to server GIVEN" */
};

struct cmd {
	const char *name;
	const char *usage; /* whole lines */
	int usage_exit;
	enum cmd_unreached unreached;
	int unreached_exit; /* 0: the error's number */
	int failed_exit; /* status after a refused request; 0: the error's number */
	bool finished_id; /* "Job has finished" is followed by the id */
	/* Returns what the line about `error` names in place of the id; may be NULL. */
	const char *(*subject)(int error, const char *id, void *arg);
};

/* A connection that is kept while the server stays the same. */
struct cmd_link {
	int c; /* 0: none */
	char server[OPERAND_SERVER_SIZE];
};

/* First call in main(). argv[0] becomes the name that getopt prints. Returns true if "--version" or "--help" was given
 * and printed: the caller exits with 0. */
bool cmd_begin(const struct cmd *cmd, int argc, char **argv);

/* Prints the usage on stderr; returns the exit status. */
int cmd_usage(const struct cmd *cmd);

/* Prints "CMD: illegal -X value". Returns true, so that a caller can gather: bad |= cmd_illegal(...). */
bool cmd_illegal(const struct cmd *cmd, int letter);

/* Connects to `server` ("" is the default one), unless the open connection is to it. Returns a handle, or
 * -1 after two lines on stderr; then cmd_unreached_status() is the exit status. */
int cmd_link_open(const struct cmd *cmd, struct cmd_link *link, const char *server);

/* Closes the connection, if there is one. */
void cmd_link_close(struct cmd_link *link);

/* Returns the exit status after a server could not be reached. */
int cmd_unreached_status(const struct cmd *cmd);

/* Returns the text of the last error on `c`, borrowed until the next call; NULL: it has none. An
 * attribute that was refused before sending is not named, a resource is. */
const char *cmd_error_text(int c);

/* Prints the error that the server returned on `c` about `id`. Returns the exit status. */
int cmd_complain(const struct cmd *cmd, int c, const char *id);

/* Prints the error for a malformed destination. */
void cmd_bad_destination(const struct cmd *cmd, const char *text);

/* Prints the error for a malformed job id; returns the exit status. */
int cmd_bad_id(const struct cmd *cmd, const char *text);

/* Sends one request about job `id`. Returns 0, or an error with the connection's text. */
typedef int cmd_job_fn(int c, const char *id, void *arg);

/* Handles one job by its operand: parses, connects, sends the request; if the job is unknown there, once more to the
 * server that the default one names. Returns the exit status, 0 for success. */
int cmd_job(const struct cmd *cmd, struct cmd_link *link, const char *text, cmd_job_fn *request,
	    void *arg);

/* Each of `n` operands as cmd_job(); an error does not stop the others. Returns the status of the last
 * error, or 0. */
int cmd_each_job(const struct cmd *cmd, int n, char **texts, cmd_job_fn *request, void *arg);

/* Prints the lines that pbs_admin() returned and frees them; NULL is allowed. */
void cmd_lines_print(char **lines);

/* Frees them only; NULL is allowed. */
void cmd_lines_free(char **lines);

/* Returns whether these are the letters of a hold list: any of u o s, or one of p n alone. */
bool cmd_holds_ok(const char *letters);

#endif
