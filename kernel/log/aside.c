/* SPDX-License-Identifier: Apache-2.0
 *
 * aside.c - a record by another thread than the loop's. Nothing of the log is written to but its file.
 */
#include <stdio.h>
#include <time.h>

#include "log/inside.h"
#include "log/line.h"
#include "util/file.h"

static void stamp_make(bool microseconds, char *stamp, size_t size)
{
	struct timespec now;
	struct tm tm;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	len = strftime(stamp, size, "%m/%d/%Y %H:%M:%S", &tm);
	if (microseconds)
		snprintf(stamp + len, size - len, ".%06ld", now.tv_nsec / 1000);
}

void log_add_aside(const struct log *g, uint32_t event, const char *klass, const char *object,
		   const char *fmt, ...)
{
	char stamp[STAMP_SIZE], text[1024];
	const struct record r = { stamp, event, g->name, klass, object == NULL ? "" : object, text };
	struct buf line;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	stamp_make(g->microseconds, stamp, sizeof(stamp));
	buf_init(&line);
	if (g->json)
		line_json(&line, &r);
	else
		line_pbs(&line, &r);
	if (!line.failed)
		fd_write_all(g->fd, line.data, line.len);
	buf_fini(&line);
}
