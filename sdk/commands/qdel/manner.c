/* SPDX-License-Identifier: Apache-2.0
 *
 * manner.c - the options of a deletion.
 */
#include "manner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_ifl.h"

bool manner_word(struct manner *m, const char *word)
{
	static const char suppress[] = SUPPRESS_EMAIL "=";
	size_t n = sizeof(suppress) - 1;
	char *end;
	long limit;

	if (strcmp(word, FORCE) == 0) {
		m->force = true;
		return true;
	}
	if (strncmp(word, suppress, n) == 0) {
		errno = 0;
		limit = strtol(word + n, &end, 10);
		if (end == word + n || *end || errno || limit < -1)
			return false;
		m->mail_limit = limit;
		return true;
	}
	return *word && strspn(word, "0123456789") == strlen(word);
}

void manner_extend(const struct manner *m, int n, char extend[MANNER_EXTEND_SIZE])
{
	bool quiet = m->mail_limit < 0 || (m->mail_limit > 0 && n > m->mail_limit);

	snprintf(extend, MANNER_EXTEND_SIZE, "%s%s%s", m->force ? FORCE : "", quiet ? NOMAIL : "",
		 m->history ? DELETEHISTORY : "");
}
