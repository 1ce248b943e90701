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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../diary.h"
#include "../proc.h"
#include "shepherd.h"

/* Opened once: a shepherd has one diary, and looks into it and writes to it at each step. */
static int diary(const struct spec *s)
{
	static int fd = -1;

	if (fd < 0)
		fd = diary_open(s->jobs_dir, s->id, O_RDWR);
	return fd;
}

int outcome_write(const struct spec *s, const struct outcome *o)
{
	int len, fd = diary(s);
	char text[320];

	if (fd < 0)
		return fd;
	len = snprintf(text, sizeof(text), "over %lld\nended %d session %d cpu_us %llu max_rss_kb %llu at %lld done\n",
		       (long long)proc_up_ms(), o->status, (int)o->session, (unsigned long long)o->cpu_us,
		       (unsigned long long)o->max_rss_kb, (long long)time(NULL));
	errno = 0;
	if (write(fd, text, (size_t)len) != len || fsync(fd) < 0)
		return errno ? -errno : -EIO;
	return 0;
}

void record_append(const struct spec *s, const char *line)
{
	int fd = diary(s);

	if (fd >= 0)
		diary_write(fd, line);
}

char *diary_text(const struct spec *s)
{
	int fd = diary(s);
	char *text = NULL;
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && (text = malloc((size_t)st.st_size + 1)))
		n = pread(fd, text, (size_t)st.st_size, 0);
	if (n >= 0)
		text[n] = '\0';
	else
		free(text);
	return n >= 0 ? text : NULL;
}

char *text_last(const char *text, const char *word)
{
	const char *found = NULL, *line = text;
	size_t len = strlen(word);

	for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, word, len) == 0)
			found = line + len;
	return found ? strndup(found, strcspn(found, "\n")) : NULL;
}

char *record_last(const struct spec *s, const char *word)
{
	char *text = diary_text(s), *found = text_last(text, word);

	free(text);
	return found;
}
