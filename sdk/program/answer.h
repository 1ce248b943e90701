/* SPDX-License-Identifier: Apache-2.0
 *
 * answer.h - what a program prints arrives, or the program fails.
 */
#ifndef KEELSON_PROGRAM_ANSWER_H
#define KEELSON_PROGRAM_ANSWER_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A stream that was closed cannot be written or read either, but no file or socket gets its number. */
static inline void streams_hold(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static inline void answer_end(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	fprintf(stderr, "%s: cannot write the answer\n", program_invocation_short_name);
	_exit(EXIT_FAILURE);
}

/* First thing in main(): what was printed and is not there is an error at exit, whatever else came of it. */
static inline void answer_must_arrive(void)
{
	streams_hold();
	atexit(answer_end);
}

#endif
