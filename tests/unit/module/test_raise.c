/* SPDX-License-Identifier: Apache-2.0
 *
 * test_raise.c - what a process raises, as it is decoded: whole events of points of the map, of objects that are what they
 * are called, and nothing else. The engine and the objects are the kernel's.
 */
#include "isolate/answer.h"
#include "module/fixture.h"

static const struct keel_object_api *object;
static const struct keel_hook_api *hook;
static struct raising raised; /* as it came; raised.number 0: it did not */
static struct keel_obj *raised_job, *hidden; /* of its event; of the call */
static struct buf out;

static void raise_it(void *arg, struct raising *r, struct buf *m)
{
	(void)arg;
	raised = *r;
	raised_job = r->refused == NULL && r->raise.point == KEEL_POINT_job_hold ?
			     ((const struct keel_ev_job_hold *)r->raise.event)->job : NULL;
	answer_outcome(m, &(struct keel_outcome){ .size = sizeof(struct keel_outcome) });
}

static struct keel_obj *of_the_call(void *arg, const char *klass, const char *id)
{
	(void)arg;
	return strcmp(klass, "job") == 0 && strcmp(id, "draft") == 0 ? hidden : NULL;
}

/* The question that was put is answered; its answer is read from *ret. */
static bool asked(enum talk_ask what, struct buf *question, bool within, struct talk_in *ret)
{
	static struct keel_call call;
	struct whom whom = { .mod = &k.self.pub, .call = within ? &call : NULL, .object = object, .hook = hook,
			     .draft = of_the_call, .raise = raise_it };
	struct talk_in in;
	bool good;

	out.len = 0;
	talk_open(&in, question->data, (uint32_t)question->len);
	good = answer(&whom, what, &in, &out);
	buf_fini(question);
	talk_open(ret, out.data, (uint32_t)out.len);
	return good;
}

static void begin(void)
{
	static const struct keel_class_def classes[] = { { .size = sizeof(classes[0]), .name = "job", .doc = "a test" },
							 { .size = sizeof(classes[0]), .name = "node", .doc = "a test" } };
	static const struct keel_contrib rows[] = { KEEL_ROW(CLASS, classes[0]), KEEL_ROW(CLASS, classes[1]) };

	kernel_start();
	object = registry_service(k.parts.registry, "object", 0, NULL, NULL);
	hook = registry_service(k.parts.registry, "hook", 0, NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(registry_add(k.parts.registry, &k.self, rows, 2, &k.err), 0);
	object->publish(object->draft(&k.self.pub, "job", "1.svr", NULL));
	object->publish(object->draft(&k.self.pub, "node", "n1", NULL));
	hidden = object->draft(&k.self.pub, "job", "draft", NULL);
}

static void end(void)
{
	object->destroy(hidden);
	registry_remove(k.parts.registry, &k.self);
	hooks_detach(k.parts.hooks, &k.self);
	buf_fini(&out);
	kernel_stop();
}

static void put(struct buf *m, const char *klass, const char *id)
{
	talk_put_str(m, klass);
	if (klass != NULL)
		talk_put_str(m, id);
}

/* A job_hold is raised about that object. Why not, or NULL. */
static const char *hold_of(const char *klass, const char *id, bool within)
{
	struct buf m = { 0 };
	struct talk_in in;

	raised = (struct raising){ 0 };
	talk_put_int(&m, 7);
	talk_put_int(&m, KEEL_POINT_job_hold);
	talk_put_int(&m, 0);
	talk_put_str(&m, "1.svr");
	put(&m, klass, id);
	talk_put_str(&m, "u");
	talk_put_str(&m, "somebody");
	CU_ASSERT_TRUE(asked(ASK_RAISE, &m, within, &in));
	CU_ASSERT_EQUAL(raised.number, 7);
	return raised.refused;
}

static void an_event_is_whole_and_its_objects_are_what_they_are_called(void)
{
	begin();
	CU_ASSERT_PTR_NULL(hold_of("job", "1.svr", false));
	CU_ASSERT_PTR_EQUAL(raised_job, object->find(&k.self.pub, "job", "1.svr"));
	CU_ASSERT_STRING_EQUAL(hold_of("job", "2.svr", false), "an object of its event is not there");
	CU_ASSERT_STRING_EQUAL(hold_of(NULL, NULL, false), "an object of its event is not there");
	CU_ASSERT_STRING_EQUAL(hold_of("node", "n1", false),
			       "an object of its event is of another class than its field is called");
	end();
}

static void a_draft_is_there_within_its_call_only(void)
{
	begin();
	CU_ASSERT_STRING_EQUAL(hold_of("job", "draft", false), "an object of its event is not there");
	CU_ASSERT_PTR_NULL(hold_of("job", "draft", true));
	CU_ASSERT_TRUE(raised.drafts);
	CU_ASSERT_PTR_NULL(hold_of("job", "1.svr", true));
	CU_ASSERT_FALSE(raised.drafts);
	end();
}

/* `bytes` of a question that is cut off somewhere: no message, and nothing is raised. */
static void what_is_cut_off_is_no_message(void)
{
	struct buf m = { 0 }, part = { 0 };
	struct talk_in in;
	size_t whole;

	begin();
	talk_put_int(&m, 7);
	talk_put_int(&m, KEEL_POINT_job_hold);
	talk_put_int(&m, 0);
	talk_put_str(&m, "1.svr");
	put(&m, "job", "1.svr");
	talk_put_str(&m, "u");
	talk_put_str(&m, "somebody");
	whole = m.len;
	for (size_t len = 0; len < whole; len++) {
		raised = (struct raising){ 0 };
		buf_add(&part, m.data, len);
		CU_ASSERT_FALSE(asked(ASK_RAISE, &part, false, &in));
		CU_ASSERT_EQUAL(raised.number, 0);
		part = (struct buf){ 0 };
	}
	buf_fini(&m);
	end();
}

static const char *note_or_fold_refused(uint32_t point)
{
	struct buf m = { 0 };
	struct talk_in in;

	talk_put_int(&m, 7);
	talk_put_int(&m, point);
	talk_put_int(&m, 0);
	talk_put_str(&m, "1.svr");
	put(&m, "job", "1.svr");
	for (int i = 0; i < 4; i++)
		talk_put_int(&m, 1);
	raised.refused = NULL;
	asked(ASK_RAISE, &m, false, &in);
	return raised.refused;
}

static const struct keel_field fields[] = { { "id", KEEL_FIELD_STR, 8 }, { "job", KEEL_FIELD_OBJ, 16 } };
static const struct keel_point_def mine = { .size = sizeof(mine), .kind = KEEL_GATE, .name = "mine", .doc = "a test",
					    .fields = fields, .n_fields = 2, .event_size = 24 };

static void what_is_no_question_is_not_raised(void)
{
	begin();
	CU_ASSERT_STRING_EQUAL(note_or_fold_refused(KEEL_POINT_job_queued), "it is neither a GATE nor an ASK");
	CU_ASSERT_STRING_EQUAL(note_or_fold_refused(KEEL_POINT_MAX + 1), "there is no such point");
	CU_ASSERT_STRING_EQUAL(note_or_fold_refused(KEEL_POINT_OWN), "there is no such point");
	CU_ASSERT_EQUAL(registry_add(k.parts.registry, &k.self, &(struct keel_contrib)KEEL_ROW(POINT, mine), 1, &k.err), 0);
	CU_ASSERT_STRING_EQUAL(note_or_fold_refused(hook->point(&k.self.pub, "mine")), "there is no such point");
	end();
}

TESTS_MAIN("raise", TEST(an_event_is_whole_and_its_objects_are_what_they_are_called),
	   TEST(a_draft_is_there_within_its_call_only), TEST(what_is_cut_off_is_no_message),
	   TEST(what_is_no_question_is_not_raised))
