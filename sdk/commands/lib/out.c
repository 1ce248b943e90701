/* SPDX-License-Identifier: Apache-2.0
 *
 * out.c - a writer that gathers output and hands it on in large pieces.
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

/* Whoever gave us a stream that does not block has to be waited for. */
static void wait_for_room(struct out *o)
{
	struct pollfd poller = { .fd = o->fd, .events = POLLOUT };

	if (poll(&poller, 1, -1) < 0 && errno != EINTR)
		o->error = errno;
}

static void write_all(struct out *o, const char *bytes, size_t n)
{
	while (n > 0 && o->error == 0) {
		ssize_t done = write(o->fd, bytes, n);

		if (done < 0) {
			if (errno == EAGAIN)
				wait_for_room(o);
			else if (errno != EINTR)
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

void out_in_line(struct out *o, const char *text, size_t n)
{
	for (; n > 0; text++, n--)
		out_char(o, (unsigned char)*text < ' ' ? ' ' : *text);
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
