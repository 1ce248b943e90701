/* SPDX-License-Identifier: Apache-2.0
 *
 * test_distribute.c - hooks travel to hosts: the server's half alone, and both in one daemon.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deliver.h"
#include "harness.h"
#include "keel/file.h"
#include "keel/mock.h"
#include "keel/service/node.h"
#include "keel/service/sched.h"
#include "keel/service/supervise.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_mod *ours;
static struct state *st;
static char *dir;
static int cycles;

static const char *host_of(struct keel_mod *mod, const char *vnode)
{
	(void)mod;
	return vnode[0] == 'n' ? vnode : NULL;
}
static const struct keel_node_api node = { .size = sizeof(node), .host_of = host_of };

static void reconsider(struct keel_mod *mod)
{
	(void)mod;
	cycles++;
}
static const struct keel_sched_api sched = { .size = sizeof(sched), .reconsider = reconsider };
static const struct keel_supervise_api supervise = { .size = sizeof(supervise) };

static void begin(uint32_t daemon)
{
	struct keel_err err = { .text = "" };
	char path[4096];

	dir = scratch_new();
	snprintf(path, sizeof(path), "%s/mom_priv", dir);
	mkdir(path, 0755);
	cycles = 0;
	mock = keel_mock_new(daemon);
	keel_mock_home(mock, dir);
	keel_mock_attr(mock, "node", "Mom", "string");
	keel_mock_service(mock, "node", &node);
	keel_mock_service(mock, "sched", &sched);
	keel_mock_service(mock, "supervise", &supervise);
	ours = keel_mock_load(mock, &keel_module, NULL, &err);
	if (!ours)
		fprintf(stderr, "%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ours);
	st = ours->state;
}

static void end(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(dir);
	free(dir);
}

static struct hook *hook(const char *name, const char *script)
{
	struct hook *h = hook_new(st, name);

	CU_ASSERT_PTR_NOT_NULL_FATAL(h);
	CU_ASSERT_EQUAL(hook_set(h, "event", KEEL_SET, "execjob_begin", NULL), 0);
	h->script = script ? strdup(script) : NULL;
	h->script_len = script ? (uint32_t)strlen(script) : 0;
	hook_changed(st, h);
	keel_mock_advance(mock, 0);
	return h;
}

/* The newest message that contains this. */
static const char *said(const char *words)
{
	const char *ret = NULL, *m;

	for (uint32_t i = 0; (m = keel_mock_sent(mock, i)); i++)
		if (strstr(m, words))
			ret = m;
	return ret;
}

static uint32_t count(const char *words)
{
	uint32_t n = 0;
	const char *m;

	for (uint32_t i = 0; (m = keel_mock_sent(mock, i)); i++)
		n += strstr(m, words) != NULL;
	return n;
}

static void have(const char *host, const char *files)
{
	char body[4096];

	keel_mock_peer(mock, host, KEEL_MOM, true);
	snprintf(body, sizeof(body), "files = [ %s ];", files);
	keel_mock_deliver(mock, host, "python.have", body);
	keel_mock_advance(mock, 0);
}

static void took(const char *host, const char *file, int code)
{
	struct mom *m = mom_find(st, host);
	struct copy *o = m ? copy_find(m->orders, file) : NULL;
	char body[512];

	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	snprintf(body, sizeof(body), "file = \"%s\"; version = \"%s\"; at = %u; code = %d;", file, o->version, o->at, code);
	keel_mock_deliver(mock, host, "python.took", body);
	keel_mock_advance(mock, 0);
}

static void took_all_of(const char *host)
{
	struct mom *m = mom_find(st, host);

	while (m && m->orders)
		took(host, m->orders->file, 0);
}

/* The code of a refusal; 0: it may start. */
static int32_t start(const char *exec_vnode)
{
	struct keel_mock_outcome out = { .told = false };
	static struct keel_obj *job;

	job = keel_find(ours, "job", "1.svr");
	if (!job)
		job = keel_mock_object(mock, "job", "1.svr");
	keel_mock_raise(mock, KEEL_POINT_start_now,
			KEEL_EVENT(start_now, .id = "1.svr", .job = job, .exec_vnode = exec_vnode, .who = "test"), &out);
	CU_ASSERT_TRUE(out.told);
	return out.verdict == KEEL_REJECT ? out.code : 0;
}

static void a_host_gets_what_it_lacks(void)
{
	begin(KEEL_SERVER);
	keel_mock_peer(mock, "n1", KEEL_MOM, true);
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NOT_NULL(said("n1 python.who"));
	CU_ASSERT_EQUAL(start("(n1:ncpus=1)"), 0); /* there is nothing to have */
	hook("h1", "pass\n");
	CU_ASSERT_EQUAL(start("(n2:ncpus=1)+(n1:ncpus=1)"), 15167); /* it has not said yet what it has */
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "vnode n1's parent mom n1:15002 has a pending copy hook or delete hook request"));
	CU_ASSERT_EQUAL(start("(n2:ncpus=1)"), 0);
	keel_mock_sent_clear(mock);
	keel_mock_advance(mock, 121000);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "n1 has not said which hook files it has"));
	CU_ASSERT_PTR_NOT_NULL(said("n1 python.who"));
	have("n1", "\"old.HK 1-1\", \"h1.PY 5-0\", \"../x.HK 1\", \"nothing\", \"tables 1-1\"");
	CU_ASSERT_PTR_NOT_NULL(said("\"file\": \"h1.HK\""));
	CU_ASSERT_PTR_NOT_NULL(said("\"file\": \"old.HK\", \"version\": \"\""));
	CU_ASSERT_PTR_NULL(said("../x"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "hook script mismatched checksums: h1.PY of n1: ...resending"));
	CU_ASSERT_EQUAL(start("(n1:ncpus=1)"), 15167);
	took("n1", "h1.HK", 0);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "/server_priv/hooks/h1.HK to n1"));
	took_all_of("n1");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "successfully deleted hook file old.HK from n1"));
	CU_ASSERT_TRUE(cycles > 0);
	CU_ASSERT_EQUAL(start("(n1:ncpus=1)"), 0);
	end();
}

static void what_it_has_is_not_sent_again(void)
{
	char line[256], version[HOOKFILE_VERSION];
	struct hook *h;

	begin(KEEL_SERVER);
	h = hook("h1", "pass\n");
	have("n1", "");
	took_all_of("n1");
	hookfile_version(h->script, h->script_len, version);
	keel_mock_sent_clear(mock);
	snprintf(line, sizeof(line), "\"h1.PY %s\"", version);
	have("n1", line); /* another link */
	CU_ASSERT_EQUAL(count("h1.PY"), 0);
	CU_ASSERT_EQUAL(count("h1.HK"), 1);
	took_all_of("n1");
	keel_mock_sent_clear(mock);
	hook_changed(st, h);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(count("python.file"), 0);
	hook_set(h, "alarm", KEEL_SET, "7", NULL);
	hook_changed(st, h);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(count("python.file"), 1);
	end();
}

static void a_hook_is_gone_when_no_host_has_it(void)
{
	struct hook *h;

	begin(KEEL_SERVER);
	keel_mock_object(mock, "node", "n1");
	keel_mock_object(mock, "node", "n2");
	h = hook("h1", "pass\n");
	have("n1", "");
	took_all_of("n1");
	h->pending = true;
	hook_changed(st, h);
	keel_mock_advance(mock, 0);
	took_all_of("n1");
	keel_mock_advance(mock, 100);
	CU_ASSERT_PTR_NOT_NULL(hook_find(st, "h1")); /* n2 has not said that it has not got it */
	have("n2", "\"h1.PY 5-0\"");
	CU_ASSERT_PTR_NOT_NULL(hook_find(st, "h1"));
	took_all_of("n2");
	keel_mock_advance(mock, 100);
	CU_ASSERT_PTR_NULL(hook_find(st, "h1"));
	end();
}

static void a_host_that_is_deleted_has_nothing(void)
{
	struct keel_obj *n2;
	struct hook *h;

	begin(KEEL_SERVER);
	n2 = keel_mock_object(mock, "node", "n2");
	h = hook("h1", "pass\n");
	h->pending = true;
	hook_changed(st, h);
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NOT_NULL(hook_find(st, "h1"));
	keel_mock_raise(mock, KEEL_POINT_node_delete, KEEL_EVENT(node_delete, .id = "n2", .node = n2, .who = "test"), NULL);
	keel_mock_destroy(n2);
	keel_mock_advance(mock, 100);
	CU_ASSERT_PTR_NULL(hook_find(st, "h1"));
	end();
}

static void no_answer_and_errors(void)
{
	begin(KEEL_SERVER);
	hook("h1", "pass\n");
	have("n1", "");
	keel_mock_sent_clear(mock);
	keel_mock_advance(mock, 121000);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Timing out previous send of mom hook updates to n1"));
	CU_ASSERT_EQUAL(count("h1.PY"), 1);
	took("n1", "h1.HK", 0);
	took("n1", "h1.PY", 15010); /* its disk is full */
	CU_ASSERT_EQUAL(start("(n1:ncpus=1)"), 15167);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "n1 could not take hook file h1.PY"));
	keel_mock_advance(mock, 130000);
	took("n1", "h1.PY", 15168);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "n1 refuses hook file h1.PY: "));
	took_all_of("n1");
	CU_ASSERT_EQUAL(start("(n1:ncpus=1)"), 0);
	end();
}

static void what_a_host_says_is_not_believed(void)
{
	begin(KEEL_SERVER);
	hook("h1", "pass\n");
	have("n1", "");
	keel_mock_deliver(mock, "n1", "python.took", "file = \"h1.PY\"; version = \"1-1\"; code = 0;");
	keel_mock_deliver(mock, "n1", "python.took", "file = \"h9.PY\"; version = \"\"; code = 0;");
	keel_mock_deliver(mock, "n1", "python.took", "code = 0;");
	keel_mock_deliver(mock, "n1", "python.have", "files = 7;");
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NOT_NULL(hook_find(st, "h1"));
	CU_ASSERT_EQUAL(start("(n1:ncpus=1)"), 15167);
	end();
}

/* Whatever fails once, the host has its hook in the end. */
static void one_failure_is_survived(void)
{
	char path[4096];

	for (uint32_t n = 1; n < 80; n++) {
		begin(KEEL_SERVER | KEEL_MOM);
		keel_mock_loopback(mock, true);
		keel_mock_fail_call(mock, n);
		keel_mock_peer(mock, "mockhost", KEEL_MOM, true);
		keel_mock_peer(mock, "server", KEEL_SERVER, true);
		keel_mock_advance(mock, 0);
		hook("h1", "pass\n");
		keel_mock_advance(mock, 200000);
		keel_mock_advance(mock, 200000);
		keel_mock_fail_call(mock, 0);
		keel_mock_advance(mock, 200000);
		snprintf(path, sizeof(path), "%s/mom_priv/hooks/h1.PY", dir);
		CU_ASSERT_EQUAL(access(path, F_OK), 0);
		CU_ASSERT_EQUAL(start("(mockhost:ncpus=1)"), 0);
		end();
	}
}

/* Server and mom in one daemon: several pieces, more than the window holds. */
static void a_long_file_arrives_whole(void)
{
	enum { LONG = HOOKFILE_WINDOW * 2 + 12345 };
	char *text = malloc(LONG + 1), *there, path[4096];

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	for (int i = 0; i < LONG; i++)
		text[i] = (char)('a' + i % 23);
	text[LONG] = '\0';
	begin(KEEL_SERVER | KEEL_MOM);
	keel_mock_loopback(mock, true);
	keel_mock_peer(mock, "mockhost", KEEL_MOM, true);
	keel_mock_peer(mock, "server", KEEL_SERVER, true);
	keel_mock_advance(mock, 0);
	hook("h1", text);
	keel_mock_advance(mock, 10);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "hooks/h1.PY to mockhost"));
	CU_ASSERT_EQUAL(mom_find(st, "mockhost")->flying, 0);
	snprintf(path, sizeof(path), "%s/mom_priv/hooks/h1.PY", dir);
	there = keel_file_text(path, LONG * 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(there);
	CU_ASSERT_STRING_EQUAL(there, text);
	free(there);
	free(text);
	end();
}

TESTS_MAIN("hooks on their way", TEST(a_host_gets_what_it_lacks), TEST(what_it_has_is_not_sent_again),
	   TEST(a_hook_is_gone_when_no_host_has_it), TEST(a_host_that_is_deleted_has_nothing), TEST(no_answer_and_errors),
	   TEST(what_a_host_says_is_not_believed), TEST(a_long_file_arrives_whole), TEST(one_failure_is_survived))
