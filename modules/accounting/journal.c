/* SPDX-License-Identifier: Apache-2.0
 *
 * journal.c - lines on their way to the day files.
 *
 *   journal_add -> last batch of the day -> (end of the turn) sealed: a row of the outbox
 *      -> (the turn is durable) worker: one write -> freed -> (the file is synced) its row is forgotten
 *
 * Batches are written strictly in order, one at a time, by a worker thread, so a slow disk never holds
 * the loop. A batch that cannot be written stays first and is tried again; only when BYTES_MAX are
 * waiting are new records dropped, and counted. journal_flush() may write the batch a worker has been
 * given as well: the one that has its lock first does it, the other finds it written.
 */
#include "accounting.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BATCH_BYTES (1u << 20)
#define BYTES_MAX (256u << 20)
#define RETRY_MS 5000
#define SYNC_MS 250

struct batch {
	struct batch *next;
	struct text lines;
	char day[16];
	char *path; /* owned */
	char *before; /* path of a file to sync first, of another day; owned */
	uint64_t row;
	bool sealed, durable;
	bool sync;   /* the worker does it, when the write had no error */
	pthread_mutex_t lock;
	size_t written; /* bytes; under the lock once a worker knows the batch */
	int error;      /* errno of the last try; 0 after all was written */
};

/* ---- worker side ----------------------------------------------------------------------------------- */

int day_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_CREAT, 0644);
	if (fd >= 0)
		(void)!fchmod(fd, 0644); /* whatever our umask is */
	return fd;
}

static int write_rest(struct batch *b, int fd)
{
	while (b->written < b->lines.n) {
		ssize_t n = write(fd, b->lines.at + b->written, b->lines.n - b->written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		b->written += (size_t)n;
	}
	return 0;
}

/* Writes what is not written yet. Any thread. */
static void batch_write(void *arg)
{
	struct batch *b = arg;
	int fd, before;

	pthread_mutex_lock(&b->lock);
	b->error = 0;
	if (b->written < b->lines.n) {
		fd = day_open(b->path);
		b->error = fd < 0 ? errno : write_rest(b, fd);
		if (!b->error && b->sync && fdatasync(fd) != 0)
			b->error = errno;
		before = !b->error && b->sync && b->before ? open(b->before, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
		if (before >= 0 && fdatasync(before) != 0) /* a file that is away needs none */
			b->error = errno;
		if (before >= 0)
			close(before);
		if (fd >= 0)
			close(fd);
	}
	pthread_mutex_unlock(&b->lock);
}

/* ---- loop side ------------------------------------------------------------------------------------- */

static void batch_free(struct batch *b)
{
	if (!b)
		return;
	text_fini(&b->lines);
	pthread_mutex_destroy(&b->lock);
	free(b->path);
	free(b->before);
	free(b);
}

static struct batch *batch_new(struct journal *j, const char *day)
{
	struct batch *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	pthread_mutex_init(&b->lock, NULL);
	snprintf(b->day, sizeof(b->day), "%s", day);
	if (asprintf(&b->path, "%s/%s", j->dir, day) < 0) {
		b->path = NULL;
		batch_free(b);
		return NULL;
	}
	*j->last = b;
	j->last = &b->next;
	return b;
}

static void journal_next(struct keel_mod *mod, void *arg);

static void retry(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	st->journal.retry = NULL;
	journal_next(mod, arg);
}

/* Its row is forgotten once the file is synced. */
static void written(struct keel_mod *mod, struct batch *b)
{
	struct state *st = mod->state;
	struct journal *j = &st->journal;

	if (b->row)
		rows_add(&j->written, b->row);
	free(j->unsynced);
	j->unsynced = b->sync ? NULL : b->path;
	if (!b->sync) {
		b->path = NULL;
		return;
	}
	j->synced_ms = keel_now_ms(mod);
	for (size_t i = 0; i < j->written.n; i++)
		rows_add(&j->settled, j->written.at[i]);
	j->written.n = 0;
}

static void first_is_written(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct journal *j = &st->journal;
	struct batch *b = j->first;

	j->first = b->next;
	if (!j->first)
		j->last = &j->first;
	j->bytes -= b->lines.n;
	written(mod, b);
	batch_free(b);
	if (j->lost)
		keel_log(mod, KEEL_LOG_ERROR, "Svr", "accounting",
			 "accounting records can be written again; %llu were lost",
			 (unsigned long long)j->lost);
	j->lost = 0;
}

static void batch_done(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct journal *j = &st->journal;
	struct batch *b = arg;

	j->writing = false;
	if (b != j->first) { /* the journal was closed meanwhile */
		batch_free(b);
		return;
	}
	if (b->error) {
		keel_log(mod, KEEL_LOG_ERROR, "Svr", "accounting",
			 "cannot write %s: %s; %llu bytes of records wait, trying again in %d s. "
			 "Is the file system full or read-only?",
			 b->path, strerror(b->error), (unsigned long long)j->bytes,
			 RETRY_MS / 1000);
		if (!j->retry)
			j->retry = keel_timer(mod, RETRY_MS, retry, NULL);
		return;
	}
	first_is_written(mod);
	journal_next(mod, NULL);
}

static void journal_next(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct journal *j = &st->journal;
	struct batch *b = j->first;
	bool other_day;

	(void)arg;
	if (!b || !b->durable || j->writing || j->retry)
		return;
	/* It is synced now and then, and when a day is over. */
	other_day = j->unsynced && strcmp(j->unsynced, b->path) != 0;
	b->sync = b->row && (other_day || keel_now_ms(mod) - j->synced_ms >= SYNC_MS);
	if (b->sync && other_day && !b->before)
		b->before = strdup(j->unsynced);
	j->writing = true;
	if (keel_work(mod, batch_write, batch_done, b)) {
		batch_write(b); /* no memory for a work item: better slow than lost */
		batch_done(mod, b);
	}
}

/* The oldest that is not yet: turns become durable in order. None: the journal was closed meanwhile. */
static void is_durable(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct batch *b = st->journal.first;

	(void)arg;
	while (b && b->durable)
		b = b->next;
	if (b)
		b->durable = true;
	journal_next(mod, NULL);
}

/* The end of the turn: what was added in it goes into its transaction. */
static void seal(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct journal *j = &st->journal;
	struct batch *b;

	(void)arg;
	j->planned = false;
	outbox_forget(mod, &j->settled);
	for (b = j->first; b; b = b->next) {
		if (b->sealed)
			continue;
		b->sealed = true;
		b->row = outbox_keep(mod, b->day, &b->lines);
		b->durable = !b->row || keel_when_durable(mod, is_durable, NULL) != 0;
	}
	journal_next(mod, NULL);
}

void journal_add(struct keel_mod *mod, char letter, const char *id, const char *text)
{
	struct state *st = mod->state;
	struct journal *j = &st->journal;
	time_t now = (time_t)keel_time(mod);
	char day[16], stamp[32];
	struct batch *b = NULL;
	struct tm tm;
	size_t before;

	localtime_r(&now, &tm);
	strftime(day, sizeof(day), "%Y%m%d", &tm);
	strftime(stamp, sizeof(stamp), "%m/%d/%Y %H:%M:%S", &tm);
	/* The last batch, but one that a worker may have is closed. */
	if (j->first)
		b = (struct batch *)((char *)j->last - offsetof(struct batch, next));
	if (j->bytes >= BYTES_MAX)
		b = NULL;
	else if (!b || b->sealed || b->lines.n >= BATCH_BYTES || strcmp(b->day, day) != 0)
		b = batch_new(j, day);
	if (!b) {
		j->lost++;
		return;
	}
	before = b->lines.n;
	text_printf(&b->lines, "%s;%c;", stamp, letter);
	text_clean(&b->lines, id);
	text_add(&b->lines, ";", 1);
	text_clean(&b->lines, text);
	text_add(&b->lines, "\n", 1);
	if (b->lines.broken) { /* no memory: no half lines */
		b->lines.n = before;
		b->lines.broken = false;
		j->lost++;
	}
	j->bytes += b->lines.n - before;
	if (!j->planned)
		j->planned = keel_defer(mod, seal, NULL) == 0;
}

int32_t journal_open(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	struct journal *j = &st->journal;
	int rc;

	j->last = &j->first;
	if (asprintf(&j->dir, "%s/server_priv/accounting", keel_home(mod)) < 0) {
		j->dir = NULL;
		return keel_error(err, -1, "out of memory");
	}
	rc = mkdir(j->dir, 0755);
	if (rc == 0)
		rc = chmod(j->dir, 0755);
	if (rc != 0 && errno != EEXIST)
		return keel_error(err, -1,
				  "cannot create %s: %s; accounting records need this directory",
				  j->dir, strerror(errno));
	return 0;
}

void journal_flush(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct journal *j = &st->journal;
	struct batch *b;

	for (b = j->first; b; b = b->next) {
		batch_write(b);
		if (b->error) {
			keel_log(mod, KEEL_LOG_ERROR, "Svr", "accounting",
				 "cannot write %s: %s; %llu bytes of records are lost", b->path,
				 strerror(b->error), (unsigned long long)j->bytes);
			return;
		}
	}
}

void journal_close(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct journal *j = &st->journal;

	keel_timer_cancel(j->retry);
	j->retry = NULL;
	if (j->first && j->writing) /* a worker may still have it: batch_done() frees it */
		j->first = j->first->next;
	while (j->first) {
		struct batch *b = j->first;

		j->first = b->next;
		batch_free(b);
	}
	rows_fini(&j->written);
	rows_fini(&j->settled);
	free(j->unsynced);
	free(j->dir);
	j->dir = j->unsynced = NULL;
}
