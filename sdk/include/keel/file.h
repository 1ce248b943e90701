/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/file.h - a site's own text file that a module reads, and reads again when it has changed.
 *
 *   keel_file_path(mod, conf->holidays, path, sizeof(path));
 *   if (keel_file_is_news(&st->file, path) && (text = keel_file_text(path, 1 << 20))) ...
 *
 * It blocks for as long as the file system does: for small local files only. Any thread.
 */
#ifndef KEEL_FILE_H
#define KEEL_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "keel/core.h"

/* What was seen at the last look; zeroes: nothing yet. */
struct keel_file {
	int64_t mtime_ns, size;
	uint32_t there, reserved;
};

/* Seconds only, where the compiler has strict C alone. */
static inline int64_t keel_file_mtime_ns(const struct stat *about)
{
#ifdef st_mtime
	return (int64_t)about->st_mtim.tv_sec * 1000000000 + about->st_mtim.tv_nsec;
#else
	return (int64_t)about->st_mtime * 1000000000;
#endif
}

/* What does not begin with a slash is below the daemon's home. */
static inline void keel_file_path(struct keel_mod *mod, const char *file, char *buf, size_t len)
{
	if (*file == '/')
		snprintf(buf, len, "%s", file);
	else
		snprintf(buf, len, "%s/%s", keel_home(mod), file);
}

/* Is it another file, or another content, than at the caller's last look? A file that cannot be read counts as none. */
static inline bool keel_file_is_news(struct keel_file *f, const char *path)
{
	struct keel_file now = { 0, 0, 0, 0 };
	struct stat about;
	bool news;

	if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
		now.mtime_ns = keel_file_mtime_ns(&about);
		now.size = (int64_t)about.st_size;
		now.there = 1;
	}
	news = now.there != f->there || now.mtime_ns != f->mtime_ns || now.size != f->size;
	*f = now;
	return news;
}

/* The whole file, terminated; the caller frees it. "" when there is none or it is longer than `most`. NULL: no
 * memory. */
static inline char *keel_file_text(const char *path, size_t most)
{
	struct stat about;
	bool fits = stat(path, &about) == 0 && S_ISREG(about.st_mode) && (uint64_t)about.st_size <= most;
	size_t size = fits ? (size_t)about.st_size : 0;
	FILE *f = fits ? fopen(path, "re") : NULL;
	char *text = (char *)calloc(1, size + 1);

	if (f && text)
		text[fread(text, 1, size, f)] = '\0';
	if (f)
		fclose(f);
	return text;
}

#endif
