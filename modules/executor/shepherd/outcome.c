/* SPDX-License-Identifier: Apache-2.0
 *
 * outcome.c - lines of <id>.TK, a task's diary. The last one is the end of the task: synced, and whole
 * when its last word is there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../diary.h"
#include "../proc.h"
#include "shepherd.h"

int outcome_write(const struct spec *s, const struct outcome *o)
{
	char text[320];
	int len, fd = diary_open(s->jobs_dir, s->id), r = 0;

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
	diary_append(s->jobs_dir, s->id, line);
}

char *record_last(const struct spec *s, const char *word)
{
	char path[4096], *line = NULL, *found = NULL;
	size_t room = 0, len = strlen(word);
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s.TK", s->jobs_dir, s->id) >= sizeof(path) ||
	    !(f = fopen(path, "re")))
		return NULL;
	while (getline(&line, &room, f) > 0)
		if (strncmp(line, word, len) == 0) {
			free(found);
			found = strdup(line + len);
		}
	free(line);
	fclose(f);
	return found;
}

/* "out.place PATH", "err.place PATH": the place of a stream was changed. */
static void place_read(const struct spec *s, struct spec_stream *stream, const char *key)
{
	char *place = stream->run && !stream->keep ? record_last(s, key) : NULL;

	if (!place)
		return;
	place[strcspn(place, "\n")] = '\0';
	stream->place = *place ? place : NULL; /* kept: we end soon */
}

void places_read(struct spec *s)
{
	place_read(s, &s->out, "out.place ");
	place_read(s, &s->err, "err.place ");
}
