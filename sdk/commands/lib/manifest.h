/* SPDX-License-Identifier: Apache-2.0
 *
 * manifest.h - options that modules add to commands, as data.
 *
 * A file NAME.opt in $PBS_EXEC/share/keelson/options/COMMAND/ describes one long option with lines
 * "key = value" (a value may be quoted; # begins a comment):
 *	option = "admin-suspend"	the word after --
 *	request = "admin_suspend_nodes"	the verb sent for it
 *	argument = "nodes"		operands are names, one request each; "none": no operands
 *	help = "..."			one line for the usage
 *	privilege = "operator"		required role; shown in the help, enforced by the server
 * KEELSON_OPTIONS_DIR replaces $PBS_EXEC/share/keelson/options.
 */
#ifndef KEELSON_COMMANDS_MANIFEST_H
#define KEELSON_COMMANDS_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#define MANIFEST_WORD 64
#define MANIFEST_HELP 256

struct manifest {
	char option[MANIFEST_WORD];
	char request[MANIFEST_WORD];
	char privilege[MANIFEST_WORD];
	char help[MANIFEST_HELP];
	bool takes_operands;
};

/* Reads the options of `command`, sorted by name, into *ret_list, which the caller frees. Returns their number or
 * -ENOMEM; a file with an error is reported on stderr and skipped. */
int manifest_read(const char *command, struct manifest **ret_list);

/* Parses one file's text. Returns 0, or -EINVAL with the error in `why`. */
int manifest_parse(const char *text, struct manifest *ret, char *why, size_t size);

/* Returns the entry with the name `option` ("--" in front is skipped), or NULL. */
const struct manifest *manifest_find(const struct manifest *list, int n, const char *option);

#endif
