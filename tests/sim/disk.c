/* SPDX-License-Identifier: Apache-2.0
 *
 * disk.c - the store of the simulated server: rows in memory that outlive it. A transaction is whole or
 * not there; the power fails before or behind it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "registry/registry.h"
#include "sim.h"

#define SLOW_MS 4000

static struct sim *sim_of(struct keel_mod *m)
{
	return m->state;
}

static size_t key_make(char *key, size_t size, const char *klass, const char *id, const char *blob)
{
	int n = snprintf(key, size, "%s%c%s%c%s", klass, 0, id, 0, blob != NULL ? blob : "");

	return n < 0 || (size_t)n >= size ? 0 : (size_t)n + (blob != NULL);
}

static struct row *row_find(struct sim *s, const char *key, size_t len)
{
	struct row *r;

	HASH_FIND(hh, s->rows, key, len, r);
	return r;
}

static void row_free(struct sim *s, struct row *r)
{
	HASH_DEL(s->rows, r);
	free(r->key);
	free(r->bytes);
	free(r);
}

static void row_put(struct sim *s, const char *key, size_t key_len, const void *bytes, uint32_t len)
{
	struct row *r = row_find(s, key, key_len);

	if (r == NULL) {
		r = calloc(1, sizeof(*r));
		r->key = malloc(key_len);
		memcpy(r->key, key, key_len);
		r->key_len = key_len;
		HASH_ADD_KEYPTR(hh, s->rows, r->key, r->key_len, r);
	}
	free(r->bytes);
	r->bytes = malloc(len + 1u);
	memcpy(r->bytes, bytes, len);
	r->len = len;
}

/* The scripts of jobs are the only blobs there are. */
static void blobs_drop(struct sim *s, const struct keel_store_row *row)
{
	char key[1024];
	size_t len = key_make(key, sizeof(key), row->klass, row->id, "script");
	struct row *r = row_find(s, key, len);

	if (r != NULL)
		row_free(s, r);
}

static void apply(struct sim *s, const struct keel_store_row *row)
{
	char key[1024];
	size_t len = key_make(key, sizeof(key), row->klass, row->id, row->blob);
	struct row *r;

	if (row->bytes != NULL) {
		row_put(s, key, len, row->bytes, row->len);
		return;
	}
	r = row_find(s, key, len);
	if (r != NULL)
		row_free(s, r);
	if (row->blob == NULL)
		blobs_drop(s, row);
}

static int32_t disk_open(struct keel_mod *m, struct keel_err *err)
{
	(void)m, (void)err;
	return 0;
}

static int32_t disk_load(struct keel_mod *m,
			 int32_t (*row)(void *arg, const char *klass, const char *id,
					const void *bytes, uint32_t len),
			 void *arg, struct keel_err *err)
{
	struct sim *s = sim_of(m);
	struct row *r, *next;
	int32_t ret = 0;

	(void)err;
	HASH_ITER(hh, s->rows, r, next) {
		const char *id = r->key + strlen(r->key) + 1;

		if (r->key_len == (size_t)(id - r->key) + strlen(id) + 1 && ret == 0)
			ret = row(arg, r->key, id, r->bytes, r->len);
	}
	return ret;
}

static int32_t disk_commit(struct keel_mod *m, const struct keel_store_row *rows, uint32_t n,
			   struct keel_err *err)
{
	struct sim *s = sim_of(m);
	bool cut = !s->calm && chance_is(&s->disk, s->conf.faults.crash);
	bool done = !cut || chance_is(&s->disk, 0.5);
	int64_t began = s->conf.real_clock ? sim_cpu_ns() : 0;

	(void)err;
	for (uint32_t i = 0; done && i < n; i++)
		apply(s, &rows[i]);
	if (s->conf.real_clock)
		s->worker_ns += sim_cpu_ns() - began;
	if (!cut)
		return 0;
	trace(s, "power cut %s the commit of %u rows", done ? "behind" : "before", n);
	s->power_cut = true;
	loop_freeze(s->parts->loop);
	return -EIO;
}

static int32_t disk_read(struct keel_mod *m, const char *klass, const char *id, const char *name,
			 void **ret_bytes, uint32_t *ret_len, struct keel_err *err)
{
	struct sim *s = sim_of(m);
	char key[1024];
	size_t len = key_make(key, sizeof(key), klass, id, name);
	const struct row *r = row_find(s, key, len);

	(void)err;
	*ret_bytes = NULL;
	*ret_len = 0;
	if (r == NULL)
		return 0;
	*ret_bytes = malloc(r->len + 1u);
	memcpy(*ret_bytes, r->bytes, r->len);
	*ret_len = r->len;
	return 0;
}

static const struct keel_store_api table = {
	.size = sizeof(table), .open = disk_open, .load = disk_load, .commit = disk_commit,
	.read_blob = disk_read,
};
static const struct keel_service_def service = {
	.size = sizeof(service), .version = 1, .name = "store", .doc = "rows in memory",
	.table = &table,
};
static const struct keel_contrib contribs[] = { { "SERVICE", &service } };

int disk_offer(struct sim *s, struct keel_err *err)
{
	return registry_add(s->parts->registry, &s->owner, contribs, 1, err);
}

/* Work for threads is what waits for the disk: commits, scripts, accounting. */
int64_t disk_work_ms(void *sim)
{
	struct sim *s = sim;

	if (!s->calm && chance_is(&s->work, s->conf.faults.slow))
		return chance_between(&s->work, 100, SLOW_MS);
	return chance_between(&s->work, 0, 2);
}

void disk_fini(struct sim *s)
{
	while (s->rows != NULL)
		row_free(s, s->rows);
}
