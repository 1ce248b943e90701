/* SPDX-License-Identifier: Apache-2.0
 *
 * script.c - the job's script: one copy, read once, for directives and for sending.
 *
 * The bytes that were scanned are sent, even if the file changes meanwhile: the library reads a copy in memory, not the
 * user's file.
 */
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_SCRIPT = 1, EXIT_UNREADABLE = 8 };

static int open_file(const char *name, int *ret_fd)
{
	struct stat st;

	if (stat(name, &st) < 0) {
		fprintf(stderr, "qsub: script file:: %s\n", strerror(errno));
		return EXIT_SCRIPT;
	}
	if (!S_ISREG(st.st_mode)) {
		fprintf(stderr, "qsub: script not a file\n");
		return EXIT_SCRIPT;
	}
	*ret_fd = open(name, O_RDONLY | O_CLOEXEC);
	if (*ret_fd < 0) {
		fprintf(stderr, "qsub: opening script file:: %s\n", strerror(errno));
		return EXIT_UNREADABLE;
	}
	return 0;
}

static int read_all(struct script *s, int fd)
{
	size_t size = 0;
	ssize_t n;

	for (;;) {
		if (s->len + 1 >= size) {
			char *grown = realloc(s->text, size += size == 0 ? 16384 : size);

			if (grown == NULL)
				return -ENOMEM;
			s->text = grown;
		}
		n = read(fd, s->text + s->len, size - s->len - 1);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		s->len += n > 0 ? (size_t)n : 0;
	}
	s->text[s->len] = '\0';
	return 0;
}

int script_read(struct script *s, const char *name)
{
	int fd = STDIN_FILENO, ret = 0;

	*s = (struct script){ .fd = -1 };
	if (name != NULL)
		ret = open_file(name, &fd);
	else if (isatty(STDIN_FILENO))
		puts("Job script will be read from standard input. Submit with CTRL+D.");
	if (ret != 0)
		return ret;
	ret = read_all(s, fd);
	if (name != NULL)
		close(fd);
	if (ret < 0) {
		fprintf(stderr, "qsub: reading script file:: %s\n", strerror(-ret));
		return EXIT_SCRIPT;
	}
	if (memmem(s->text, s->len, "\r\n", 2) == NULL)
		return 0;
	fprintf(stderr, "qsub: script contains cr, lf\n");
	return EXIT_SCRIPT;
}

void script_fini(struct script *s)
{
	free(s->text);
	s->text = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int script_store(struct script *s)
{
	if (s->fd >= 0)
		return 0; /* it exists since the first attempt */
	s->fd = memfd_create("script", MFD_CLOEXEC);
	if (s->fd < 0 || write_all(s->fd, s->text, s->len) < 0) {
		fprintf(stderr, "qsub: copying script:: %s\n", strerror(errno));
		return EXIT_SCRIPT;
	}
	snprintf(s->path, sizeof(s->path), "/proc/self/fd/%d", s->fd);
	return 0;
}
