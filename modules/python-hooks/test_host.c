/* SPDX-License-Identifier: Apache-2.0
 *
 * test_host.c - what the server sends of a job, and what it takes from a host: both halves in one daemon.
 */
#include "host.h"

#include <sys/stat.h>

#include "harness.h"
#include "keel/file.h"
#include "keel/mock.h"
#include "keel/service/node.h"
#include "keel/service/part.h"
#include "keel/service/supervise.h"

#define HERE "mockhost"

extern const struct keel_module keel_module;
static struct keel_mock *mock;
static struct keel_mod *ours;
static struct state *st;
static struct hook *hook;
static struct keel_obj *job, *own, *other;
static char *dir;

/* h...: vnodes of this host. */
static const char *host_of(struct keel_mod *mod, const char *vnode)
{
	(void)mod;
	return vnode[0] == 'h' ? HERE : vnode[0] == 'x' ? "elsewhere" : NULL;
}
static uint32_t bits;
static void set_state(struct keel_mod *mod, struct keel_obj *vnode, uint32_t which, bool on)
{
	(void)mod, (void)vnode;
	bits = on ? bits | which : bits & ~which;
}
static uint32_t state_of(struct keel_mod *mod, struct keel_obj *vnode)
{
	(void)mod, (void)vnode;
	return bits;
}
static const struct keel_node_api node = { .size = sizeof(node), .host_of = host_of, .set_state = set_state, .state = state_of };

static struct keel_part_events heard;
static int32_t on_listen(struct keel_mod *mod, struct keel_mod *me, const struct keel_part_events *are)
{
	(void)mod, (void)me;
	heard = are ? *are : (struct keel_part_events){ 0 };
	return 0;
}
static const struct keel_part *find(struct keel_mod *mod, const char *id)
{
	(void)mod, (void)id;
	return NULL;
}
static const struct keel_part_api part = { .size = sizeof(part), .listen = on_listen, .find = find };
static const struct keel_supervise_api supervise = { .size = sizeof(supervise) };
static const struct keel_attr_def priority =
	KEEL_ATTR_DEF("job", "Priority", "long", .flags = KEEL_ATTR_SAVE | KEEL_ATTR_FLAG1, .read_roles = KEEL_EVERYBODY,
		      .write_roles = KEEL_EVERYBODY, .doc = "a test");

static void begin(void)
{
	static const char *const texts[] = { "exec_vnode", "exec_host", "euser", "Job_Name", "Variable_List" };
	struct keel_err err = { .text = "" };
	char path[4096];

	dir = scratch_new();
	snprintf(path, sizeof(path), "%s/mom_priv", dir);
	mkdir(path, 0755);
	bits = 0;
	mock = keel_mock_new(KEEL_SERVER | KEEL_MOM);
	keel_mock_home(mock, dir);
	keel_mock_loopback(mock, true);
	for (size_t i = 0; i < KEEL_COUNT(texts); i++)
		keel_mock_attr(mock, "job", texts[i], "string");
	keel_mock_attr(mock, "job", "run_version", "long");
	keel_mock_attr(mock, "node", "comment", "string");
	keel_mock_attr_def(mock, &priority);
	keel_mock_service(mock, "node", &node);
	keel_mock_service(mock, "part", &part);
	keel_mock_service(mock, "supervise", &supervise);
	ours = keel_mock_load(mock, &keel_module, NULL, &err);
	if (!ours)
		fprintf(stderr, "%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ours);
	st = ours->state;
	hook = hook_new(st, "h1");
	CU_ASSERT_PTR_NOT_NULL_FATAL(hook);
	hook_set(hook, "event", KEEL_SET, "execjob_begin", NULL);
	job = keel_mock_object(mock, "job", "1.svr");
	keel_mock_set(job, "run_version", NULL, "2");
	keel_mock_set(job, "Job_Name", NULL, "one");
	own = keel_mock_object(mock, "node", "h1");
	other = keel_mock_object(mock, "node", "x1");
}

static void end(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(dir);
	free(dir);
}

static void starts(const char *exec_vnode)
{
	keel_mock_raise(mock, KEEL_POINT_start_now,
			KEEL_EVENT(start_now, .id = "1.svr", .job = job, .exec_vnode = exec_vnode, .who = "test"), NULL);
	keel_mock_set(job, "run_version", NULL, "3");
	keel_mock_advance(mock, 0);
}

/* The result of a script about run 3 of 1.svr, accepted. */
static void result(struct change *changes, uint32_t n)
{
	struct run r = { .st = st, .hook = hook, .name = "h1", .event = &events[EVENT_execjob_begin], .id = "1.svr" };
	struct result all = { .how = ACCEPTED, .changes = changes, .n_changes = n };

	r.numbers[NUMBER_RUN] = 3;
	host_changed(st, &r, &all);
	host_update(&r, &all);
	keel_mock_advance(mock, 0);
}

static void one(const char *target, const char *attr, const char *text)
{
	result(&(struct change){ .target = (char *)target, .attr = (char *)attr, .text = (char *)text }, 1);
}

static void a_host_knows_a_job_before_it_starts(void)
{
	const struct known *k;

	begin();
	starts("(h1:ncpus=1)+(x1:ncpus=2)");
	k = host_known(st, "1.svr");
	CU_ASSERT_PTR_NOT_NULL_FATAL(k);
	CU_ASSERT_EQUAL(k->run, 3);
	CU_ASSERT_STRING_EQUAL(known_get(&k->job, "Job_Name", NULL), "one");
	CU_ASSERT_STRING_EQUAL(known_get(&k->job, "exec_vnode", NULL), "(h1:ncpus=1)+(x1:ncpus=2)");
	CU_ASSERT_PTR_NOT_NULL(known_vnode(k, "x1", false));
	heard.gone(ours, "1.svr", 2, true); /* of an earlier run */
	CU_ASSERT_PTR_NOT_NULL(host_known(st, "1.svr"));
	heard.gone(ours, "1.svr", 3, false);
	CU_ASSERT_PTR_NULL(host_known(st, "1.svr"));
	end();
}

static void without_a_hook_of_hosts_nothing_is_sent(void)
{
	begin();
	hook_set(hook, "event", KEEL_SET, "queuejob", NULL);
	starts("(h1:ncpus=1)");
	CU_ASSERT_PTR_NULL(host_known(st, "1.svr"));
	end();
}

/* past modules/python-hooks/known.h KNOWN_MAX */
static void a_job_of_many_pieces(void)
{
	static const size_t sizes[] = { 1000000, 17000000 };

	for (size_t i = 0; i < KEEL_COUNT(sizes); i++) {
		char *text = calloc(1, sizes[i] + 1);

		begin();
		memset(text, 'x', sizes[i]);
		keel_mock_set(job, "Variable_List", NULL, text);
		starts("(h1:ncpus=1)");
		CU_ASSERT_EQUAL(host_known(st, "1.svr") != NULL, sizes[i] < KNOWN_MAX);
		free(text);
		end();
	}
}

static void a_host_speaks_of_its_own(void)
{
	begin();
	starts("(h1:ncpus=1)");
	one("job", "Priority", "7");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "Priority", NULL), "7");
	one("job", "Job_Name", "two"); /* which may not change while it runs */
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "Job_Name", NULL), "one");
	one("job", "Priority", "a\033b");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "Priority", NULL), "7");
	one("vnode:h1", "comment", "mine");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(own, "comment", NULL), "mine");
	one("vnode:x1", "comment", "mine");
	CU_ASSERT_PTR_NULL(keel_mock_text(other, "comment", NULL));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Not allowed to update vnode 'x1', as it is owned by a different mom"));
	CU_ASSERT_PTR_NULL(st->host->reports); /* all are noted */
	end();
}

static void a_host_does_not_speak_of_others(void)
{
	begin();
	starts("(x1:ncpus=1)");
	one("job", "Priority", "7");
	CU_ASSERT_PTR_NULL(keel_mock_text(job, "Priority", NULL));
	one("job:1.svr", "Priority", "7");
	CU_ASSERT_PTR_NULL(keel_mock_text(job, "Priority", NULL));
	starts("(h1:ncpus=1)");
	keel_mock_set(job, "run_version", NULL, "4"); /* a later run has begun */
	one("job", "Priority", "7");
	CU_ASSERT_PTR_NULL(keel_mock_text(job, "Priority", NULL));
	end();
}

static void an_owner_speaks_of_one_job(void)
{
	struct keel_obj *second;

	begin();
	second = keel_mock_object(mock, "job", "2.svr");
	keel_mock_set(second, "run_version", NULL, "3");
	starts("(h1:ncpus=1)");
	keel_mock_raise(mock, KEEL_POINT_start_now,
			KEEL_EVENT(start_now, .id = "2.svr", .job = second, .exec_vnode = "(h1:ncpus=1)", .who = "test"), NULL);
	keel_mock_set(second, "run_version", NULL, "4");
	one("job:2.svr", "Priority", "6"); /* of an administrator's */
	CU_ASSERT_STRING_EQUAL(keel_mock_text(second, "Priority", NULL), "6");
	hook_set(hook, "event", KEEL_SET, "execjob_prologue", NULL);
	CU_ASSERT_EQUAL(hook_set(hook, "user", KEEL_SET, "pbsuser", NULL), 0);
	one("job:2.svr", "Priority", "7");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(second, "Priority", NULL), "6");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "may not change a job that is not its own"));
	one("job", "Priority", "7");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "Priority", NULL), "7");
	end();
}

static void a_host_without_hooks_changes_nothing(void)
{
	begin();
	starts("(h1:ncpus=1)");
	hook_set(hook, "event", KEEL_SET, "queuejob", NULL);
	one("job", "Priority", "7");
	one("vnode:h1", "comment", "mine");
	CU_ASSERT_PTR_NULL(keel_mock_text(job, "Priority", NULL));
	CU_ASSERT_PTR_NULL(keel_mock_text(own, "comment", NULL));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "no script of a host has this event"));
	CU_ASSERT_PTR_NULL(st->host->reports); /* they would be said again and again */
	end();
}

/* In their order, over some turns. */
static void many_changes(void)
{
	struct change *changes = calloc(1000, sizeof(*changes));
	static char target[] = "job", attr[] = "Priority", last[] = "999", others[] = "1";

	begin();
	starts("(h1:ncpus=1)");
	for (int i = 0; i < 1000; i++)
		changes[i] = (struct change){ .target = target, .attr = attr, .text = i == 999 ? last : others };
	result(changes, 1000);
	one("vnode:h1", "comment", "behind it");
	for (int i = 0; i < 20; i++)
		keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "Priority", NULL), "999");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(own, "comment", NULL), "behind it");
	CU_ASSERT_PTR_NULL(st->host->reports);
	/* The daemon ends in the middle of it. */
	result(changes, 1000);
	free(changes);
	end();
}

static void an_owner_changes_no_vnodes(void)
{
	begin();
	hook_set(hook, "event", KEEL_SET, "execjob_prologue", NULL);
	CU_ASSERT_EQUAL(hook_set(hook, "user", KEEL_SET, "pbsuser", NULL), 0);
	keel_mock_set(job, "euser", NULL, "u1");
	starts("(h1:ncpus=1)");
	one("vnode:h1", "comment", "mine");
	CU_ASSERT_PTR_NULL(keel_mock_text(own, "comment", NULL));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "if run as a non-manager/operator user u1@" HERE));
	end();
}

static void an_error_sets_a_host_offline(void)
{
	begin();
	hook_set(hook, "fail_action", KEEL_SET, "offline_vnodes", NULL);
	host_offline(st, "h1", true);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(bits, KEEL_NODE_OFFLINE);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(own, "comment", NULL), "offlined by hook 'h1' due to hook error");
	CU_ASSERT_PTR_NULL(keel_mock_text(other, "comment", NULL));
	end();
}

/* past modules/python-hooks/report.c REPORTS_MAX */
/* past modules/python-hooks/report.c BYTES_MAX */
static void reports_have_bounds(void)
{
	char *text = calloc(1, 5000000);

	begin();
	starts("(h1:ncpus=1)");
	memset(text, 'x', 4999999);
	one("job", "Priority", text);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "its changes are more than can be sent to the server"));
	keel_mock_loopback(mock, false); /* the server does not answer */
	text[4000000] = '\0';
	for (int i = 0; i < 4; i++)
		one("job", "Priority", text);
	CU_ASSERT_PTR_NULL(keel_mock_logged(mock, "is dropped: the server is away"));
	one("job", "Priority", text);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "is dropped: the server is away"));
	free(text);
	for (int i = 0; i < 4097; i++)
		one("job", "Priority", "1");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "is dropped: the server is away"));
	end();
}

TESTS_MAIN("host", TEST(a_host_knows_a_job_before_it_starts), TEST(without_a_hook_of_hosts_nothing_is_sent), TEST(a_job_of_many_pieces),
	   TEST(a_host_speaks_of_its_own), TEST(a_host_does_not_speak_of_others), TEST(an_owner_changes_no_vnodes),
	   TEST(an_owner_speaks_of_one_job), TEST(a_host_without_hooks_changes_nothing), TEST(many_changes),
	   TEST(an_error_sets_a_host_offline), TEST(reports_have_bounds))
