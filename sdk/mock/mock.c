/* SPDX-License-Identifier: Apache-2.0
 *
 * mock.c - the host as a whole, and a test's view of its objects.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utlist.h>

#include "inside.h"

struct keel_mock *keel_mock_new(uint32_t daemon)
{
	static const char *const classes[] = { "server", "sched", "queue", "node", "resource", "job" };
	struct keel_mock *mock = make(sizeof(*mock));

	mock->thread = pthread_self();
	pthread_mutex_init(&mock->lock, NULL);
	mock->daemon = daemon;
	mock->host = "mockhost";
	mock->home = "/tmp";
	mock->now = BEGIN_MS;
	mock->epoch = 1700000000;
	mock->self.pub.name = "test";
	mock->self.desc.name = "test";
	mock->self.label = dup_text("test");
	mock->self.may_need_all = true;
	head_init(&mock->self.head, mock, NULL);
	types_init(mock);
	services_init(mock);
	for (uint32_t i = 0; i < KEEL_COUNT(classes); i++)
		klass_declare(mock, classes[i]);
	return mock;
}

static void records_free(struct record *r)
{
	while (r != NULL) {
		struct record *next = r->next;

		free(r->text);
		free(r);
		r = next;
	}
}

static void ended_free(struct keel_mock *mock)
{
	while (mock->ended != NULL) {
		struct head *h = mock->ended;

		mock->ended = h->next;
		free(h->memory);
	}
}

void keel_mock_shutdown(struct keel_mock *mock)
{
	mock->freeing = true;
	ops_end(mock);
	mods_end(mock);
}

static void free_parts(struct keel_mock *mock)
{
	notes_drop(mock);
	clock_fini(mock);
	requests_fini(mock);
	links_leave(&mock->self);
	links_fini(mock);
	cursors_fini(mock);
	views_fini(mock);
	own_fini(mock);
	klasses_fini(mock);
	while (mock->attrs != NULL) {
		struct keel_attr *a = mock->attrs;

		mock->attrs = a->next;
		head_end(&a->head);
	}
	types_fini(mock);
	services_fini(mock);
}

static void free_texts(struct keel_mock *mock)
{
	ended_free(mock);
	records_free(mock->records);
	records_free(mock->violations);
	records_free(mock->kept);
	for (uint32_t i = 0; i < RING; i++)
		free(mock->ring[i]);
	while (mock->n_files > 0)
		dlclose(mock->files[--mock->n_files]);
	free(mock->files);
	free(mock->self.label);
	lent_fini(mock);
	if (mock->poison != NULL)
		munmap(mock->poison, (size_t)getpagesize());
}

uint32_t keel_mock_free(struct keel_mock *mock)
{
	uint32_t n;

	if (mock == NULL)
		return 0;
	keel_mock_shutdown(mock);
	taps_detach(&mock->self);
	while (mock->changes != NULL)
		changes_end(mock->changes, false);
	handles_retire(mock);
	n = mock->n_violations;
	free_parts(mock);
	free_texts(mock);
	pthread_mutex_destroy(&mock->lock);
	free(mock);
	return n;
}

struct keel_mod *keel_mock_self(struct keel_mock *mock)
{
	return &mock->self.pub;
}

/* ---- objects ------------------------------------------------------------------------------------------ */
struct keel_obj *keel_mock_draft(struct keel_mock *mock, const char *klass, const char *id)
{
	struct keel_err err = { 0 };
	struct body *b = body_make(klass_declare(mock, klass), id, &err);

	if (b == NULL)
		die("%s", err.text);
	return b->handle;
}

struct keel_obj *keel_mock_object(struct keel_mock *mock, const char *klass, const char *id)
{
	struct keel_obj *o = keel_mock_draft(mock, klass, id);

	body_publish(o->body);
	return o;
}

static struct keel_attr *attr_named(struct keel_obj *o, const char *name)
{
	struct keel_attr *a = attr_find(o->body->klass, name);

	if (o->body->dead)
		die("%s %s is destroyed", o->body->klass->name, o->body->id);
	if (a == NULL)
		die("class %s has no attribute '%s'; keel_mock_attr() makes one", o->body->klass->name, name);
	return a;
}

int32_t keel_mock_set(struct keel_obj *o, const char *attr, const char *key, const char *text)
{
	struct keel_attr *a = attr_named(o, attr);
	struct keel_changes *set = changes_make(&o->head.mock->self);
	struct keel_err err = { 0 };
	int32_t code = changes_put(set, NULL, o->body, a, text != NULL ? KEEL_SET : KEEL_UNSET, key, text,
				   true, &err);

	changes_end(set, code == 0);
	return code;
}

int32_t keel_mock_change(struct keel_obj *o, const struct keel_session *s, const char *attr,
			 const char *key, const char *text, int32_t op, struct keel_err *err)
{
	struct keel_changes *set = changes_make(&o->head.mock->self);
	int32_t code = changes_put(set, s, o->body, attr_named(o, attr), op, key, text, false, err);

	changes_end(set, code == 0);
	return code;
}

const char *keel_mock_text(struct keel_obj *o, const char *attr, const char *key)
{
	struct keel_attr *a = attr_named(o, attr);
	int32_t len = body_text(o->body, a, key, NULL, 0);
	char *text;

	if (len < 0)
		return NULL;
	text = make((size_t)len + 1);
	body_text(o->body, a, key, text, (uint32_t)len + 1);
	return ring(o->head.mock, text);
}

void keel_mock_destroy(struct keel_obj *o)
{
	struct keel_mock *mock = o->head.mock;
	struct op *op;

	body_destroy(o->body);
	DL_FOREACH(mock->parked, op)
		if (!event_valid(op->copy))
			op_ready(op);
}
