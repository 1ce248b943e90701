/* SPDX-License-Identifier: Apache-2.0
 *
 * outbox.c - lines that may not be in their file yet, in the store: a record is written once, and only of
 * what is durable.
 *
 * The lines of a turn are an object of its transaction. It is forgotten when its file was synced. After
 * a kill the rows that are left are, day by day and in order, what should be at the end of that day's file:
 * as much of them as is there already is found by looking, the rest is written.
 */
#include "accounting.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLASS "accounting_batch"

const struct keel_class_def outbox_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE,
	.name = CLASS,
	.doc = "accounting records on their way to their file",
};
const struct keel_attr_def outbox_day = KEEL_ATTR_DEF(CLASS, "day", "string", .flags = KEEL_ATTR_SAVE,
						      .doc = "name of the file");
const struct keel_attr_def outbox_lines = KEEL_ATTR_DEF(CLASS, "lines", "string",
							.flags = KEEL_ATTR_SAVE, .doc = "the records");

bool rows_add(struct rows *r, uint64_t row)
{
	if (r->n == r->room) {
		size_t room = r->room ? r->room * 2 : 16;
		uint64_t *at = reallocarray(r->at, room, sizeof(*at));

		if (!at)
			return false; /* it stays until the next start, which finds it written */
		r->at = at;
		r->room = room;
	}
	r->at[r->n++] = row;
	return true;
}

void rows_fini(struct rows *r)
{
	free(r->at);
	*r = (struct rows){ 0 };
}

void outbox_find(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->outbox.day = keel_attr_find(mod, CLASS, "day");
	st->outbox.lines = keel_attr_find(mod, CLASS, "lines");
}

/* So that names sort as numbers do. */
static void row_name(uint64_t row, char buf[24])
{
	snprintf(buf, 24, "%020" PRIu64, row);
}

uint64_t outbox_keep(struct keel_mod *mod, const char *day, const struct text *lines)
{
	struct state *st = mod->state;
	struct keel_obj *o;
	char name[24];

	if (!st->outbox.lines || !lines->n)
		return 0;
	row_name(st->outbox.last + 1, name);
	o = keel_draft(mod, CLASS, name, NULL);
	if (!o)
		return 0;
	if (keel_set_str(o, st->outbox.day, day) ||
	    keel_set_str(o, st->outbox.lines, lines->at) || keel_publish(o)) {
		keel_destroy(o);
		return 0;
	}
	return ++st->outbox.last;
}

void outbox_forget(struct keel_mod *mod, struct rows *rows)
{
	char name[24];

	for (size_t i = 0; i < rows->n; i++) {
		struct keel_obj *o;

		row_name(rows->at[i], name);
		o = keel_find(mod, CLASS, name);
		if (o)
			keel_destroy(o);
	}
	rows->n = 0;
}

/* ---- after a start ---------------------------------------------------------------------------------- */

struct left {
	const char *day, *lines; /* borrowed */
	uint64_t row;
};

static int by_row(const void *a, const void *b)
{
	const struct left *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

static size_t collect(struct keel_mod *mod, struct left **ret)
{
	struct state *st = mod->state;
	uint32_t room = keel_count(mod, CLASS);
	struct left *all = calloc(room ? room : 1, sizeof(*all));
	struct keel_cursor *c = all ? keel_cursor(mod, CLASS) : NULL;
	struct keel_obj *o;
	size_t n = 0;

	while (c && n < room && (o = keel_next(c))) {
		all[n].day = keel_get_str(o, st->outbox.day);
		all[n].lines = keel_get_str(o, st->outbox.lines);
		all[n].row = strtoull(keel_id(o), NULL, 10);
		n += all[n].day && all[n].lines && !strchr(all[n].day, '/');
	}
	if (c)
		keel_cursor_close(c);
	if (n)
		qsort(all, n, sizeof(*all), by_row);
	*ret = all;
	return n;
}

/* How many bytes from the beginning of `lines` the file ends with. */
static size_t already_there(int fd, const struct text *lines)
{
	struct stat s;
	size_t size, n;
	char *tail;

	if (fstat(fd, &s) != 0 || s.st_size <= 0)
		return 0;
	size = (uint64_t)s.st_size < lines->n ? (size_t)s.st_size : lines->n;
	tail = malloc(size);
	if (!tail || pread(fd, tail, size, s.st_size - (off_t)size) != (ssize_t)size)
		size = 0;
	for (n = size; n > 0; n--)
		if (tail[size - n] == lines->at[0] && memcmp(tail + size - n, lines->at, n) == 0)
			break;
	free(tail);
	return n;
}

static int finish_day(const char *path, const struct text *lines)
{
	int fd = day_open(path), in = fd < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int rc = in < 0 ? errno : 0;
	size_t at = rc ? 0 : already_there(in, lines);

	while (!rc && at < lines->n) {
		ssize_t n = write(fd, lines->at + at, lines->n - at);

		if (n > 0)
			at += (size_t)n;
		else if (errno != EINTR)
			rc = errno ? errno : EIO;
	}
	if (!rc && fdatasync(fd) != 0)
		rc = errno;
	if (in >= 0)
		close(in);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* The rows of one day, from `first` on. How many there were. */
static size_t replay_day(struct keel_mod *mod, const struct left *first, size_t n)
{
	struct state *st = mod->state;
	struct text lines = { 0 };
	struct rows rows = { 0 };
	char path[4096];
	size_t i;
	int rc;

	for (i = 0; i < n && strcmp(first[i].day, first->day) == 0; i++) {
		text_add(&lines, first[i].lines, strlen(first[i].lines));
		rows_add(&rows, first[i].row);
	}
	snprintf(path, sizeof(path), "%s/%s", st->journal.dir, first->day);
	rc = lines.broken ? ENOMEM : finish_day(path, &lines);
	if (rc)
		keel_log(mod, KEEL_LOG_ERROR, "Svr", "accounting",
			 "records of %s that were on their way when the daemon ended cannot be "
			 "written: %s; the next start tries again",
			 path, strerror(rc));
	else
		outbox_forget(mod, &rows);
	rows_fini(&rows);
	text_fini(&lines);
	return i;
}

void outbox_replay(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct left *all;
	size_t n = collect(mod, &all), i = 0;

	if (n)
		st->outbox.last = all[n - 1].row;
	while (i < n)
		i += replay_day(mod, all + i, n - i);
	free(all);
}
