/* SPDX-License-Identifier: Apache-2.0
 *
 * options.h - the options of the command line of qstat.
 */
#ifndef KEELSON_QSTAT_OPTIONS_H
#define KEELSON_QSTAT_OPTIONS_H

#include <stdbool.h>

#include "show.h"

enum qstat_mode { MODE_JOBS, MODE_QUEUES, MODE_SERVERS };

extern const char qstat_usage[];

struct options {
	enum qstat_mode mode;
	enum show_format format;
	const char *delimiter;
	const char *states; /* letters that are listed; NULL: any */
	const char *users; /* -u list; NULL: any */
	bool full; /* -f */
	bool format_given;
	bool alternate; /* the table of -a -i -r -u -n -s -H -T */
	bool queue_limits; /* -q */
	bool wide, one_line, hosts, comments;
	bool percent, estimate;
	bool gigabytes, megawords;
	bool history, subjobs, arrays, express;
};

/* Returns 0, and *ret_first is the first operand in argv (operands are moved to the end); -1 after a
 * message: the caller exits with status 2. */
int options_read(int argc, char **argv, struct options *ret, int *ret_first);

#endif
