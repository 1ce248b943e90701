/* SPDX-License-Identifier: Apache-2.0
 *
 * outcome.c - lines of <id>.TK, a task's diary. The last one is the end of the task: synced, and whole
 * when its last word is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../proc.h"
#include "shepherd.h"

static int diary_open(const struct spec *s)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/%s.TK", s->jobs_dir, s->id), fd;

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int outcome_write(const struct spec *s, const struct outcome *o)
{
	char text[320];
	int len, fd = diary_open(s), r = 0;

	if (fd < 0)
		return fd;
	len = snprintf(text, sizeof(text), "over %lld\nended %d session %d cpu_us %llu max_rss_kb %llu at %lld done\n",
		       (long long)proc_up_ms(), o->status, (int)o->session, (unsigned long long)o->cpu_us,
		       (unsigned long long)o->max_rss_kb, (long long)time(NULL));
	errno = 0;
	if (write(fd, text, (size_t)len) != len || fsync(fd) < 0)
		r = errno ? -errno : -EIO;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

void record_append(const struct spec *s, const char *line)
{
	int fd = diary_open(s);

	if (fd < 0)
		return;
	dprintf(fd, "%s\n", line);
	close(fd);
}

/* "out.place PATH", "err.place PATH": the place of a stream was changed. */
static void place_take(struct spec_stream *stream, const char *line, const char *key)
{
	size_t len = strlen(key);

	if (!stream->run || stream->keep || strncmp(line, key, len) != 0)
		return;
	stream->place = line[len] ? strdup(line + len) : NULL; /* kept: we end soon */
}

void places_read(struct spec *s)
{
	char path[4096], *line = NULL;
	size_t room = 0;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s.TK", s->jobs_dir, s->id) >= sizeof(path) ||
	    !(f = fopen(path, "re")))
		return;
	while (getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		place_take(&s->out, line, "out.place ");
		place_take(&s->err, line, "err.place ");
	}
	free(line);
	fclose(f);
}
