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
#include "object/objects.h"
#include "registry/registry.h"
#include "store/inside.h"
#include "util/crumb.h"
#include "util/err.h"

#define BACKOFF_FIRST_MS 100
#define BACKOFF_LAST_MS 5000
#define TROUBLE_AFTER 3u /* failures in a row before new changes are refused */
#define CLOSE_MS 30000   /* how long a worker may take to come back */
#define OLD_HOLDS "keel_hold" /* class of rows that older builds wrote: holds that were open when the server ended */

/* ---- waiters ------------------------------------------------------------------------------- */

/* Each callback may add waiters, which are for a later batch. */
static void waiters_run(struct waiter **list)
{
	struct waiter *these = *list, *one, *next;

	*list = NULL;
	DL_FOREACH_SAFE(these, one, next) {
		one->fn(one->arg);
		free(one);
	}
}

static void waiters_drop(struct waiter **list)
{
	struct waiter *one, *next;

	DL_FOREACH_SAFE(*list, one, next)
		free(one);
	*list = NULL;
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

	*objects_dirty_link(o) = NULL;
	*(s->dirty ? objects_dirty_link(s->dirty_last) : &s->dirty) = o;
	s->dirty_last = o;
	s->changes++;
	loop_turn_due(s->parts->loop);
}

uint64_t store_changes(const struct store *s)
{
	return s->changes;
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

static void spent_free(void *arg)
{
	struct store *s = arg;
	struct blob *one = s->spent;

	DL_DELETE(s->spent, one);
	blob_free(one);
	s->spent_timer = s->spent ? loop_timer(s->parts->loop, 0, spent_free, s) : NULL;
}

/* Freeing a long script takes a millisecond: one at a time, queued with other work in slices. */
static void blobs_free(struct store *s)
{
	struct blob *one, *next;

	DL_FOREACH_SAFE(s->batch.blobs, one, next) {
		DL_DELETE(s->batch.blobs, one);
		if (one->held)
			DL_APPEND(s->spent, one);
		else
			blob_free(one);
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
			s->parts->server_name, "changes are saved again after %u failed attempts",
			s->failures);
	s->failures = 0;
	s->trouble.text[0] = '\0';
	waiters = s->batch.waiters;
	s->batch.waiters = NULL;
	blobs_free(s);
	batch_reset(&s->batch);
	s->writing = false;
	waiters_run(&waiters);
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

static void forget(struct store *s)
{
	struct keel_obj *o = s->dirty;

	s->dirty = s->dirty_last = NULL;
	while (o) {
		struct keel_obj *next = *objects_dirty_link(o);

		objects_saved(o);
		o = next;
	}
	blobs_drop(&s->blobs);
}

static void take(struct store *s)
{
	struct waiter *waiters = s->waiters;
	int rc = batch_build(&s->batch, &s->dirty, &s->blobs);

	if (rc < 0) {
		commit_failed(s, "no memory to gather them");
		return;
	}
	s->dirty_last = NULL;
	s->waiters = NULL;
	if (s->batch.n == 0) {
		batch_reset(&s->batch);
		waiters_run(&waiters);
		return;
	}
	s->batch.waiters = waiters;
	s->writing = true;
	commit_start(s);
}

static void turn_end(void *arg)
{
	struct store *s = arg;
	struct waiter *waiters = s->waiters;
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
		s->waiters = NULL;
		forget(s);
		waiters_run(&waiters);
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
	waiters_drop(&s->waiters);
	waiters_drop(&s->batch.waiters);
	batch_fini(&s->batch);
	forget(s);
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

static int32_t load_row(void *arg, const char *klass, const char *id, const void *bytes,
			uint32_t len)
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
	CRUMB_CALL(offers, "load() of the store", NULL, rc = -abs(api->load(&offers->pub, load_row, s, err)));
	if (rc < 0) {
		if (s->commit_err.text[0])
			return err_set(err, rc, "%s", s->commit_err.text);
		return rc;
	}
	objects_loaded(s->parts->objects);
	s->api = api;
	s->offers = offers;
	offers->live++;
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

	while (b && objects_is_draft(b->obj))
		b = b->next;
	return !s->writing && !s->dirty && !b && !s->waiters && !s->reads;
}
