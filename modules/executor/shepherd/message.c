/* SPDX-License-Identifier: Apache-2.0
 *
 * message.c - a line for the output of a running task (qmsg): a process that becomes the task's user and
 * appends it, by the path the task was started with, and only to a plain file. The daemon ends it when it
 * takes too long.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../message.h"
#include "shepherd.h"

static bool write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

static bool append(const char *path, const char *text, size_t len)
{
	bool nowhere = strcmp(path, "/dev/null") == 0, done;
	int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	done = fd >= 0 && fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || nowhere) &&
	       write_all(fd, text, len) && write_all(fd, "\n", 1);
	if (fd >= 0)
		close(fd);
	return done;
}

int message_append(int files)
{
	const char *out, *err;
	bool done = true;
	struct spec s;
	struct stat st;
	char *bytes; /* kept */
	char *text = fstat(0, &st) == 0 && st.st_size <= MESSAGE_LONGEST ? malloc((size_t)st.st_size + 1) : NULL;
	ssize_t n = text ? pread(0, text, (size_t)st.st_size, 0) : -1;
	size_t len = n > 0 ? (size_t)n : 0;

	if (!text || n != st.st_size || spec_load(SPEC_FD, &bytes, &s) < 0 || privileges_drop(&s) < 0 || spec_settle(&s) < 0)
		return 1;
	/* A stream without a file of its own goes into the other's. */
	out = s.out.run ? s.out.run : s.err.run;
	err = s.err.run ? s.err.run : s.out.run;
	if (files & MESSAGE_OUT)
		done = append(out, text, len);
	if (files & MESSAGE_ERR)
		done = append(err, text, len) && done;
	return done ? 0 : 1;
}
