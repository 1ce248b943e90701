/* SPDX-License-Identifier: Apache-2.0
 *
 * store.c - the store front: turns into transactions, replies behind them.
 *
 *   dirty objects, blobs, waiters        (gathering)
 *        | end of a turn, no batch is being written
 *        v
 *   batch -> worker thread -> durable -> dead objects freed, waiters run
 *               ^------ back-off -------- failed
 *
 * A waiter's callback is called when everything that was dirty when it was added is durable. While a
 * batch is being written the next one gathers, so many requests share one write.
 */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "log/log.h"
#include "loop/loop.h"
#include "registry/registry.h"
#include "store/inside.h"
#include "util/account.h"
#include "util/crumb.h"
#include "util/err.h"

#define BACKOFF_FIRST_MS 100
#define BACKOFF_LAST_MS 5000
#define TROUBLE_AFTER 3u /* errors in a row before new changes are refused */
#define CLOSE_MS 30000   /* how long a worker may take to come back */
#define BYTES_KEEP (8u << 20) /* more of a batch is given back after use */
#define OLD_HOLDS "keel_hold" /* class of rows that older builds wrote: holds that were open when the server ended */

/* ---- waiters ------------------------------------------------------------------------------- */

struct waiter {
	struct waiter *prev, *next;
	void (*fn)(void *arg);
	void *arg;
};

/* Each callback may add waiters, which are for a later batch. `call` false: they are dropped. */
static void waiters_end(struct waiter **list, bool call)
{
	struct waiter *these = *list, *one, *next;

	*list = NULL;
	DL_FOREACH_SAFE(these, one, next) {
		if (call)
			one->fn(one->arg);
		free(one);
	}
}

/* Returns whether there is something to write, or a waiter. */
static bool is_gathering(const struct store *s)
{
	return s->dirty || s->blobs || s->waiters;
}

int store_after(struct store *s, void (*fn)(void *arg), void *arg)
{
	struct waiter *one = malloc(sizeof(*one));

	if (!one)
		return -ENOMEM;
	*one = (struct waiter){ .fn = fn, .arg = arg };
	if (s->writing && !s->dirty && !s->blobs)
		DL_APPEND(s->batch.waiters, one); /* all of it is in that batch */
	else
		DL_APPEND(s->waiters, one);
	loop_turn_due(s->parts->loop);
	return 0;
}

void store_dirty(void *store, struct keel_obj *o)
{
	struct store *s = store;

	o->dirty_next = NULL;
	*(s->dirty ? &s->dirty_last->dirty_next : &s->dirty) = o;
	s->dirty_last = o;
	s->changes++;
	loop_turn_due(s->parts->loop);
}

int64_t store_writing_ns(const struct store *s)
{
	return s->writing ? loop_clock_ns(s->parts->loop) - s->writing_ns : 0;
}

uint64_t store_changes(const struct store *s)
{
	return s->changes;
}

/* ---- one transaction: a consistent copy of what changed -------------------------------------
 * Rows refer to the batch's bytes by offset until they have stopped growing. Building does not touch the
 * dirty list before it has succeeded, so a failed attempt can mark the objects dirty again. */

/* Makes room for `more` rows, by doubling. Returns 0 or -ENOMEM. */
static int rows_room(struct batch *b, uint32_t more)
{
	uint32_t cap = b->n + more > b->cap * 2 ? b->n + more : b->cap * 2;
	struct keel_store_row *row;

	if (b->cap - b->n >= more)
		return 0;
	row = realloc(b->row, cap * sizeof(*row));
	if (!row)
		return -ENOMEM;
	b->row = row;
	b->cap = cap;
	return 0;
}

/* Copies to the batch's bytes and returns the offset there, in the pointer that later replaces it. */
static const void *bytes_copy(struct batch *b, const void *bytes, size_t len)
{
	const void *offset = (const void *)(uintptr_t)b->bytes.len;

	buf_add(&b->bytes, bytes, len);
	return offset;
}

/* Returns 0, also when there is nothing to write, or -ENOMEM. */
static int object_row(struct batch *b, struct keel_obj *o)
{
	struct keel_store_row *row;
	int rc = rows_room(b, 1);

	if (rc < 0)
		return rc;
	row = &b->row[b->n];
	rc = objects_encode(o, row);
	if (rc < 0)
		return rc == -ENODATA ? 0 : rc;
	b->n++;
	row->klass = bytes_copy(b, row->klass, strlen(row->klass) + 1);
	row->id = bytes_copy(b, row->id, strlen(row->id) + 1);
	if (row->bytes) { /* offset 0 is that of a class name, so NULL means no body */
		row->bytes = bytes_copy(b, row->bytes, row->len);
		(void)bytes_copy(b, "", 1);
	}
	return b->bytes.failed ? -ENOMEM : 0;
}

/* Cannot fail: room was made before. Blobs of drafts stay in the list, those of dead objects are freed. */
static void blob_rows(struct batch *b, struct blob **blobs)
{
	struct blob *one, *next, *dead = NULL;

	DL_FOREACH_SAFE(*blobs, one, next) {
		uint32_t state = one->obj->flags & (OBJ_DRAFT | OBJ_DEAD);

		if (state == OBJ_DRAFT)
			continue;
		DL_DELETE(*blobs, one);
		if (state & OBJ_DEAD) {
			DL_APPEND(dead, one);
			continue;
		}
		one->obj = NULL;
		b->row[b->n++] = (struct keel_store_row){ one->klass, one->id, one->name, one->bytes, one->len };
		DL_APPEND(b->blobs, one);
	}
	blobs_drop(&dead);
}

/* Moves what is dirty into the empty batch: objects in order, then the blobs of published objects. Returns 0, or -ENOMEM
 * and nothing has changed. */
static int batch_build(struct store *s)
{
	struct batch *b = &s->batch;
	const struct blob *one;
	struct keel_obj *o, *next;
	uint32_t n_blobs;
	int rc = 0;

	for (o = s->dirty; o && rc == 0; o = o->dirty_next)
		rc = object_row(b, o);
	DL_COUNT(s->blobs, one, n_blobs);
	if (rc < 0 || rows_room(b, n_blobs) < 0) {
		for (o = s->dirty; o; o = o->dirty_next)
			o->flags |= OBJ_DIRTY;
		b->n = 0;
		buf_reset(&b->bytes);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < b->n; i++) { /* the bytes have stopped growing */
		struct keel_store_row *row = &b->row[i];

		row->klass = b->bytes.data + (uintptr_t)row->klass;
		row->id = b->bytes.data + (uintptr_t)row->id;
		if (row->bytes)
			row->bytes = b->bytes.data + (uintptr_t)row->bytes;
	}
	blob_rows(b, &s->blobs);
	for (o = s->dirty; o; o = next) {
		next = o->dirty_next;
		if (o->flags & OBJ_DEAD) {
			o->dirty_next = b->dead;
			b->dead = o;
		}
	}
	s->dirty = s->dirty_last = NULL;
	return 0;
}

/* Neither list is to be written any more. */
static void dirty_forget(struct keel_obj **list, struct blob **blobs)
{
	for (struct keel_obj *o = *list, *next; o; o = next) {
		next = o->dirty_next;
		objects_saved(o);
	}
	*list = NULL;
	blobs_drop(blobs);
}

/* After the commit: frees the dead objects, keeps the memory. */
static void batch_reset(struct batch *b)
{
	dirty_forget(&b->dead, &b->blobs);
	b->n = 0;
	buf_reset(&b->bytes);
	if (b->bytes.size > BYTES_KEEP)
		buf_fini(&b->bytes);
}

/* ---- writing ------------------------------------------------------------------------------- */

static void commit_work(void *arg)
{
	struct store *s = arg;
	CRUMB_CALL(s->offers, "worker", "commit",
		   s->commit_rc = s->api->commit(&s->offers->pub, s->batch.row, s->batch.n, &s->commit_err));
}

static void commit_retry(void *arg)
{
	struct store *s = arg;

	s->retry = NULL;
	s->retry_due = true;
	loop_turn_due(s->parts->loop);
}

static void commit_failed(struct store *s, const char *why)
{
	if (s->failures++ == 0)
		s->backoff_ms = BACKOFF_FIRST_MS;
	log_add(s->parts->log, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Server", s->parts->server_name,
		"changes are not saved yet: %s; answers wait, next attempt in %lld ms (attempt %u)",
		why, (long long)s->backoff_ms, s->failures);
	if (s->failures >= TROUBLE_AFTER)
		err_set(&s->trouble, 0, "changes cannot be saved: %s", why);
	if (s->closing)
		return;
	s->retry = loop_timer(s->parts->loop, s->backoff_ms, commit_retry, s);
	if (!s->retry)
		commit_retry(s);
	s->backoff_ms = s->backoff_ms * 2 < BACKOFF_LAST_MS ? s->backoff_ms * 2 : BACKOFF_LAST_MS;
}

/* Freeing a long script takes a millisecond: one at a time, queued with other work in slices. */
static void spent_free(void *arg)
{
	struct store *s = arg;
	struct blob *one = s->spent, *just = NULL;

	DL_DELETE(s->spent, one);
	DL_APPEND(just, one);
	blobs_drop(&just);
	s->spent_timer = s->spent ? loop_timer(s->parts->loop, 0, spent_free, s) : NULL;
}

static void blobs_free(struct store *s)
{
	struct blob *one, *next;

	DL_FOREACH_SAFE(s->batch.blobs, one, next) {
		if (!one->held)
			continue;
		DL_DELETE(s->batch.blobs, one);
		DL_APPEND(s->spent, one);
	}
	if (s->spent && !s->spent_timer)
		s->spent_timer = loop_timer(s->parts->loop, 0, spent_free, s);
	if (!s->spent_timer)
		blobs_drop(&s->spent);
}

static void commit_done(void *arg)
{
	struct store *s = arg;
	struct waiter *waiters;

	s->with_worker--;
	if (s->commit_rc != 0) {
		commit_failed(s, s->commit_err.text[0] ? s->commit_err.text : strerror(abs(s->commit_rc)));
		return;
	}
	if (s->failures)
		log_add(s->parts->log, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Server",
			s->parts->server_name, "changes are saved again after %u failed attempts", s->failures);
	s->failures = 0;
	s->trouble.text[0] = '\0';
	waiters = s->batch.waiters;
	s->batch.waiters = NULL;
	blobs_free(s);
	batch_reset(&s->batch);
	account_add(&s->parts->account[KEEL_ACCOUNT_COMMIT], store_writing_ns(s));
	s->writing = false;
	waiters_end(&waiters, true);
	if (is_gathering(s))
		loop_turn_due(s->parts->loop);
}

static void commit_start(struct store *s)
{
	s->commit_rc = 0;
	s->commit_err.text[0] = '\0';
	if (loop_work(s->parts->loop, commit_work, commit_done, s) == 0)
		s->with_worker++;
	else
		commit_failed(s, "no memory for the write");
}

/* ---- the end of a turn --------------------------------------------------------------------- */

static void take(struct store *s)
{
	struct waiter *waiters = s->waiters;

	if (batch_build(s) < 0) {
		commit_failed(s, "no memory to gather them");
		return;
	}
	s->waiters = NULL;
	if (s->batch.n == 0) {
		batch_reset(&s->batch);
		waiters_end(&waiters, true);
		return;
	}
	s->batch.waiters = waiters;
	s->writing = true;
	s->writing_ns = loop_clock_ns(s->parts->loop);
	commit_start(s);
}

static void turn_end(void *arg)
{
	struct store *s = arg;
	bool due = s->retry_due;

	if (s->retry || s->closing)
		return;
	s->retry_due = false;
	if (s->writing) {
		if (due)
			commit_start(s);
		return;
	}
	if (!s->api) {
		dirty_forget(&s->dirty, &s->blobs);
		waiters_end(&s->waiters, true);
	} else if (is_gathering(s)) {
		take(s);
	}
}

/* ---- life ---------------------------------------------------------------------------------- */

int store_create(struct parts *parts, struct store **ret_store)
{
	struct store *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return -ENOMEM;
	s->parts = parts;
	rc = registry_offer(parts->registry, "blob", &blob_api);
	if (rc < 0) {
		free(s);
		return rc;
	}
	loop_turn_end(parts->loop, turn_end, s);
	*ret_store = s;
	return 0;
}

void store_destroy(struct store *s)
{
	if (!s)
		return;
	loop_timer_cancel(s->retry);
	loop_timer_cancel(s->spent_timer);
	blobs_drop(&s->spent);
	loop_turn_end(s->parts->loop, NULL, NULL);
	waiters_end(&s->waiters, false);
	waiters_end(&s->batch.waiters, false);
	batch_reset(&s->batch);
	free(s->batch.row);
	buf_fini(&s->batch.bytes);
	dirty_forget(&s->dirty, &s->blobs);
	reads_drop(s);
	free(s);
}

static bool workers_are_back(void *arg)
{
	return ((struct store *)arg)->with_worker == 0;
}

void store_close(struct store *s)
{
	if (!s || !s->api)
		return;
	s->closing = true;
	loop_timer_cancel(s->retry);
	s->retry = NULL;
	loop_run_until(s->parts->loop, workers_are_back, s, CLOSE_MS);
	reads_drop(s);
	s->api = NULL;
	s->offers->live--;
	s->offers = NULL;
}

static int32_t load_row(void *arg, const char *klass, const char *id, const void *bytes, uint32_t len)
{
	struct store *s = arg;
	int rc = objects_decode(s->parts->objects, klass, id, bytes, len, &s->commit_err);

	return rc < 0 ? rc : 0;
}

int store_use(struct store *s, struct keel_err *err)
{
	struct keel_err why = { 0 };
	struct owner *offers = NULL;
	const struct keel_store_api *api =
		registry_service(s->parts->registry, "store", 0, &offers, &why);
	uint32_t holds;
	int rc;

	if (!api && s->parts->rename_server)
		return err_set(err, -EINVAL, "--rename-server %s: there is no store; start without it", s->parts->rename_server);
	if (!api) {
		if (s->parts->daemon & KEEL_SERVER)
			log_add(s->parts->log, KEEL_LOG_ERROR, "Svr", s->parts->daemon_name, STORE_NONE);
		return 0;
	}
	if (!offers)
		return err_set(err, -EINVAL, "the service 'store' belongs to no module");
	if (!api->open || !api->load || !api->commit || !api->read_blob)
		return err_set(err, -EINVAL, "the service 'store' of module %s is not complete; upgrade "
					     "the module", offers->pub.name);
	CRUMB_CALL(offers, "open() of the store", NULL,
		   rc = -abs(api->open(&offers->pub, err))); /* any value but 0 is an error */
	if (rc < 0)
		return rc;
	s->commit_err.text[0] = '\0';
	objects_named(s->parts->objects, s->parts->server_name, s->parts->rename_server);
	CRUMB_CALL(offers, "load() of the store", NULL, rc = -abs(api->load(&offers->pub, load_row, s, err)));
	if (rc < 0) {
		if (s->commit_err.text[0])
			return err_set(err, rc, "%s", s->commit_err.text);
		return rc;
	}
	rc = objects_own(s->parts->objects, err);
	if (rc < 0)
		return rc;
	objects_loaded(s->parts->objects);
	s->api = api;
	s->offers = offers;
	offers->live++;
	if (s->parts->rename_server)
		log_add(s->parts->log, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN | KEEL_LOG_FORCE, "Server", s->parts->server_name,
			"the store of server \"%s\" is that of \"%s\" from now on", s->parts->rename_server, s->parts->server_name);
	holds = objects_drop(s->parts->objects, OLD_HOLDS);
	if (holds > 0)
		log_add(s->parts->log, KEEL_LOG_SYSTEM | KEEL_LOG_FORCE, "Server", s->parts->server_name,
			"%u stored holds of an older version are dropped: the operations that waited have ended", holds);
	return 0;
}

bool store_is_with(const struct store *s, const struct owner *owner)
{
	return s->api != NULL && s->offers == owner;
}

const char *store_trouble(const struct store *s)
{
	return s->trouble.text[0] ? s->trouble.text : NULL;
}

/* Does not wait for blobs of drafts: those may be held for long. */
bool store_idle(const struct store *s)
{
	const struct blob *b = s->blobs;

	while (b && b->obj->flags & OBJ_DRAFT)
		b = b->next;
	return !s->writing && !s->dirty && !b && !s->waiters && !s->reads;
}
