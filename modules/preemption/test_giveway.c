/* SPDX-License-Identifier: Apache-2.0
 *
 * test_giveway.c - jobs on their way to give way, in the mock with the real module resources: what happens to
 * them, or to the job they give way for, while they do.
 */
#include "preemption.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "harness.h"
#include "keel/mock.h"
#include "keel/sched_reason.h"
#include "with_resources.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_module alone; /* with resources and no other module */
static struct keel_mod *module, *vendor_mod;
static struct keel_obj *high;
static struct keel_mock_outcome out;
static struct keel_mock_reply reply;

/* ---- jobs ---------------------------------------------------------------------------------------------- */

/* The steps of jobs that were called, in order; the callbacks that wait, the oldest first. */
static char asked[200];
static struct {
	struct keel_mod *me;
	keel_job_done *done;
	void *arg;
} askers[16];
static uint32_t n_askers;

static void note(const char *verb, struct keel_mod *me, keel_job_done *done, void *arg)
{
	snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "%s%s", *asked ? " " : "", verb);
	if (!done)
		return;
	CU_ASSERT_FATAL(n_askers < KEEL_COUNT(askers));
	askers[n_askers].me = me;
	askers[n_askers].done = done;
	askers[n_askers++].arg = arg;
}

static void answer(int32_t code)
{
	keel_job_done *done = askers[0].done;
	struct keel_mod *me = askers[0].me;
	void *arg = askers[0].arg;

	memmove(&askers[0], &askers[1], --n_askers * sizeof(askers[0]));
	done(me, arg, code, NULL);
	keel_mock_advance(mock, 0);
}

#define REQUEST(verb)                                                                              \
	static void request_##verb(struct keel_mod *m, struct keel_obj *job, const char *who,      \
				   struct keel_mod *me, keel_job_done *done, void *arg)            \
	{                                                                                          \
		(void)m, (void)job, (void)who;                                                     \
		note(#verb, me, done, arg);                                                        \
	}
REQUEST(suspend)
REQUEST(rerun)
REQUEST(may_run)

static char state_of(struct keel_mod *m, struct keel_obj *job)
{
	const char *letter = keel_mock_text(job, "letter", NULL);

	(void)m;
	return letter ? *letter : 'R';
}

static bool is_suspended(struct keel_mod *m, struct keel_obj *job)
{
	(void)m, (void)job;
	return false;
}

static uint32_t waiting(struct keel_mod *m, struct keel_obj *job)
{
	return state_of(m, job) == 'Q';
}

static char letter_of(struct keel_mod *m, const char *operand)
{
	(void)m, (void)operand;
	return '\0';
}

static int32_t release_names(struct keel_mod *m, struct keel_obj *job, char *buf, uint32_t len)
{
	(void)m, (void)job, (void)buf, (void)len;
	return -ENODATA;
}

static const struct keel_job_api jobs = {
	.size = sizeof(jobs),
	.state = state_of,
	.is_suspended = is_suspended,
	.waiting = waiting,
	.letter = letter_of,
	.release_names = release_names,
	.request_suspend = request_suspend,
	.request_rerun = request_rerun,
	.may_run = request_may_run,
};

/* ---- the scheduler: a job fits when `needed` others are gone ----------------------------------------------- */

static uint32_t needed, gone, trials;
static bool slow; /* a turn has time for one of them */
static void (*meanwhile)(struct keel_mod *, void *); /* happens after a few turns */

static void take_time(void)
{
	const struct timespec t = { .tv_nsec = (TURN_US + 200) * 1000L };

	if (slow)
		nanosleep(&t, NULL);
	if (gone == 4 && meanwhile) {
		keel_timer(vendor_mod, 0, meanwhile, NULL);
		meanwhile = NULL;
	}
}

static struct keel_trial *trial(struct keel_mod *m, struct keel_obj *job)
{
	(void)m, (void)job;
	gone = 0;
	trials++;
	return (struct keel_trial *)&gone;
}

static int32_t trial_vacate(struct keel_trial *t, struct keel_obj *running, const char *only)
{
	(void)t, (void)running, (void)only;
	take_time();
	gone++;
	return 0;
}

static void trial_restore(struct keel_trial *t, struct keel_obj *running)
{
	(void)t, (void)running;
	take_time();
	gone--;
}

static bool trial_fits(struct keel_trial *t, struct keel_sched_reason *why)
{
	(void)t, (void)why;
	return gone >= needed;
}

static int32_t trial_keep(struct keel_trial *t)
{
	(void)t;
	return 0;
}
static void trial_free(struct keel_trial *t)
{
	(void)t;
}

static int32_t setting(struct keel_mod *m, const char *name, char *buf, uint32_t len)
{
	(void)m, (void)name, (void)buf, (void)len;
	return -ENOENT;
}

static const struct keel_sched_api scheduler = {
	.size = sizeof(scheduler),
	.trial = trial,
	.trial_vacate = trial_vacate,
	.trial_restore = trial_restore,
	.trial_fits = trial_fits,
	.trial_free = trial_free,
	.trial_keep = trial_keep,
	.setting = setting,
};

static uint32_t node_state(struct keel_mod *m, struct keel_obj *node)
{
	(void)m, (void)node;
	return 0;
}
static bool node_linked(struct keel_mod *mod, struct keel_obj *node)
{
	(void)mod, (void)node;
	return true;
}
static const struct keel_node_api nodes = { .size = sizeof(nodes), .state = node_state, .linked = node_linked };

static char deleted[400]; /* ids */

/* Methods of a module: D does it, L never can, W takes its time. */
static bool always(struct keel_mod *owner, struct keel_obj *job)
{
	(void)owner, (void)job;
	return true;
}

static keel_verdict delete_it(struct keel_mod *owner, struct keel_call *c, struct keel_obj *job, const char *who)
{
	(void)owner, (void)c, (void)who;
	note("delete", NULL, NULL, NULL);
	snprintf(deleted + strlen(deleted), sizeof(deleted) - strlen(deleted), " %s", keel_id(job));
	keel_mock_set(job, "letter", NULL, "F");
	needed--;
	return KEEL_DONE;
}

static keel_verdict refuse_it(struct keel_mod *owner, struct keel_call *c, struct keel_obj *job, const char *who)
{
	(void)owner, (void)job, (void)who;
	note("leave", NULL, NULL, NULL);
	return keel_reject(c, PBSE_NOSUP, NULL);
}

static keel_verdict went(struct keel_call *c, void *arg)
{
	(void)c, (void)arg;
	return KEEL_DONE;
}

static keel_verdict wait_for_it(struct keel_mod *owner, struct keel_call *c, struct keel_obj *job, const char *who)
{
	(void)owner, (void)job, (void)who;
	return keel_hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .why = "it takes its time",
						      .timeout_ms = 60000, .resume = went }, NULL);
}

#define VENDOR_ROW(its_letter, its_name, its_start, ...)                                           \
	{                                                                                          \
		.size = sizeof(struct keel_preempt_def), .letter = its_letter, .outcome = its_letter, \
		.name = its_name, .words = its_name, .doc = its_name, .applies = always,           \
		.start = its_start, __VA_ARGS__                                                    \
	}
static const struct keel_preempt_def delete_row = VENDOR_ROW("D", "delete", delete_it);
static const struct keel_preempt_def leave_row = VENDOR_ROW("L", "leave", refuse_it);
static const struct keel_preempt_def wait_row = VENDOR_ROW("W", "wait", wait_for_it);
static const struct keel_contrib vendor_rows[] = { KEEL_ROW(PREEMPT, delete_row), KEEL_ROW(PREEMPT, leave_row),
						   KEEL_ROW(PREEMPT, wait_row) };
static const struct keel_module vendor = {
	.magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .abi_minor = KEEL_SDK_TARGET,
	.size = sizeof(struct keel_module), .name = "vendor", .version = "1", .summary = "D", .vendor = "Test",
	.roles = KEEL_SERVER, KEEL_CONTRIBS(vendor_rows),
};

/* ---- a day ------------------------------------------------------------------------------------------------- */

static struct keel_obj *running(const char *id)
{
	struct keel_obj *job = keel_mock_object(mock, "job", id);

	keel_mock_set(job, "queue", NULL, "workq");
	keel_mock_set(job, "exec_vnode", NULL, "(n1:ncpus=1)");
	keel_mock_raise(mock, KEEL_POINT_job_placed, KEEL_EVENT(job_placed, .id = id, .job = job), NULL);
	return job;
}

static void begin(const char *order)
{
	static const struct {
		const char *klass, *name, *type;
	} attrs[] = {
		{ "job", "letter", "string" },	    { "job", "queue", "string" },
		{ "job", "Resource_List", "resource_list" }, { "job", "resources_used", "resource_list" },
		{ "job", "stime", "long" },	    { "job", "Checkpoint", "string" },
		{ "job", "euser", "string" },	    { "job", "egroup", "string" },
		{ "job", "project", "string" },	    { "job", "Account_Name", "string" },
		{ "job", "exec_vnode", "string" },  { "job", "schedselect", "string" },
		{ "queue", "Priority", "long" },    { "queue", "kill_delay", "long" },
		{ "queue", "resources_default", "resource_list" },
		{ "server", "resources_default", "resource_list" },
		{ "sched", "scheduling", "bool" },
	};
	struct keel_err err = { 0 };
	struct keel_obj *sched;
	size_t i;

	mock = mock_with_resources();
	keel_mock_service(mock, "job", &jobs);
	keel_mock_service(mock, "sched", &scheduler);
	keel_mock_service(mock, "node", &nodes);
	for (i = 0; i < KEEL_COUNT(attrs); i++)
		keel_mock_attr(mock, attrs[i].klass, attrs[i].name, attrs[i].type);
	sched = keel_mock_object(mock, "sched", "default");
	keel_mock_set(keel_mock_object(mock, "queue", "workq"), "Priority", NULL, "0");
	keel_mock_set(keel_mock_object(mock, "queue", "express"), "Priority", NULL, "200");
	keel_mock_object(mock, "node", "n1");
	alone = keel_module;
	alone.requires_modules = NULL;
	module = keel_mock_load(mock, &alone, "scheduler_users = [ \"maui\" ];", &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	CU_ASSERT_PTR_NOT_NULL_FATAL(vendor_mod = keel_mock_load(mock, &vendor, NULL, &err));
	CU_ASSERT_EQUAL(keel_mock_set(sched, "preempt_order", NULL, order), 0);
	high = keel_mock_object(mock, "job", "9.svr");
	keel_mock_set(high, "queue", NULL, "express");
	keel_mock_set(high, "letter", NULL, "Q");
	*asked = *deleted = '\0';
	needed = 1;
	slow = false;
	meanwhile = NULL;
}

static void end(void)
{
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 0);
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

/* A scheduler of the site's own asks. */
static void site_asks(const char *ids)
{
	char body[100];

	snprintf(body, sizeof(body), "ids = [ %s ];", ids);
	reply.told = false;
	keel_mock_request(mock, keel_mock_session(mock, "maui", KEEL_USER), "preempt_jobs", body, &reply);
	keel_mock_advance(mock, 0);
}

/* Whether it takes a turn or more depends on how busy the machine is. */
static keel_verdict cannot_start(int32_t code)
{
	keel_mock_raise(mock, KEEL_POINT_preempt_victims,
			KEEL_EVENT(preempt_victims, .id = "9.svr", .job = high, .code = code, .reason = "full",
				   .what = ""), &out);
	keel_mock_advance(mock, 0);
	return out.told ? out.verdict : KEEL_WAIT;
}

static keel_verdict nobody_fits(void)
{
	return cannot_start(KEEL_WHY_FEW_FREE);
}

/* ---- the victim ---------------------------------------------------------------------------------------------- */

/* Requeued by force, or its host was lost, while it was being suspended: it is not deleted from the queue. */
static void test_requeued_meanwhile(void)
{
	struct keel_obj *job;

	begin("SD");
	job = running("1.svr");
	site_asks("\"1.svr\"");
	CU_ASSERT_STRING_EQUAL(asked, "suspend");
	keel_mock_set(job, "letter", NULL, "Q");
	answer(PBSE_UNKJOBID);
	CU_ASSERT_STRING_EQUAL(asked, "suspend");
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"jobs\": [[\"1.svr\", \"Q\"]]}");
	end();
}

/* Over by itself, and in the history: gone. */
static void test_over_meanwhile(void)
{
	struct keel_obj *job;

	begin("SD");
	job = running("1.svr");
	site_asks("\"1.svr\"");
	keel_mock_set(job, "letter", NULL, "F");
	answer(PBSE_UNKJOBID);
	CU_ASSERT_STRING_EQUAL(asked, "suspend");
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"jobs\": [[\"1.svr\", \"D\"]]}");
	end();
}

static void test_next_letter(void)
{
	begin("SD");
	running("1.svr");
	site_asks("\"1.svr\"");
	answer(PBSE_BADSTATE);
	CU_ASSERT_STRING_EQUAL(asked, "suspend delete");
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"jobs\": [[\"1.svr\", \"D\"]]}");
	end();
}

/* Named twice, or by two requests: what is under way is not tried with the next letter. */
static void test_named_twice(void)
{
	begin("SD");
	running("1.svr");
	site_asks("\"1.svr\", \"1.svr\"");
	CU_ASSERT_STRING_EQUAL(asked, "suspend");
	answer(0);
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"jobs\": [[\"1.svr\", \"000\"], [\"1.svr\", \"S\"]]}");
	end();
}

/* ---- the job they give way for ------------------------------------------------------------------------------- */

/* Deleted, held or started while may_run() was under way: no victim gives way any more. */
static void test_no_longer_wanted(void)
{
	static const char *const over[] = { "F", "H", "R" };
	size_t i;

	for (i = 0; i < KEEL_COUNT(over); i++) {
		begin("D");
		running("1.svr");
		CU_ASSERT_EQUAL(nobody_fits(), KEEL_WAIT);
		CU_ASSERT_STRING_EQUAL(asked, "may_run");
		keel_mock_set(high, "letter", NULL, over[i]);
		answer(0);
		CU_ASSERT_STRING_EQUAL(asked, "may_run");
		CU_ASSERT_EQUAL(out.verdict, KEEL_NEXT);
		end();
	}
}

static void test_gives_way(void)
{
	begin("D");
	running("1.svr");
	running("2.svr");
	CU_ASSERT_EQUAL(nobody_fits(), KEEL_WAIT);
	answer(0);
	CU_ASSERT_STRING_EQUAL(asked, "may_run delete");
	CU_ASSERT_EQUAL(out.verdict, KEEL_DONE);
	end();
}

/* Chosen because it would leave, but only stopped, it gave back too little: one is lost for nothing, not two. */
static void test_in_vain(void)
{
	begin("LS");
	running("1.svr");
	running("2.svr");
	CU_ASSERT_EQUAL(nobody_fits(), KEEL_WAIT);
	answer(0);
	CU_ASSERT_STRING_EQUAL(asked, "may_run leave suspend");
	answer(0);
	CU_ASSERT_STRING_EQUAL(asked, "may_run leave suspend");
	CU_ASSERT_EQUAL(out.verdict, KEEL_DONE);
	end();
}

/* Thousands of jobs of others are not tried for a user who is over a limit. */
static void test_own_limit(void)
{
	struct keel_obj *other;

	begin("D");
	other = running("1.svr");
	keel_mock_set(other, "euser", NULL, "bob");
	keel_mock_set(high, "euser", NULL, "alice");
	trials = 0;
	CU_ASSERT_EQUAL(cannot_start(KEEL_WHY_SERVER_USER), KEEL_NEXT);
	CU_ASSERT_EQUAL(trials, 0);
	CU_ASSERT_STRING_EQUAL(asked, "");
	keel_mock_set(other, "euser", NULL, "alice");
	CU_ASSERT_EQUAL(cannot_start(KEEL_WHY_SERVER_USER), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(asked, "may_run");
	answer(PBSE_NOSUP);
	end();
}

/* ---- a search that takes its time ----------------------------------------------------------------------------- */

enum { MANY = 20, ENOUGH = 7 };
static void many_run(void)
{
	begin("D");
	for (int i = 1; i <= MANY; i++) {
		char id[16];

		snprintf(id, sizeof(id), "%d.svr", 100 + i);
		running(id);
	}
	needed = ENOUGH;
}
static void two_end(struct keel_mod *mod, void *arg)
{
	static const char *const ids[] = { "120.svr", "115.svr" };

	(void)mod, (void)arg;
	for (size_t i = 0; i < KEEL_COUNT(ids); i++) {
		struct keel_obj *job = keel_find(module, "job", ids[i]);

		keel_mock_raise(mock, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = ids[i], .job = job), NULL);
		keel_mock_destroy(job);
		needed--;
	}
	gone--;
}

static void all_is_free(struct keel_mod *mod, void *arg)
{
	(void)mod, (void)arg;
	needed = 0;
}

static void it_is_gone(struct keel_mod *mod, void *arg)
{
	(void)mod, (void)arg;
	keel_mock_set(high, "letter", NULL, "F");
}

/* mend C3: the same victims in one turn and in many. Of two that end meanwhile one had been taken: each is one less that has
 * to go. None goes when enough came free by itself, or the job is not there any more. */
static void test_in_turns(void)
{
	static const struct {
		void (*meanwhile)(struct keel_mod *, void *);
		keel_verdict verdict;
		const char *deleted;
		bool slow;
	} row[] = {
		{ NULL, KEEL_DONE, " 120.svr 119.svr 118.svr 117.svr 116.svr 115.svr 114.svr", false },
		{ NULL, KEEL_DONE, " 120.svr 119.svr 118.svr 117.svr 116.svr 115.svr 114.svr", true },
		{ two_end, KEEL_DONE, " 119.svr 118.svr 117.svr 116.svr 114.svr", true },
		{ all_is_free, KEEL_DONE, "", true },
		{ it_is_gone, KEEL_NEXT, "", true },
	};

	for (size_t i = 0; i < KEEL_COUNT(row); i++) {
		many_run();
		slow = row[i].slow;
		meanwhile = row[i].meanwhile;
		nobody_fits();
		CU_ASSERT_STRING_EQUAL(asked, *row[i].deleted ? "may_run" : "");
		if (n_askers)
			answer(0);
		keel_mock_advance(mock, 1000);
		CU_ASSERT_PTR_NULL(meanwhile);
		CU_ASSERT_EQUAL(out.verdict, row[i].verdict);
		CU_ASSERT_STRING_EQUAL(deleted, row[i].deleted);
		end();
	}
}

/* Whichever call of the host fails, the operation ends, and nothing is left behind. */
static void test_failures(void)
{
	for (uint32_t n = 1; n < 24; n++) {
		begin("LSD");
		running("1.svr");
		running("2.svr");
		needed = 2;
		keel_mock_fail_call(mock, n);
		nobody_fits();
		for (int i = 0; i < 10 && !out.told; i++) {
			if (n_askers > 0)
				answer(i % 2 ? PBSE_BADSTATE : 0);
			keel_mock_advance(mock, 1000);
		}
		keel_mock_advance(mock, 86400 * 1000);
		CU_ASSERT(out.told);
		while (n_askers > 0)
			answer(0); /* late: no callback waits any more */
		end();
	}
}

TESTS_MAIN("giveway", TEST(test_requeued_meanwhile), TEST(test_over_meanwhile), TEST(test_next_letter),
	   TEST(test_named_twice),
	   TEST(test_no_longer_wanted), TEST(test_gives_way), TEST(test_in_vain),
	   TEST(test_own_limit), TEST(test_in_turns), TEST(test_failures))
