/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share: the log.
 */
#ifndef KEELSON_LOG_INSIDE_H
#define KEELSON_LOG_INSIDE_H

#include "log/log.h"
#include "util/buf.h"

#define STAMP_SIZE 32

struct log {
	struct loop *loop; /* borrowed: the clock */
	char *dir;         /* owned; NULL: standard error */
	char *name;        /* owned */
	uint32_t mask, override; /* override: asked for at run time; 0 none */
	bool microseconds, json;
	int fd;
	int day;              /* YYYYMMDD of the open file, 0 none */
	int64_t second;       /* that `stamp` is of */
	char stamp[STAMP_SIZE];
	struct buf text, line; /* reused by each record */
	uint64_t lost;         /* records that could not be written */
	int lost_why;          /* errno of the last of them */
};

#endif
