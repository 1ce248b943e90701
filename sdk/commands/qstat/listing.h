/* SPDX-License-Identifier: Apache-2.0
 *
 * listing.h - one run of qstat: its output, its connection, what it has printed.
 *
 * Objects are printed as they arrive; nothing keeps a list of them.
 */
#ifndef KEELSON_QSTAT_LISTING_H
#define KEELSON_QSTAT_LISTING_H

#include <stdbool.h>
#include <time.h>

#include "json_out.h"
#include "json_show.h"
#include "names.h"
#include "operand.h"
#include "options.h"
#include "out.h"
#include "show.h"

/* The server's attributes in the head of a table. */
struct facts {
	char *name, *comment, *version; /* owned, may be NULL */
	bool long_ids;
	bool known;
};

struct listing {
	const struct options *opt;
	struct out out;
	struct show show;
	struct json_out json;
	struct json_show json_show;
	struct names seen; /* keys of the JSON container */
	struct names answered; /* ids in the reply, with -E */
	bool json_begun, several;
	bool named; /* the operands are ids, no queue */
	int c; /* connection, -1 none */
	char server[OPERAND_SERVER_SIZE]; /* of `c`, as the operand named it */
	struct facts facts; /* of `c` */
	bool first, headed; /* no operand failed yet; the head of the table is out */
	time_t now;
	int status; /* of the last error */
	struct est *est; /* rows kept for -T */
	const char *container; /* "Jobs" "Queue" "Server" */
};

/* Returns the connection to `server`; -1 after a message. The last one is kept open. */
int listing_reach(struct listing *l, const char *server);

void listing_hang_up(struct listing *l);

/* Reads the facts of the server of the open connection, once. */
const struct facts *listing_facts(struct listing *l);

/* Prints "qstat: TEXT ID" for the last error. */
void listing_complain(struct listing *l, const char *id);

/* Print one object in full: text, dsv or JSON. `label` as in "Job Id: 12.svr". */
void listing_full(struct listing *l, const char *label, const struct batch_status *one);

/* The JSON document that full objects go in, begun before the first and ended after the last. */
void listing_json_begin(struct listing *l);
void listing_json_end(struct listing *l);

/* The first line of a table: the server's comment, if it has one. */
void listing_comment(struct listing *l);

/* One operand each; "" is everything. */
void jobs_list(struct listing *l, const char *word);
/* The head of the table of jobs, unless it is out or not due. */
void jobs_head(struct listing *l);
/* All operands at once, in one request for each server. */
void jobs_list_express(struct listing *l, char **words, int n);
void queues_list(struct listing *l, const char *word);
void servers_list(struct listing *l, const char *word);

#endif
