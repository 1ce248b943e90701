/* SPDX-License-Identifier: Apache-2.0
 *
 * test_record.c - texts of records.
 */
#include "accounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "keel/mock.h"
#include "with_resources.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_mod *self; /* the test's own */
static struct keel_obj *job;

static keel_verdict tap_record(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_acct_record *ev = event;
	char item[32];

	(void)point, (void)arg;
	snprintf(item, sizeof(item), "extra_%s=1", ev->letter);
	keel_append(c, item);
	return KEEL_NEXT;
}

/* exec_vnode is always this one: two vnodes, a custom resource between the known ones. */
static const struct keel_resource ncpus = { "ncpus", KEEL_RES_LONG, KEEL_RES_BUILTIN };
static const struct keel_resource mem = { "mem", KEEL_RES_SIZE, KEEL_RES_BUILTIN };
static const struct keel_resource gpus = { "gpus", KEEL_RES_LONG, 0 };
static const struct keel_res_value first[] = { { .res = &gpus, .n = 1 }, { .res = &ncpus, .n = 2 },
					       { .res = &mem, .n = 1048576 } };
static const struct keel_res_value second[] = { { .res = &ncpus, .n = 3 },
						{ .res = &mem, .n = 1024 } };
static const struct keel_exec_part parts[] = { { "n1", 0, 3, first }, { "n2", 1, 2, second } };
static struct keel_exec exec = { 2, 2, parts };

static int32_t fake_exec_parse(struct keel_mod *mod, const char *text, struct keel_exec **ret,
			       struct keel_err *err)
{
	(void)mod;
	(void)err;
	if (text[0] != '(')
		return 15014;
	*ret = &exec;
	return 0;
}

static void fake_exec_free(struct keel_exec *e)
{
	(void)e;
}

static int32_t fake_value_text(const struct keel_res_value *v, bool in_kb, char *buf, uint32_t len)
{
	if (v->res->type == KEEL_RES_SIZE && in_kb)
		return snprintf(buf, len, "%.0fkb", v->n / 1024);
	return snprintf(buf, len, "%.0f", v->n);
}

static const struct keel_resource_api resource = { .exec_parse = fake_exec_parse,
	.exec_free = fake_exec_free, .value_text = fake_value_text };

/* A list: "k=v|k=v"; NULL: unset. */
static void list_set(const char *name, const char *text)
{
	char *copy = text != NULL ? strdup(text) : NULL, *save = NULL, *word;

	keel_mock_set(job, name, NULL, NULL);
	for (word = copy ? strtok_r(copy, "|", &save) : NULL; word; word = strtok_r(NULL, "|", &save)) {
		char *value = strchr(word, '=');

		*value++ = '\0';
		keel_mock_set(job, name, word, value);
	}
	free(copy);
}

static void job_set(const char *name, const char *text)
{
	if (strncmp(name, "Resource_List", 13) == 0 || strcmp(name, "resources_used") == 0)
		list_set(name, text);
	else
		keel_mock_set(job, name, NULL, text);
}

static void tear_down(void)
{
	if (mock != NULL)
		CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	mock = NULL;
}

/* An attribute that a module derives: it has a value while `derived` is set. */
static const char *derived;

static void derive_name(struct keel_mod *mod, struct keel_obj *obj, const struct keel_emit *emit)
{
	(void)mod, (void)obj;
	if (derived)
		emit->fn(emit->arg, NULL, derived, (uint32_t)strlen(derived));
}

static const struct keel_attr_def derived_name = KEEL_ATTR_DEF("job", "derived_name", "string", .read_roles = KEEL_EVERYBODY,
							      .derive = derive_name, .doc = "a test");

static void job_plain(void)
{
	static const char *const texts[] = { "euser", "egroup", "Account_Name", "project", "Job_Name",
		"queue", "depend", "exec_host", "exec_vnode", "eligible_time", "array_indices_submitted", "exec_host_orig",
		"exec_vnode_orig", "reserve_ID" };
	static const char *const numbers[] = { "ctime", "qtime", "etime", "stime", "session_id", "obittime",
		"Exit_status", "run_count", "phase_start" };

	tear_down();
	mock = mock_with_resources();
	keel_mock_epoch(mock, 1709283900);
	self = keel_mock_self(mock);
	for (uint32_t i = 0; i < KEEL_COUNT(texts); i++)
		keel_mock_attr(mock, "job", texts[i], "string");
	for (uint32_t i = 0; i < KEEL_COUNT(numbers); i++)
		keel_mock_attr(mock, "job", numbers[i], "long");
	keel_mock_attr_def(mock, &derived_name);
	derived = NULL;
	keel_mock_attr(mock, "job", "Resource_List", "resource_list");
	keel_mock_attr(mock, "job", "resources_used", "resource_list");
	keel_mock_attr(mock, "job", "Resource_List_orig", "resource_list");
	job = keel_mock_object(mock, "job", "12.svr");
	job_set("euser", "alice");
	job_set("egroup", "users");
	job_set("project", "_pbs_project_default");
	job_set("Job_Name", "myjob");
	job_set("queue", "workq");
	job_set("ctime", "100");
	job_set("qtime", "101");
	job_set("Resource_List", "ncpus=2|place=pack|select=1:ncpus=2");
}

static void job_begun(void)
{
	job_plain();
	job_set("etime", "102");
	job_set("stime", "103");
	job_set("exec_host", "n1/0*2+n2/0*3");
	job_set("exec_vnode", "(n1:gpus=1:ncpus=2:mem=1024kb)+(n2:ncpus=3:mem=1kb)");
}

/* As other modules have them, the last one first. */
#define ITEM(at, key, of, in) { .size = sizeof(struct keel_acct_item_def), .place = (at), .name = (key), .attr = (of), .letters = (in) }
static const struct keel_acct_item_def items[] = {
	ITEM(110, "eligible_time", "eligible_time", "ER"),
	ITEM(20, "array_indices", "array_indices_submitted", NULL),
	ITEM(10, "depend", "depend", "Q"),
	ITEM(-1, "resvID", "reserve_ID", NULL),
	ITEM(-2, "resvname", "derived_name", NULL),
};


static void expect(char letter, const char *wanted)
{
	struct state st = { .items = NULL };
	struct text t = { 0 };
	bool told;

	self->state = &st;
	keel_mock_use(mock, &keel_module);
	KEEL_USE_resource = &resource;
	for (uint32_t i = 0; i < KEEL_COUNT(items); i++)
		CU_ASSERT_EQUAL(item_kind.add(self, self, &items[i], NULL), 0);
	told = record_text(self, letter, job, &t);
	CU_ASSERT_EQUAL(told, wanted != NULL);
	if (told && wanted)
		CU_ASSERT_STRING_EQUAL(t.at ? t.at : "", wanted);
	if (told && wanted && strcmp(t.at, wanted) != 0)
		printf("\n%s\n%s\n", t.at, wanted);
	text_fini(&t);
	for (uint32_t i = 0; i < KEEL_COUNT(items); i++)
		item_kind.remove(self, self, &items[i]);
	CU_ASSERT_PTR_NULL(st.items);
}

#define PLAIN                                                                                      \
	"user=alice group=users project=_pbs_project_default jobname=myjob queue=workq ctime=100 " \
	"qtime=101 "
#define LIST "Resource_List.ncpus=2 Resource_List.place=pack Resource_List.select=1:ncpus=2"
#define WHERE                                                                                      \
	"exec_host=n1/0*2+n2/0*3 exec_vnode=(n1:gpus=1:ncpus=2:mem=1024kb)+(n2:ncpus=3:mem=1kb) "

static void test_queued(void)
{
	job_plain();
	expect('Q', PLAIN "etime=0 " LIST " ");
	job_set("etime", "102");
	job_set("depend", "afterok:1.svr");
	expect('Q', PLAIN "etime=102 depend=afterok:1.svr " LIST " ");
}

static void test_started(void)
{
	job_begun();
	expect('S', PLAIN "etime=102 start=103 " WHERE LIST
			  " resource_assigned.mem=1025kb resource_assigned.ncpus=5 "
			  "resource_assigned.gpus=1 ");
}

static void test_ended(void)
{
	job_begun();
	job_set("Exit_status", "265");
	job_set("run_count", "1");
	expect('E', PLAIN "etime=102 start=103 " WHERE LIST
			  " session=0 end=1709283900 Exit_status=265 run_count=1");
	job_set("session_id", "4711");
	job_set("obittime", "200");
	job_set("resources_used", "cput=00:00:01|walltime=00:00:02");
	job_set("eligible_time", "00:00:05");
	expect('E', PLAIN "etime=102 start=103 " WHERE LIST
			  " session=4711 end=200 Exit_status=265 resources_used.cput=00:00:01 "
			  "resources_used.walltime=00:00:02 eligible_time=00:00:05 run_count=1");
}

/* A job that shrinks: each phase has its own time, its end is that of the whole. */
static void test_shrunk(void)
{
	job_begun();
	job_set("run_count", "1");
	job_set("stime", "1709283830");
	expect('u', PLAIN "etime=102 start=1709283830 " WHERE LIST " session=0 run_count=1  resources_used.walltime=00:01:10");
	job_set("resources_used", "cput=00:00:01|walltime=00:00:09");
	expect('u', PLAIN "etime=102 start=1709283830 " WHERE LIST
			  " session=0 run_count=1  resources_used.cput=00:00:01 resources_used.walltime=00:01:10");
	expect('c', PLAIN "etime=102 start=1709283830 " WHERE LIST
			  " resource_assigned.mem=1025kb resource_assigned.ncpus=5 resource_assigned.gpus=1 ");
	expect('s', PLAIN "etime=102 start=1709283830 " WHERE LIST
			  " resource_assigned.mem=1025kb resource_assigned.ncpus=5 resource_assigned.gpus=1 ");
	job_set("phase_start", "1709283890");
	job_set("obittime", "1709283895");
	expect('e', PLAIN "etime=102 start=1709283830 " WHERE LIST
			  " session=0 run_count=1  resources_used.cput=00:00:01 resources_used.walltime=00:00:05");
	job_set("exec_vnode_orig", "(n1:ncpus=9)");
	job_set("exec_host_orig", "n1/0*9");
	job_set("Resource_List_orig", "ncpus=9");
	job_set("Exit_status", "0");
	expect('E', PLAIN "etime=102 start=1709283830 exec_host=n1/0*9 exec_vnode=(n1:ncpus=9) Resource_List.ncpus=9 session=0 "
			  "end=1709283895 Exit_status=0 resources_used.cput=00:00:01 resources_used.walltime=00:00:09 run_count=1");
	expect('R', PLAIN "etime=102 start=1709283830 " WHERE LIST
			  " session=0 end=1709283895 Exit_status=0 resources_used.cput=00:00:01 "
			  "resources_used.walltime=00:00:09 run_count=1");
}

static void test_suspended(void)
{
	job_begun();
	expect('z', NULL); /* nothing used, nothing released: no record */
	job_set("resources_used", "cput=00:00:01|ncpus=2");
	expect('z', "resources_used.cput=00:00:01 resources_used.ncpus=2");
	keel_mock_tap(mock, KEEL_POINT_acct_record, "record", 0, tap_record, NULL);
	expect('z', "resources_used.cput=00:00:01 resources_used.ncpus=2 extra_z=1");
	job_set("resources_used", NULL);
	expect('z', "extra_z=1");
}

static void test_quotes(void)
{
	job_plain();
	job_set("Account_Name", "acme");
	job_set("Job_Name", "my job");
	job_set("project", "the \"big\" one");
	job_set("Resource_List", "site=a\nb");
	expect('Q', "user=alice group=users account=\"acme\" project='the \"big\" one' "
		    "jobname=\"my job\" queue=workq ctime=100 qtime=101 etime=0 "
		    "Resource_List.site=\"a b\" ");
}

/* mend B9: what users write never becomes an item of its own. */
static void test_no_item_is_forged(void)
{
	job_plain();
	job_set("Account_Name", "a' user=root x=\"b");
	job_set("Job_Name", "a\001user=root");
	job_set("project", "'x");
	job_set("Resource_List", "site=a\302\233user=root");
	expect('Q', "user=alice group=users account=\"a' user=root x='b\" project=\"'x\" "
		    "jobname=\"a user=root\" queue=workq ctime=100 qtime=101 etime=0 "
		    "Resource_List.site=\"a  user=root\" ");
}

static void test_broken_exec_vnode(void)
{
	job_begun();
	job_set("exec_vnode", "n1");
	expect('S', PLAIN "etime=102 start=103 exec_host=n1/0*2+n2/0*3 exec_vnode=n1 " LIST " ");
}

static keel_verdict tap_long(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)point, (void)event;
	keel_append(c, arg);
	return KEEL_NEXT;
}

/* What taps append is there whole, however long. */
static void test_long_items(void)
{
	static char item[200001], wanted[200100];

	memset(item, 'x', sizeof(item) - 1);
	for (int drop = 0; drop < 3; drop++) {
		job_begun();
		item[drop ? 65537 - drop : 200000] = '\0';
		snprintf(wanted, sizeof(wanted), "resources_used.ncpus=2 %s", item);
		job_set("resources_used", "ncpus=2");
		keel_mock_tap(mock, KEEL_POINT_acct_record, "record", 0, tap_long, item);
		expect('z', wanted);
	}
}

/* Items below 0 stand behind queue=, also those that a module derives, however long. */
static void test_behind_the_queue(void)
{
#define TO_QUEUE "user=alice group=users project=_pbs_project_default jobname=myjob queue=workq "
	static char name[1001], wanted[2000];

	job_plain();
	job_set("reserve_ID", "R9.svr");
	expect('Q', TO_QUEUE "resvID=R9.svr ctime=100 qtime=101 etime=0 " LIST " ");
	derived = "my resv";
	expect('Q', TO_QUEUE "resvname=\"my resv\" resvID=R9.svr ctime=100 qtime=101 etime=0 " LIST " ");
	memset(name, 'x', sizeof(name) - 1);
	derived = name;
	snprintf(wanted, sizeof(wanted), TO_QUEUE "resvname=%s resvID=R9.svr ctime=100 qtime=101 etime=0 " LIST " ", name);
	expect('Q', wanted);
	job_begun();
	job_set("reserve_ID", "R9.svr");
	derived = "night";
	expect('S', TO_QUEUE "resvname=night resvID=R9.svr ctime=100 qtime=101 etime=102 start=103 " WHERE LIST
			     " resource_assigned.mem=1025kb resource_assigned.ncpus=5 resource_assigned.gpus=1 ");
}

TESTS_MAIN_BETWEEN("record", NULL, tear_down, TEST(test_behind_the_queue), TEST(test_long_items), TEST(test_queued), TEST(test_started), TEST(test_ended),
		   TEST(test_suspended), TEST(test_shrunk), TEST(test_quotes), TEST(test_no_item_is_forged), TEST(test_broken_exec_vnode))
