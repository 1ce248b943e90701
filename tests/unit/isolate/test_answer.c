/* SPDX-License-Identifier: Apache-2.0
 *
 * test_answer.c - walks of a process over a class, a piece at a time: each object once, whatever happens
 * between two pieces; and what of its notes is told.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "hook/hooks.h"
#include "isolate/answer.h"
#include "keel/keel.h"
#include "object/objects.h"
#include "registry/registry.h"
#include "util/owner.h"

static struct parts parts;
static struct owner owner = { .pub.name = "walker", .parts = &parts };
static const struct keel_object_api *object;
static uint32_t looks; /* times a cursor gave an object */

static void not_dirty(void *arg, struct keel_obj *o)
{
	(void)arg, (void)o;
}

static void make(uint32_t n)
{
	static const struct keel_class_def classes[] = { { .size = sizeof(classes[0]), .name = "job", .doc = "" },
							 { .size = sizeof(classes[0]), .name = "queue", .doc = "" } };
	static const struct keel_contrib rows[] = { KEEL_ROW(CLASS, classes[0]), KEEL_ROW(CLASS, classes[1]) };
	char id[32];

	CU_ASSERT_EQUAL_FATAL(registry_create(&parts.registry), 0);
	CU_ASSERT_EQUAL_FATAL(objects_create(parts.registry, not_dirty, NULL, &parts.objects), 0);
	CU_ASSERT_EQUAL_FATAL(registry_add(parts.registry, &owner, rows, 2, NULL), 0);
	object = registry_service(parts.registry, "object", 0, NULL, NULL);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "%u", i);
		object->publish(object->draft(&owner.pub, i == 0 ? "queue" : "job", id, NULL));
	}
}

static void drop(struct walk *w)
{
	walk_end(w, object);
	objects_destroy(parts.objects);
	registry_destroy(parts.registry);
}

static struct keel_obj *counted(struct keel_cursor *cursor)
{
	looks++;
	return object->next(cursor);
}

/* A piece of the class behind `last`, which becomes the last id of it; how many they are. */
static int64_t piece(struct walk *walk, const char *klass, char *last, int64_t want)
{
	struct keel_object_api counting = *object;
	struct whom whom = { .mod = &owner.pub, .object = &counting, .walk = walk };
	struct buf asked = { 0 }, out = { 0 };
	struct talk_in in;
	int64_t n;

	counting.next = counted;
	talk_put_str(&asked, klass);
	talk_put_str(&asked, last[0] != '\0' ? last : NULL);
	talk_put_int(&asked, want);
	talk_open(&in, asked.data, (uint32_t)asked.len);
	CU_ASSERT_TRUE(answer(&whom, ASK_WALK, &in, &out));
	talk_open(&in, out.data, (uint32_t)out.len);
	n = talk_int(&in);
	for (int64_t i = 0; i < n; i++)
		snprintf(last, 32, "%s", talk_text(&in));
	CU_ASSERT_TRUE(talk_done(&in));
	buf_fini(&asked);
	buf_fini(&out);
	return n;
}

static void test_a_walk_goes_on_where_it_was(void)
{
	struct walk walk = { .cursor = NULL };
	char last[32] = "";
	int64_t n, all = 0;

	make(10001);
	looks = 0;
	do
		all += n = piece(&walk, "job", last, 128);
	while (n == 128);
	CU_ASSERT_EQUAL(all, 10000);
	CU_ASSERT_STRING_EQUAL(last, "10000");
	CU_ASSERT_EQUAL(looks, 10001);
	CU_ASSERT_PTR_NULL(walk.cursor);
	drop(&walk);
}

static void test_the_last_one_may_go_meanwhile(void)
{
	struct walk walk = { .cursor = NULL };
	char last[32] = "";

	make(301);
	CU_ASSERT_EQUAL(piece(&walk, "job", last, 100), 100);
	object->destroy(object->find(&owner.pub, "job", "100"));
	CU_ASSERT_EQUAL(piece(&walk, "job", last, 100), 100);
	CU_ASSERT_STRING_EQUAL(last, "200");
	drop(&walk);
}

static void test_two_walks_in_turns_are_both_right(void)
{
	struct walk walk = { .cursor = NULL };
	char job[32] = "", other[32] = "";

	make(201);
	CU_ASSERT_EQUAL(piece(&walk, "job", job, 50), 50);
	CU_ASSERT_EQUAL(piece(&walk, "job", other, 20), 20);
	CU_ASSERT_EQUAL(piece(&walk, "job", job, 50), 50);
	CU_ASSERT_STRING_EQUAL(job, "100");
	CU_ASSERT_EQUAL(piece(&walk, "job", other, 20), 20);
	CU_ASSERT_STRING_EQUAL(other, "40");
	drop(&walk);
}

static void test_what_nobody_should_ask(void)
{
	struct walk walk = { .cursor = NULL };
	char last[32] = "";

	make(301);
	CU_ASSERT_EQUAL(piece(&walk, "job", last, INT64_MAX), 256);
	CU_ASSERT_EQUAL(piece(&walk, "job", last, -1), 0);
	CU_ASSERT_EQUAL(piece(&walk, "nothing", last, 5), 0);
	snprintf(last, sizeof(last), "gone");
	CU_ASSERT_EQUAL(piece(&walk, "job", last, 5), 5);
	CU_ASSERT_STRING_EQUAL(last, "5"); /* behind nobody: from the beginning */
	drop(&walk);
}

/* ---- notes ------------------------------------------------------------------------------------------- */
static uint32_t notes;

static void note_counted(struct keel_mod *m, uint32_t point, const void *event)
{
	(void)m, (void)point, (void)event;
	notes++;
}

static int32_t about(struct keel_mod *m, uint32_t point, struct keel_point_def *ret)
{
	struct hooks_point p;

	(void)m;
	CU_ASSERT_TRUE_FATAL(hooks_point(point, &p));
	ret->kind = p.kind;
	ret->event_size = p.event_size;
	ret->fields = hooks_fields(point, &ret->n_fields);
	return 0;
}

static bool name_of(void *arg, struct keel_obj *obj, const char **ret_klass, const char **ret_id)
{
	(void)arg;
	*ret_klass = object->klass(obj);
	*ret_id = object->id(obj);
	return true;
}

static struct keel_obj *no_draft(void *arg, const char *klass, const char *id)
{
	(void)arg, (void)klass, (void)id;
	return NULL;
}

/* How often a job_purged of that id and object is told. */
static uint32_t told(const char *id, struct keel_obj *job)
{
	const struct keel_hook_api hook = { .fields = hooks_fields, .about = about, .note = note_counted };
	struct whom whom = { .mod = &owner.pub, .object = object, .hook = &hook, .draft = no_draft };
	struct buf asked = { 0 }, out = { 0 };
	const struct keel_field *fields;
	struct talk_in in;
	uint32_t n;

	notes = 0;
	fields = hooks_fields(KEEL_POINT_job_purged, &n);
	talk_put_int(&asked, KEEL_POINT_job_purged);
	talk_put_event(&asked, fields, n, KEEL_EVENT(job_purged, .id = id, .job = job), name_of, NULL);
	talk_open(&in, asked.data, (uint32_t)asked.len);
	CU_ASSERT_TRUE(answer(&whom, ASK_NOTE, &in, &out));
	buf_fini(&asked);
	buf_fini(&out);
	return notes;
}

static void test_a_note_is_whole_or_nobody_hears_it(void)
{
	struct walk none = { .cursor = NULL };
	struct keel_obj *job;

	make(2);
	job = object->find(&owner.pub, "job", "1");
	CU_ASSERT_EQUAL(told("1", job), 1);
	CU_ASSERT_EQUAL(told("1", NULL), 0);
	CU_ASSERT_EQUAL(told(NULL, job), 0);
	CU_ASSERT_EQUAL(told("1", object->find(&owner.pub, "queue", "0")), 0); /* no job: what it has is elsewhere */
	drop(&none);
}

TESTS_MAIN("answer", TEST(test_a_note_is_whole_or_nobody_hears_it), TEST(test_a_walk_goes_on_where_it_was), TEST(test_the_last_one_may_go_meanwhile),
	   TEST(test_two_walks_in_turns_are_both_right), TEST(test_what_nobody_should_ask))
