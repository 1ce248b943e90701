/* SPDX-License-Identifier: Apache-2.0
 *
 * out.c - a buffered writer.
 */
#include "out.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int out_init(struct out *o, int fd)
{
	*o = (struct out){ .fd = fd };
	o->buf = malloc(OUT_SIZE);
	return o->buf ? 0 : -ENOMEM;
}

/* The caller's stream may be non-blocking: waits until it can be written. */
static void write_all(struct out *o, const char *bytes, size_t n)
{
	while (n > 0 && o->error == 0) {
		struct pollfd poller = { .fd = o->fd, .events = POLLOUT };
		ssize_t done = write(o->fd, bytes, n);

		if (done < 0 && errno == EAGAIN)
			done = poll(&poller, 1, -1) < 0 ? -1 : 0;
		if (done < 0) {
			if (errno != EINTR)
				o->error = errno;
			continue;
		}
		bytes += done;
		n -= (size_t)done;
	}
}

int out_flush(struct out *o)
{
	write_all(o, o->buf, o->len);
	o->len = 0;
	return -o->error;
}

void out_long(struct out *o, const char *bytes, size_t n)
{
	out_flush(o);
	if (n >= OUT_SIZE) {
		write_all(o, bytes, n);
		return;
	}
	memcpy(o->buf, bytes, n);
	o->len = n;
}

/* Terminals obey C0, DEL and C1, which in UTF-8 is c2 80 to c2 9f. */
bool out_is_c1(const char *text, size_t i, size_t len)
{
	unsigned char c = (unsigned char)text[i], before = i > 0 ? (unsigned char)text[i - 1] : 0;

	if (c == 0xc2 && i + 1 < len)
		c = (unsigned char)text[i + 1];
	else if (before >= 0x80 && before != 0xc2)
		return false;
	return c >= 0x80 && c < 0xa0;
}

void out_in_line(struct out *o, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out_char(o, (unsigned char)text[i] < ' ' || text[i] == 0x7f || out_is_c1(text, i, n) ? ' ' : text[i]);
}

void out_printf(struct out *o, const char *form, ...)
{
	char text[1024], *longer;
	va_list ap;
	int n;

	va_start(ap, form);
	n = vsnprintf(text, sizeof(text), form, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n < sizeof(text)) {
		out_bytes(o, text, (size_t)n);
		return;
	}
	va_start(ap, form);
	n = vasprintf(&longer, form, ap);
	va_end(ap);
	if (n < 0)
		return;
	out_bytes(o, longer, (size_t)n);
	free(longer);
}

int out_fini(struct out *o)
{
	int rc = out_flush(o);

	free(o->buf);
	o->buf = NULL;
	return rc;
}
