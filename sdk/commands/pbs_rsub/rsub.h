/* SPDX-License-Identifier: Apache-2.0
 *
 * rsub.h - what the files of pbs_rsub share.
 */
#ifndef PBS_RSUB_H
#define PBS_RSUB_H

#include <stdbool.h>

#include "attr_list.h"
#include "cmd.h"

extern const struct cmd pbs_rsub;

/* What the command line asks for; strings are borrowed from it. */
struct wish {
	struct attr_list attrs;
	const char *start, *end, *server, *job, *rule, *repeat;
	long seconds; /* of -I */
	bool waits, has_resources, hosts, dry_run;
	bool for_hosts; /* an option was given that needs --hosts */
	char **operand;
	int n_operands;
};

/* Reads the command line. Returns false after what is wrong with single values was printed. */
bool options_read(struct wish *w, int argc, char **argv);

/* Checks options that exclude each other, and sets what follows from others. Returns 0, or the exit status after a message. */
int wish_check(struct wish *w, int argc, char **argv);

/* Returns the value of an attribute that is sent, "" is no resource; NULL: it is not there. */
const char *wish_get(const struct wish *w, const char *name, const char *resource);

/* ---- hosts.c: --hosts ---- */

/* One host of the operands, in their order. */
struct host {
	const char *name; /* borrowed */
	long long ncpus;
	char *nodes; /* "(v1:ncpus=2)+(v2:ncpus=2)", owned */
	size_t len;
};

struct hosts {
	struct host *host; /* owned */
	struct host **by_name; /* sorted, owned */
	int n;
};

/* Takes the operands, without empty ones. Returns 0, or the exit status after a message. */
int hosts_take(struct hosts *h, char **operands, int n);
void hosts_free(struct hosts *h);

/* Adds the cpus of these vnodes, and checks that each host has some. Returns 0, or the exit status after a message. */
int hosts_count(struct hosts *h, const struct batch_status *vnodes);

/* The select of the hosts, or their vnodes as resv_nodes has them; the caller frees it. NULL: out of memory. */
char *hosts_select(const struct hosts *h);
char *hosts_nodes(const struct hosts *h);

/* Submits for hosts on `c`, and confirms where the server did not. Returns the exit status. */
int hosts_submit(struct wish *w, struct hosts *h, int c);

#endif
