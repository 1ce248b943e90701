/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.c - the record of a run: every line goes into the digest. Two runs of a seed have the same one.
 */
#include <stdarg.h>

#include "sim.h"

void trace(struct sim *s, const char *fmt, ...)
{
	char text[2048];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	s->digest = hash_bytes(s->digest, &s->now_ms, sizeof(s->now_ms));
	s->digest = hash_text(s->digest, text);
	if (s->trace != NULL)
		fprintf(s->trace, "%lld.%03lld %s\n", (long long)(s->now_ms / 1000),
			(long long)(s->now_ms % 1000), text);
}
