/* SPDX-License-Identifier: Apache-2.0
 *
 * pbsnodes.h - what the parts of pbsnodes share.
 */
#ifndef KEELSON_PBSNODES_H
#define KEELSON_PBSNODES_H

#include <stdbool.h>

#include "attr_list.h"
#include "json_out.h"
#include "json_show.h"
#include "out.h"
#include "pbs_ifl.h"
#include "show.h"

enum node_mark { MARK_NONE, MARK_COMMENT, MARK_OFFLINE, MARK_ONLINE, MARK_CLEAR, MARK_DOWN };

struct options {
	const char *server; /* "" the default one */
	const char *comment; /* NULL: not given */
	const char *delimiter;
	enum show_format format;
	enum node_mark mark;
	bool all, vnodes, by_host, summary, jobs, untruncated, list, torque_list, quiet;
	bool format_given;
};

/* One run. */
struct nodes {
	const struct options *opt;
	int c;
	struct out out;
	struct show show;
	struct json_out json;
	struct json_show json_show;
	struct names seen; /* jobs of one node */
	const char *default_server; /* borrowed; job ids of this server are shown short */
};

/* Reads the command line. Returns 0, or -1: the caller prints the usage and ends with 1. */
int options_read(int argc, char **argv, struct options *ret, int *ret_first);

/* Marks or lists the nodes named. Each returns the exit status, after its errors are on stderr. */
int mark_nodes(int c, const struct options *opt, char **names, int n);
int list_nodes(struct nodes *l, char **names, int n);

/* Prints one node of a -S or -Sj listing, in the requested format; and the head of the tables. */
void summary_head(struct nodes *l);
void summary_node(struct nodes *l, const struct batch_status *node);

/* Returns the next id in "12.svr/0, 12.svr/1, 13.svr/2" that has not come since names_clear(&l->seen), or NULL. *at
 * moves on. */
const char *node_next_job(struct nodes *l, const char **at, size_t *ret_len);

/* Writes the member "jobs": an array of ids, each once. */
void node_json_jobs(struct nodes *l, const char *jobs);

/* Prints the usage on stderr; returns 1. */
int misuse(void);

/* "pbsnodes --OPTION ...", an option of a module. Returns the exit status; -1: there is no long option on the command
 * line. */
int module_option(int argc, char **argv);
void module_options_help(void); /* a line or two for each, on stdout */

#endif
