/* SPDX-License-Identifier: Apache-2.0
 *
 * log.h - the PBS log: MM/DD/YYYY HH:MM:SS;EEEE;daemon;Class;object;text
 *
 * Day files YYYYMMDD in a directory, by local day. Records below the mask are dropped, except with
 * KEEL_LOG_FORCE. Control characters are escaped: a record is one line.
 */
#ifndef KEELSON_LOG_H
#define KEELSON_LOG_H

#include "keel/types.h"

struct log;
struct loop;

/* `dir` is created when missing; NULL: standard error. `name` is the daemon field. Both are copied. 0 or -errno. */
int log_open(struct loop *l, const char *dir, const char *name, uint32_t mask, bool microseconds,
	     struct log **ret_log, struct keel_err *err);
void log_close(struct log *g);
/* Looks whether the day's file is still there, and opens another one when it was moved or removed. */
void log_look(struct log *g);
/* `override`: one that replaces the other until it is 0 again, for an administrator at run time. */
void log_set_mask(struct log *g, uint32_t mask, bool override);
/* JSON lines instead of PBS lines: {"time": ..., "event": ..., "daemon": ..., "class": ..., "object": ..., "text": ...} */
void log_set_json(struct log *g, bool json);
/* Returns the fd of the open file; its number stays the same when the day changes. */
int log_fd(const struct log *g);
/* The folder of the day files; NULL: standard error, or no log. Borrowed. */
const char *log_dir(const struct log *g);
/* One write(2) per record; `klass` and `object` may be NULL, and so may `g`: then nothing is written. Records
 * that cannot be written are counted; the count is logged when writing works again. */
void log_add(struct log *g, uint32_t event, const char *klass, const char *object, const char *fmt,
	     ...) KEEL_PRINTF(5, 6);
void log_addv(struct log *g, uint32_t event, const char *klass, const char *object, const char *fmt, va_list ap);

#endif
