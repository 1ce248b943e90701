/* SPDX-License-Identifier: Apache-2.0
 *
 * test_hosts.h - the server half with jobs over several hosts, whose daemons the test plays: test_hosts.c, test_resize.c.
 */
#ifndef EXECUTOR_TEST_HOSTS_H
#define EXECUTOR_TEST_HOSTS_H

#pragma GCC diagnostic ignored "-Wunused-function" /* each test needs some of it */
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

#endif
