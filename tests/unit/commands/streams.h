/* SPDX-License-Identifier: Apache-2.0
 *
 * streams.h - what a piece of a command writes to stdout and stderr.
 */
#ifndef TESTS_COMMANDS_STREAMS_H
#define TESTS_COMMANDS_STREAMS_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct streams {
	int saved[2], file[2]; /* stdout, stderr */
	char text[2][8192];
};

static inline void streams_begin(struct streams *s)
{
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 2; i++) {
		s->saved[i] = dup(i + 1);
		s->file[i] = memfd_create("stream", MFD_CLOEXEC);
		if (s->saved[i] < 0 || s->file[i] < 0 || dup2(s->file[i], i + 1) < 0)
			abort();
	}
}

static inline void streams_end(struct streams *s)
{
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 2; i++) {
		ssize_t n = pread(s->file[i], s->text[i], sizeof(s->text[i]) - 1, 0);

		if (n < 0 || dup2(s->saved[i], i + 1) < 0)
			abort();
		s->text[i][n] = '\0';
		close(s->saved[i]);
		close(s->file[i]);
	}
}

/* Compare, and show both when they differ. */
static inline int streams_are(const struct streams *s, const char *out, const char *err)
{
	int same = strcmp(s->text[0], out) == 0 && strcmp(s->text[1], err) == 0;

	if (!same)
		fprintf(stderr, "\n got: %s|%s|\nwant: %s|%s|\n", s->text[0], s->text[1], out, err);
	return same;
}

#endif
