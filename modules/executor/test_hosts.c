/* SPDX-License-Identifier: Apache-2.0
 *
 * test_hosts.c - the server half with jobs over several hosts, whose daemons the test plays: who is sent what.
 */
#include "executor.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "harness.h"
#include "keel/mock.h"
#include "keel/service/sister.h"
#include "with_resources.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_mod *mod;
static struct heard {
	int started, ended, refused, lost, down, discarded;
	char released[64], pruned[256], id[32];
} heard;

static void on_begun(struct keel_mod *m, struct keel_obj *job, int64_t session)
{
	(void)m, (void)job, (void)session;
	heard.started++;
}
static void heard_ended(struct keel_mod *m, struct keel_obj *job, int32_t status, int64_t session, const char *const *items,
			uint32_t n)
{
	(void)m, (void)status, (void)session, (void)items, (void)n;
	heard.ended++;
	task_api.ended_done(mod, job);
}
static void heard_refused(struct keel_mod *m, struct keel_obj *job, int32_t status, const char *why)
{
	(void)m, (void)job, (void)status, (void)why;
	heard.refused++;
}
static void heard_lost(struct keel_mod *m, struct keel_obj *job)
{
	(void)m, (void)job;
	heard.lost++;
}
static void heard_released(struct keel_mod *m, struct keel_obj *job, const char *host)
{
	(void)m, (void)job;
	strncat(heard.released, host, sizeof(heard.released) - strlen(heard.released) - 1);
}
static void heard_pruned(struct keel_mod *m, struct keel_obj *job, const char *vnodes, const char *select)
{
	(void)m, (void)job;
	snprintf(heard.pruned, sizeof(heard.pruned), "%s %s", vnodes, select);
}
static void heard_discarded(struct keel_mod *m, const char *id)
{
	(void)m;
	heard.discarded++;
	snprintf(heard.id, sizeof(heard.id), "%s", id);
}
static const struct keel_task_events events = {
	.discarded = heard_discarded, .released = heard_released, .pruned = heard_pruned,
	.size = sizeof(events), .started = on_begun, .ended = heard_ended, .refused = heard_refused, .lost = heard_lost,
};

/* Vnodes are A1, A2, B1 ... of hosts A, B, C; those of the speed test are v<host>.<vnode>. */
static const char *host_of(struct keel_mod *me, const char *vnode)
{
	static char name[64];

	(void)me;
	if (*vnode == 'v')
		snprintf(name, sizeof(name), "h%d", atoi(vnode + 1));
	else
		snprintf(name, sizeof(name), "%c", *vnode);
	return name;
}

static const struct keel_sister_api sister = { .size = sizeof(sister), .version = 1 };

/* A host says what it runs; address: it has one. */
static void hello(const char *host, const char *runs, bool address, long long last_start)
{
	char body[1000];

	snprintf(body, sizeof(body), "host = \"%s\"; ncpus = 4; last_start = %lldL; running = [%s]; vnodes = [\"%s\"];%s", host,
		 last_start, runs, host, address ? " address = \"10.0.0.1:15002\"; key = \"KEY\";" : "");
	keel_mock_deliver(mock, host, "task.hello", body);
	keel_mock_advance(mock, 0);
}

static void up(const char *host)
{
	keel_mock_peer(mock, host, KEEL_MOM, true);
	hello(host, "", true, 0);
}

static void load(const char *conf, bool with_sister)
{
	struct keel_err err;

	mock = mock_with_resources();
	keel_mock_attr(mock, "job", "Resource_List", "resource_list");
	keel_mock_attr(mock, "job", "tolerate_node_failures", "string");
	if (with_sister)
		keel_mock_service(mock, "sister", &sister);
	mod = keel_mock_load(mock, &keel_module, conf, &err);
	if (!mod)
		fprintf(stderr, "%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	heard = (struct heard){ 0 };
	task_api.listen(mod, mod, &events);
	task_api.set_host_of(mod, mod, host_of);
	keel_mock_advance(mock, 0);
	up("A");
	up("B");
	up("C");
	keel_mock_sent_clear(mock);
}

static void end(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	mock = NULL;
}

static void set(struct keel_obj *job, const char *attr, const char *value)
{
	if (!keel_attr_find(keel_mock_self(mock), "job", attr))
		keel_mock_attr(mock, "job", attr, "string");
	keel_mock_set(job, attr, NULL, value);
}

#define OVER_THREE "(A1:ncpus=1+A2:ncpus=1)+(B1:ncpus=2)+(C1:ncpus=1)+(A3:ncpus=1)"

static struct keel_obj *job_make(const char *id, bool program)
{
	struct keel_obj *job = keel_mock_object(mock, "job", id);

	set(job, "exec_vnode", OVER_THREE);
	set(job, "exec_host", "A/0*0+B/0*2+C/0+A/2");
	set(job, "schedselect", "1:ncpus=2+1:ncpus=2:mpiprocs=2:ompthreads=3+2:ncpus=1");
	set(job, "run_version", "7");
	set(job, "euser", "u");
	if (program)
		set(job, "executable", "<jsdl-hpcpa:Executable>/bin/true</jsdl-hpcpa:Executable>");
	else
		keel_blob_put(job, "script", "exit 0\n", 7);
	return job;
}

static struct keel_obj *started(const char *id)
{
	struct keel_obj *job = job_make(id, true);

	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	keel_mock_advance(mock, 0);
	keel_mock_sent_clear(mock);
	return job;
}

/* The first message that left and begins with this ("B task.start"); "" there is none. */
static const char *sent(const char *begin)
{
	const char *line;

	keel_mock_advance(mock, 0);
	for (uint32_t i = 0; (line = keel_mock_sent(mock, i)); i++)
		if (begin[0] && strncmp(line, begin, strlen(begin)) == 0 && line[strlen(begin)] == ' ')
			return line;
	return "";
}

static void was_sent(const char *to_a, const char *to_b, const char *to_c)
{
	const char *const all[] = { to_a, to_b, to_c };
	char begin[64];
	uint32_t n = 0;

	keel_mock_advance(mock, 0);
	for (int i = 0; i < 3; i++) {
		snprintf(begin, sizeof(begin), "%c %s", 'A' + i, all[i] ? all[i] : "");
		n += all[i] != NULL;
		CU_ASSERT(!all[i] || *sent(begin));
	}
	CU_ASSERT_PTR_NULL(keel_mock_sent(mock, n));
	if (keel_mock_sent(mock, n))
		fprintf(stderr, "also %s\n", keel_mock_sent(mock, n));
	keel_mock_sent_clear(mock);
}

static void has(const char *line, const char *part)
{
	if (!strstr(line, part))
		fprintf(stderr, "no %s in %s\n", part, line);
	CU_ASSERT_PTR_NOT_NULL(strstr(line, part));
}

/* Each host gets the same message but for its index; the script is for the primary, behind the others. */
static void test_start(void)
{
	static const char *const names[] = { "A task.start", "B task.start", "C task.start" };
	struct keel_obj *job;
	char index[40], cookie[90];
	const char *at;

	load("", true);
	job = job_make("1.s", false);
	set(job, "tolerate_node_failures", "all");
	set(job, "Rerunable", "True");
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	keel_mock_advance(mock, 100);
	CU_ASSERT(strncmp(keel_mock_sent(mock, 2), "A ", 2) == 0);
	at = strstr(sent(names[0]), "\"cookie\": ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	snprintf(cookie, sizeof(cookie), "%.76s", at);
	CU_ASSERT_EQUAL(cookie[75], '"');
	for (int i = 0; i < 3; i++) {
		const char *line = sent(names[i]);

		snprintf(index, sizeof(index), "\"index\": %d,", i);
		has(line, index);
		has(line, "\"run\": 7,");
		has(line, cookie);
		has(line, "\"A 10.0.0.1:15002 KEY 3 (A1:ncpus=1+A2:ncpus=1)+(A3:ncpus=1)\", "
			  "\"B 10.0.0.1:15002 KEY 2 (B1:ncpus=2)\", \"C 10.0.0.1:15002 KEY 1 (C1:ncpus=1)\"]");
		has(line, "\"node_hosts\": [0, 1, 1, 2, 0]");
		has(line, "\"tolerate\": \"all\"");
		has(line, "\"rerunable\": 1");
		CU_ASSERT_EQUAL(strstr(line, "exit 0") != NULL, i == 0);
	}
	has(sent(names[1]), "\"ncpus\": 2, \"ompthreads\": 3");
	end();
}

/* Only the primary's reports count; when the run is over every host gets to know. */
static void test_reports(void)
{
	struct keel_obj *job;

	load("", true);
	job = started("1.s");
	keel_mock_deliver(mock, "B", "task.started", "id = \"1.s\"; run = 7; session = 5;");
	keel_mock_deliver(mock, "B", "task.unknown", "id = \"1.s\"; run = 7;");
	CU_ASSERT(!heard.started && !heard.lost);
	keel_mock_deliver(mock, "A", "task.started", "id = \"1.s\"; run = 7; session = 5;");
	CU_ASSERT_EQUAL(heard.started, 1);
	task_api.kill(mod, job, 0);
	was_sent("task.kill", NULL, NULL);
	keel_mock_deliver(mock, "A", "task.ended", "id = \"1.s\"; run = 7; status = 0;");
	CU_ASSERT_EQUAL(heard.ended, 1);
	was_sent("task.forget", "task.discard", "task.discard");
	job = started("2.s");
	keel_mock_deliver(mock, "A", "task.refused", "id = \"2.s\"; run = 7; status = -3;");
	CU_ASSERT_EQUAL(heard.refused, 1);
	was_sent("task.forget", "task.discard", "task.discard");
	job = started("3.s");
	task_api.discard(mod, job);
	was_sent("task.discard", "task.discard", "task.discard");
	job = started("4.s");
	keel_mock_deliver(mock, "A", "task.unknown", "id = \"4.s\"; run = 7;");
	CU_ASSERT_EQUAL(heard.lost, 1);
	was_sent(NULL, "task.discard", "task.discard");
	end();
}

/* The job as it is after a release: what went, and what is not free yet. */
static void shrink(struct keel_obj *job, const char *vnodes, const char *hosts, const char *select, const char *given_up)
{
	set(job, "exec_vnode", vnodes);
	set(job, "exec_host", hosts);
	set(job, "schedselect", select);
	set(job, "exec_vnode_deallocated", given_up);
	set(job, "exec_vnode_orig", "(A1:ncpus=1)");
	task_api.resize(mod, job);
	keel_mock_advance(mock, 0);
}

/* A host that is out gets its order until it says that it has left; others get to know who is left. */
static void test_resize(void)
{
	struct keel_obj *job;

	load("", true);
	job = started("1.s");
	/* one vnode of B: it has another */
	set(job, "exec_vnode", "(A1:ncpus=1)+(B1:ncpus=1+B2:ncpus=1)+(C1:ncpus=1)");
	shrink(job, "(A1:ncpus=1)+(B2:ncpus=1)+(C1:ncpus=1)", "A/0+B/0+C/0", "1:ncpus=1+1:ncpus=1+1:ncpus=1", "(B1:ncpus=1)");
	has(sent("B task.resize"), "\"index\": 1,");
	has(sent("B task.resize"), "KEY 1 (B2:ncpus=1)\"");
	was_sent("task.resize", "task.resize", "task.resize");
	CU_ASSERT_STRING_EQUAL(heard.released, "");
	shrink(job, "(A1:ncpus=1)+(C1:ncpus=1)", "A/0+C/0", "1:ncpus=1+1:ncpus=1", "(B1:ncpus=1)+(B2:ncpus=1)");
	has(sent("B task.release"), "\"run\": 7");
	has(sent("C task.resize"), "\"nodes\": \"A\\u000aC\\u000a\"");
	was_sent("task.resize", "task.release", "task.resize");
	/* those that stay may have been away: behind each hello they get to know it again, alone */
	hello("A", "\"1.s 7 R 5\"", true, 0);
	has(sent("A task.resize"), "\"nodes\": \"A\\u000aC\\u000a\"");
	keel_mock_sent_clear(mock);
	hello("C", "\"1.s 7 R 0\"", true, 0);
	was_sent(NULL, NULL, "task.resize");
	/* its link broke: it comes back with the run, then without */
	keel_mock_peer(mock, "B", KEEL_MOM, true);
	hello("B", "\"1.s 7 R 0\"", true, 0);
	was_sent(NULL, "task.release", NULL);
	keel_mock_deliver(mock, "C", "task.released", "id = \"1.s\"; run = 7;");
	keel_mock_deliver(mock, "B", "task.released", "id = \"1.s\"; run = 6;");
	CU_ASSERT_STRING_EQUAL(heard.released, "");
	keel_mock_deliver(mock, "B", "task.released", "id = \"1.s\"; run = 7; items = [\"cput=00:00:01\"];");
	CU_ASSERT_STRING_EQUAL(heard.released, "B");
	has(sent("A task.left"), "\"host\": \"B\"");
	was_sent("task.left", NULL, NULL);
	keel_mock_deliver(mock, "A", "task.ended", "id = \"1.s\"; run = 7; status = 0;");
	was_sent("task.forget", "task.forget", "task.discard");
	end();
}

/* Hosts that a server that was restarted finds in what is not free yet, and that never had a part. */
static void test_leaving_hosts_known(void)
{
	struct keel_obj *job;

	load("first_host_only = true", true);
	job = started("1.s");
	shrink(job, "(A1:ncpus=1)", "A/0", "1:ncpus=1", "(B1:ncpus=2)+(C1:ncpus=1)");
	CU_ASSERT_STRING_EQUAL(heard.released, "BC");
	was_sent("task.resize", NULL, NULL);
	end();
	load("", true);
	job = job_make("1.s", true);
	set(job, "exec_vnode", "(A1:ncpus=1)");
	set(job, "exec_host", "A/0");
	set(job, "exec_vnode_deallocated", "(B1:ncpus=2)+(C1:ncpus=1)");
	set(job, "job_state", "R");
	keel_mock_raise(mock, KEEL_POINT_job_known, KEEL_EVENT(job_known, .id = "1.s", .job = job), NULL);
	hello("B", "\"1.s 7 R 0\"", true, 0);
	hello("C", "", true, 0);
	has(sent("B task.release"), "\"id\": \"1.s\"");
	was_sent(NULL, "task.release", NULL);
	CU_ASSERT_STRING_EQUAL(heard.released, "C");
	end();
}

/* The primary goes on without a host: the listener gets to know it, the primary that it did. */
static void test_pruned(void)
{
	load("", true);
	started("1.s");
	keel_mock_deliver(mock, "B", "task.pruned", "id = \"1.s\"; run = 7; vnodes = \"(B1:ncpus=2)\"; select = \"1:ncpus=2\";");
	keel_mock_deliver(mock, "A", "task.pruned", "id = \"1.s\"; run = 6; vnodes = \"(A1:ncpus=1)\"; select = \"1:ncpus=1\";");
	CU_ASSERT_STRING_EQUAL(heard.pruned, "");
	keel_mock_deliver(mock, "A", "task.pruned", "id = \"1.s\"; run = 7; vnodes = \"(A1:ncpus=1)\"; select = \"1:ncpus=1\";");
	CU_ASSERT_STRING_EQUAL(heard.pruned, "(A1:ncpus=1) 1:ncpus=1");
	was_sent("task.prune_done", NULL, NULL);
	end();
}

/* What is on a host's list, and is not. */
static void test_hello(void)
{
	struct keel_obj *job;

	load("", true);
	job = started("1.s");
	keel_mock_peer(mock, "B", KEEL_MOM, true); /* another link */
	hello("B", "\"1.s 7 R 0\"", true, 0);
	was_sent(NULL, NULL, NULL);
	hello("B", "", true, 0); /* a sister has lost it: for the primary to find out */
	was_sent(NULL, NULL, NULL);
	hello("B", "\"1.s 6 R 0\", \"2.s 1 R 9\"", true, 0);
	CU_ASSERT(*sent("B task.discard") && keel_mock_sent(mock, 1) && !keel_mock_sent(mock, 2));
	keel_mock_sent_clear(mock);
	up("D");
	hello("D", "\"1.s 7 R 0\"", true, 0); /* it is not of the run */
	CU_ASSERT(*sent("D task.discard"));
	keel_mock_sent_clear(mock);
	task_api.kill(mod, job, 0);
	was_sent("task.kill", NULL, NULL);
	hello("B", "\"1.s 7 R 0\"", true, 0);
	was_sent(NULL, NULL, NULL);
	CU_ASSERT_EQUAL(heard.lost, 0);
	keel_mock_peer(mock, "A", KEEL_MOM, true);
	hello("A", "", true, 0);
	CU_ASSERT_EQUAL(heard.lost, 1);
	was_sent(NULL, "task.discard", "task.discard");
	end();
}

/* After a restart of the server the hosts of a run are those of its exec_vnode. */
static void test_replay(void)
{
	struct keel_obj *job;

	load("", true);
	job = job_make("1.s", true);
	set(job, "job_state", "R");
	keel_mock_raise(mock, KEEL_POINT_job_known, KEEL_EVENT(job_known, .id = "1.s", .job = job), NULL);
	keel_mock_advance(mock, 0);
	hello("C", "\"1.s 7 R 0\"", true, 0);
	was_sent(NULL, NULL, NULL);
	keel_mock_deliver(mock, "C", "task.ended", "id = \"1.s\"; run = 7; status = 0;");
	CU_ASSERT_EQUAL(heard.ended, 0);
	keel_mock_advance(mock, 0);
	keel_mock_sent_clear(mock);
	keel_mock_deliver(mock, "A", "task.ended", "id = \"1.s\"; run = 7; status = 0;");
	CU_ASSERT_EQUAL(heard.ended, 1);
	was_sent("task.forget", "task.discard", "task.discard");
	end();
}

static struct keel_mock_outcome decided;

static keel_verdict may_start(struct keel_obj *job)
{
	decided = (struct keel_mock_outcome){ 0 };
	return keel_mock_raise(mock, KEEL_POINT_start_now,
			       KEEL_EVENT(start_now, .id = keel_id(job), .job = job, .who = "who", .exec_vnode = OVER_THREE), &decided);
}

/* Who may start over several hosts, and whom it waits for. */
static void test_start_now(void)
{
	struct keel_obj *job;

	load("", false);
	job = job_make("1.s", true);
	CU_ASSERT_EQUAL(may_start(job), KEEL_REJECT);
	has(decided.text, "cannot be started without");
	end();
	load("first_host_only = true;", false);
	job = job_make("1.s", true);
	CU_ASSERT_EQUAL(may_start(job), KEEL_NEXT);
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	has(sent("A task.start"), "\"hosts\": [\"A 10.0.0.1:15002 KEY 3 (A1:ncpus=1+A2:ncpus=1)+(A3:ncpus=1)\"]");
	has(sent("A task.start"), "\"nodes\": \"A\\u000aB\\u000aB\\u000aC\\u000aA\\u000a\"");
	was_sent("task.start", NULL, NULL);
	end();
	load("", true);
	job = job_make("1.s", true);
	CU_ASSERT_EQUAL(may_start(job), KEEL_NEXT);
	hello("B", "", false, 0);
	CU_ASSERT_EQUAL(may_start(job), KEEL_REJECT);
	has(decided.text, "host B has said no address");
	keel_mock_peer(mock, "B", KEEL_MOM, true);
	keel_mock_peer(mock, "C", KEEL_MOM, true);
	CU_ASSERT_EQUAL(may_start(job), KEEL_WAIT);
	has(keel_mock_hold(mock, 0), "host B is to link again");
	CU_ASSERT_EQUAL(task_api.start(mod, job), -ENOTCONN);
	hello("B", "", true, 0);
	CU_ASSERT(!decided.told);
	keel_mock_peer(mock, "C", KEEL_MOM, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT(decided.told && decided.verdict == KEEL_NEXT);
	CU_ASSERT_EQUAL(task_api.start(mod, job), -ENOTCONN); /* C is away */
	set(job, "tolerate_node_failures", "job_start");
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	keel_mock_sent_clear(mock);
	hello("B", "", false, 0);
	hello("B", "", true, 0);
	end();
}

/* A job over 100 hosts with 100 vnodes each: its messages are sent over several turns, and what is ordered meanwhile follows. */
static struct keel_obj *large_job(const char *id, uint32_t hosts, uint32_t vnodes)
{
	struct keel_obj *job = job_make(id, true);
	struct keel_text text;
	char name[16];

	keel_text_init(&text);
	for (uint32_t i = 0; i < hosts; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		up(name);
		for (uint32_t k = 0; k < vnodes; k++)
			keel_text_printf(&text, "%s(v%u.%u:ncpus=1)", text.len ? "+" : "", i, k);
	}
	set(job, "exec_vnode", text.data);
	set(job, "exec_host", "");
	keel_text_fini(&text);
	keel_mock_advance(mock, 0);
	keel_mock_sent_clear(mock);
	return job;
}

static uint32_t n_sent(void)
{
	uint32_t n = 0;

	while (keel_mock_sent(mock, n))
		n++;
	return n;
}

static void test_slices(void)
{
	struct keel_obj *job;

	load("", true);
	job = large_job("1.s", 100, 100);
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	CU_ASSERT_EQUAL(task_api.kill(mod, job, 0), 0);
	keel_mock_next(mock);
	CU_ASSERT(n_sent() > 1 && n_sent() < 60);
	keel_mock_advance(mock, 1000);
	CU_ASSERT_EQUAL(n_sent(), 101);
	CU_ASSERT(strncmp(keel_mock_sent(mock, 99), "h0 task.start ", 14) == 0);
	CU_ASSERT(strncmp(keel_mock_sent(mock, 100), "h0 task.kill ", 13) == 0);
	task_api.discard(mod, job);
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	task_api.discard(mod, job); /* in the middle */
	keel_mock_advance(mock, 1000);
	CU_ASSERT(!*sent("h0 task.started"));
	keel_mock_sent_clear(mock);
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	keel_mock_peer(mock, "h0", KEEL_MOM, false);
	keel_mock_advance(mock, 1000);
	CU_ASSERT_EQUAL(heard.refused, 1);
	CU_ASSERT(*sent("h99 task.discard"));
	end();
}

/* Processor time of a start over 100 hosts; the figure start_100_hosts is the whole server's. */
static void test_start_cost(void)
{
	struct timespec from, to;
	struct keel_obj *job;

	load("", true);
	job = large_job("1.s", 100, 1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	CU_ASSERT((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 < 50);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(n_sent(), 100);
	end();
}

/* A job that was discarded starts again when no host has anything left of it; one that is down is not waited for. */
static void test_discarded(void)
{
	struct keel_obj *job;

	load("", true);
	job = started("1.s");
	keel_mock_peer(mock, "C", KEEL_MOM, false);
	keel_mock_advance(mock, 0);
	task_api.discard(mod, job);
	set(job, "tolerate_node_failures", "all");
	CU_ASSERT_EQUAL(may_start(job), KEEL_WAIT);
	has(keel_mock_hold(mock, 0), "is to end the last run of it");
	keel_mock_deliver(mock, "A", "task.gone", "id = \"1.s\"; run = 6;");
	keel_mock_deliver(mock, "C", "task.gone", "id = \"1.s\"; run = 7;");
	keel_mock_deliver(mock, "B", "task.gone", "id = \"1.s\"; run = 7;");
	keel_mock_advance(mock, 0);
	CU_ASSERT(!heard.discarded && !decided.told);
	keel_mock_sent_clear(mock);
	keel_mock_peer(mock, "A", KEEL_MOM, true); /* another link: what was sent on the last one may be lost */
	hello("A", "\"1.s 7 R 9\"", true, 0);
	CU_ASSERT(*sent("A task.discard"));
	keel_mock_deliver(mock, "A", "task.gone", "id = \"1.s\"; run = 7;");
	keel_mock_advance(mock, 0);
	CU_ASSERT(heard.discarded == 1 && decided.told);
	CU_ASSERT_STRING_EQUAL(heard.id, "1.s");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Node;A;Discard done for job 1.s"));
	CU_ASSERT_EQUAL(task_api.start(mod, job), 0);
	task_api.discard(mod, job);
	keel_mock_peer(mock, "A", KEEL_MOM, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(heard.discarded, 1);
	keel_mock_advance(mock, 61000); /* B says nothing */
	CU_ASSERT_EQUAL(heard.discarded, 2);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "host B has not said within 60 s"));
	end();
}

TESTS_MAIN("hosts", TEST(test_start), TEST(test_reports), TEST(test_hello), TEST(test_replay), TEST(test_start_now),
	   TEST(test_slices), TEST(test_start_cost), TEST(test_discarded), TEST(test_resize),
	   TEST(test_leaving_hosts_known), TEST(test_pruned))
