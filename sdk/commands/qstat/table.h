/* SPDX-License-Identifier: Apache-2.0
 *
 * table.h - heads and lines of the two tables of jobs.
 */
#ifndef KEELSON_QSTAT_TABLE_H
#define KEELSON_QSTAT_TABLE_H

#include <stdbool.h>
#include <time.h>

#include "options.h"
#include "out.h"
#include "row.h"

/* The default table. */
void table_head(struct out *o, const struct options *opt, bool long_ids);
void table_line(struct out *o, const struct options *opt, bool long_ids, const struct row *r);

/* The one of -a -i -r -u -n -s -H -T. `comment` may be NULL. */
void alternate_head(struct out *o, const struct options *opt, bool long_ids, const char *server,
		    const char *comment);
void alternate_line(struct out *o, const struct options *opt, bool long_ids, const struct row *r,
		    time_t now);

/* Host names of an exec_host, each cut at its first dot (addresses are kept), in lines that begin
 * with three blanks and are no longer than 78; `broken` false: on one line, as it stands. */
void alternate_hosts(struct out *o, const char *exec_host, bool broken);

#endif
