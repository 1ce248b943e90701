/* SPDX-License-Identifier: Apache-2.0
 *
 * test_record.c - texts of records, from a job that is a table.
 */
#include "accounting.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct keel_attr {
	const char *name, *text;     /* text: string, number, or "k=v k=v" of a list */
};
struct keel_obj {
	struct keel_attr rows[32];
	uint32_t n;
};

static struct keel_obj job;

static const struct keel_attr *fake_attr(struct keel_mod *mod, const char *klass, const char *name)
{
	uint32_t i;

	(void)mod;
	if (strcmp(klass, "job") != 0)
		return NULL;
	for (i = 0; i < job.n; i++)
		if (strcmp(job.rows[i].name, name) == 0)
			return &job.rows[i];
	return NULL;
}

static const char *fake_id(const struct keel_obj *obj)
{
	(void)obj;
	return "12.svr";
}

static bool fake_is_set(const struct keel_obj *obj, const struct keel_attr *attr)
{
	(void)obj;
	return attr->text != NULL;
}

static int64_t fake_int(const struct keel_obj *obj, const struct keel_attr *attr)
{
	(void)obj;
	return attr->text ? strtoll(attr->text, NULL, 10) : 0;
}

static const char *fake_str(const struct keel_obj *obj, const struct keel_attr *attr)
{
	(void)obj;
	return attr->text;
}

static int32_t fake_text(struct keel_obj *obj, const struct keel_attr *attr, const char *key,
			 char *buf, uint32_t len)
{
	(void)obj;
	(void)key;
	return attr->text ? snprintf(buf, len, "%s", attr->text) : -1;
}

static void fake_emit(struct keel_obj *obj, const struct keel_attr *attr, const char *key,
		      const struct keel_emit *emit)
{
	char *copy = strdup(attr->text), *save = NULL, *word, *value;

	(void)obj;
	(void)key;
	for (word = strtok_r(copy, "|", &save); word; word = strtok_r(NULL, "|", &save)) {
		value = strchr(word, '=');
		*value++ = '\0';
		emit->fn(emit->arg, word, value, (uint32_t)strlen(value));
	}
	free(copy);
}

static bool someone_taps;
static bool fake_tapped(struct keel_mod *mod, uint32_t point)
{
	(void)mod;
	return someone_taps && point == KEEL_POINT_acct_record;
}

static int64_t fake_fold(struct keel_mod *mod, uint32_t point, const void *event, char *buf,
			 uint32_t len)
{
	const struct keel_ev_acct_record *ev = event;

	(void)mod;
	(void)point;
	snprintf(buf, len, "extra_%s=1", ev->letter);
	return 0;
}

static int64_t fake_time(struct keel_mod *mod)
{
	(void)mod;
	return 1709283900;
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

static const struct keel_object_api object = { .attr = fake_attr, .id = fake_id,
	.is_set = fake_is_set, .get_int = fake_int, .get_str = fake_str, .text = fake_text,
	.emit = fake_emit };
static const struct keel_hook_api hook = { .tapped = fake_tapped, .fold = fake_fold };
static const struct keel_core_api core = { .time = fake_time };
static const struct keel_resource_api resource = { .exec_parse = fake_exec_parse,
	.exec_free = fake_exec_free, .value_text = fake_value_text };

static void job_set(const char *name, const char *text)
{
	struct keel_attr *row = (struct keel_attr *)fake_attr(NULL, "job", name);

	if (!row)
		row = &job.rows[job.n++];
	row->name = name;
	row->text = text;
}

static void job_plain(void)
{
	static const char *const all[] = { "euser", "egroup", "Account_Name", "project", "Job_Name",
		"queue", "ctime", "qtime", "etime", "stime", "depend", "exec_host", "exec_vnode",
		"Resource_List", "resources_used", "session_id", "obittime", "Exit_status",
		"eligible_time", "run_count" };
	uint32_t i;

	job.n = 0;
	someone_taps = false;
	for (i = 0; i < KEEL_COUNT(all); i++)
		job_set(all[i], NULL);
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

static void expect(char letter, const char *wanted)
{
	struct state st = { .core = &core, .object = &object, .hook = &hook, .resource = &resource };
	struct keel_mod mod = { .state = &st, .name = "accounting" };
	struct text t = { 0 };
	bool told = record_text(&mod, letter, &job, &t);

	CU_ASSERT_EQUAL(told, wanted != NULL);
	if (told && wanted)
		CU_ASSERT_STRING_EQUAL(t.at ? t.at : "", wanted);
	if (told && wanted && strcmp(t.at, wanted) != 0)
		printf("\n%s\n%s\n", t.at, wanted);
	text_fini(&t);
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

static void test_suspended(void)
{
	job_begun();
	expect('z', NULL); /* nothing used, nothing released: no record */
	job_set("resources_used", "cput=00:00:01|ncpus=2");
	expect('z', "resources_used.cput=00:00:01 resources_used.ncpus=2");
	someone_taps = true;
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

static void test_broken_exec_vnode(void)
{
	job_begun();
	job_set("exec_vnode", "n1");
	expect('S', PLAIN "etime=102 start=103 exec_host=n1/0*2+n2/0*3 exec_vnode=n1 " LIST " ");
}

int main(void)
{
	CU_pSuite s;
	unsigned failed;

	CU_initialize_registry();
	s = CU_add_suite("record", NULL, NULL);
	CU_add_test(s, "queued", test_queued);
	CU_add_test(s, "started", test_started);
	CU_add_test(s, "ended", test_ended);
	CU_add_test(s, "suspended", test_suspended);
	CU_add_test(s, "quotes", test_quotes);
	CU_add_test(s, "broken exec_vnode", test_broken_exec_vnode);
	CU_basic_run_tests();
	failed = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failed ? 1 : 0;
}
