/* SPDX-License-Identifier: Apache-2.0
 *
 * test_host-limits.c - readings of service part, and the jobs that are ended by them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "keel/keel.h"
#include "keel/mock.h"
#include "keel/service/part.h"

extern const struct keel_module keel_module;
static struct keel_mock *mock;
static struct keel_mod *mod;
static struct keel_part_events events; /* as the module listens */
static const struct keel_mom_directive_def *enforce;
static int fails, weighs;
static int64_t bounded;
static int32_t failed_status;
static char failed_line[200];

static struct keel_part_host hosts[] = { { .size = sizeof(hosts[0]), .ncpus = 4, .name = "n1", .vnodes = "(n1:ncpus=4:mem=1gb)" },
					 { .size = sizeof(hosts[0]), .ncpus = 1, .name = "n2", .vnodes = "(n2:ncpus=1:mem=204800kb)" } };
static struct keel_part part = { .size = sizeof(part), .id = "7.svr", .run = 1, .state = KEEL_PART_READY, .index = 1, .n_hosts = 2, .hosts = hosts };

static int32_t listen_to(struct keel_mod *m, struct keel_mod *me, const struct keel_part_events *e)
{
	(void)m, (void)me;
	events = e ? *e : (struct keel_part_events){ .size = 0 };
	return 0;
}
static int32_t fail(struct keel_mod *m, const char *id, int32_t status, const char *line)
{
	(void)m;
	CU_ASSERT_STRING_EQUAL(id, part.id);
	fails++;
	failed_status = status;
	snprintf(failed_line, sizeof(failed_line), "%s", line);
	return 0;
}
static int32_t weigh(struct keel_mod *m, const char *id)
{
	(void)m, (void)id;
	weighs++;
	return 0;
}
static int32_t bound(struct keel_mod *m, const char *id, int64_t kb)
{
	(void)m, (void)id;
	bounded = kb;
	return 0;
}
static const struct keel_part *find(struct keel_mod *m, const char *id)
{
	(void)m;
	return strcmp(id, part.id) == 0 ? &part : NULL;
}
static const struct keel_part_api parts = { .size = sizeof(parts), .listen = listen_to, .fail = fail, .weigh = weigh, .bound = bound,
					    .find = find };

static void load(const char *conf)
{
	struct keel_err err;

	mock = keel_mock_new(KEEL_MOM);
	keel_mock_service(mock, "part", &parts);
	mod = keel_mock_load(mock, &keel_module, conf, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	CU_ASSERT_PTR_NOT_NULL_FATAL(events.measured);
	for (uint32_t i = 0; i < keel_module.n_contribs; i++)
		enforce = keel_module.contribs[i].def;
	fails = weighs = 0;
	part.state = KEEL_PART_READY;
	part.run = 1;
}

static void unload(void)
{
	keel_mock_unload(mod, NULL);
	CU_ASSERT_EQUAL(events.size, 0);
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static void reads(int64_t mem_kb, int64_t cput_ms, int64_t walltime_ms)
{
	events.measured(mod, &part, &(struct keel_part_reading){ .size = sizeof(struct keel_part_reading), .mem_kb = mem_kb,
								 .cput_ms = cput_ms, .walltime_ms = walltime_ms });
}

static void memory(void)
{
	const char *on[] = { "mem" }, *off[] = { "mem", "!mem" };

	load("");
	reads(412864, 0, 1000);
	CU_ASSERT_EQUAL(fails, 0); /* nothing by default */
	enforce->apply(mod, on, 1);
	reads(204800, 0, 1000);
	CU_ASSERT_EQUAL(fails, 0);
	reads(412864, 0, 1000);
	CU_ASSERT_EQUAL(fails, 1);
	CU_ASSERT_EQUAL(failed_status, -27);
	CU_ASSERT_STRING_EQUAL(failed_line, "mem 412864kb exceeded limit 204800kb");
	reads(412864, 0, 2000); /* until it is over: what was said may have been lost */
	CU_ASSERT_EQUAL(fails, 2);
	part.state = KEEL_PART_STOPPED;
	reads(412864, 0, 2000);
	CU_ASSERT_EQUAL(fails, 2);
	part.state = KEEL_PART_READY;
	enforce->apply(mod, off, 2);
	reads(412864, 0, 2000);
	CU_ASSERT_EQUAL(fails, 2);
	enforce->apply(mod, NULL, 0); /* as configured */
	reads(412864, 0, 2000);
	CU_ASSERT_EQUAL(fails, 2);
	unload();
	load("mem = true;");
	hosts[1].vnodes = "(n2:ncpus=1)"; /* none was wanted */
	reads(412864, 0, 1000);
	CU_ASSERT_EQUAL(fails, 0);
	hosts[1].vnodes = "(n2:ncpus=1:mem=204800kb)";
	reads(412864, 0, 1000);
	CU_ASSERT_EQUAL(fails, 1);
	unload();
}

static void shared_memory(void)
{
	load("mem = true; complexmem = true;");
	reads(204800, 0, 1000);
	CU_ASSERT_EQUAL(weighs, 0);
	reads(412864, 0, 1000);
	CU_ASSERT_EQUAL(weighs, 1);
	CU_ASSERT_EQUAL(fails, 0);
	events.weighed(mod, &part, 204800);
	CU_ASSERT_EQUAL(fails, 0);
	events.weighed(mod, &part, 204801);
	CU_ASSERT_EQUAL(fails, 1);
	CU_ASSERT_STRING_EQUAL(failed_line, "mem 204801kb exceeded limit 204800kb");
	enforce->apply(mod, (const char *[]){ "!complexmem" }, 1); /* while it was being read */
	events.weighed(mod, &part, 204801);
	CU_ASSERT_EQUAL(fails, 1);
	unload();
}

static void processors(void)
{
	load("cpuaverage = true; cpuburst = true;");
	reads(1, 0, 1000);
	reads(1, 480000, 121000); /* 0.4 of four processors */
	CU_ASSERT_EQUAL(fails, 1);
	CU_ASSERT_EQUAL(failed_status, -24);
	CU_ASSERT_STRING_EQUAL(failed_line, "ncpus 1.6 exceeded limit 1 (burst)");
	part.run = 2; /* what the first run used is nothing to this one */
	reads(1, 0, 1000);
	CU_ASSERT_EQUAL(fails, 1);
	enforce->apply(mod, (const char *[]){ "!cpuburst", "average_trialperiod 10" }, 2);
	reads(1, 27500, 11000);
	CU_ASSERT_EQUAL(failed_status, -25);
	CU_ASSERT_STRING_EQUAL(failed_line, "ncpus 2.5 exceeded limit 1 (sum)");
	events.gone(mod, part.id, 2, false);
	unload();
}

static void begins(void)
{
	keel_mock_raise(mock, KEEL_POINT_task_begin, KEEL_EVENT(task_begin, .id = part.id, .user = "u"), NULL);
}

static void bounds(void)
{
	load("");
	bounded = 0;
	begins();
	CU_ASSERT_EQUAL(bounded, -1);
	enforce->apply(mod, (const char *[]){ "mem" }, 1);
	begins();
	CU_ASSERT_EQUAL(bounded, 204800);
	hosts[1].vnodes = "(n2:ncpus=1:mem=1gb)"; /* it has fewer vnodes here, or more */
	reads(1, 0, 1000);
	CU_ASSERT_EQUAL(bounded, 1048576);
	hosts[1].vnodes = "(n2:ncpus=1:mem=204800kb)";
	events.starved(mod, &part, 204000);
	CU_ASSERT_EQUAL(failed_status, -27);
	CU_ASSERT_STRING_EQUAL(failed_line, "mem 204800kb exceeded limit 204800kb");
	enforce->apply(mod, NULL, 0);
	reads(1, 0, 1000);
	CU_ASSERT_EQUAL(bounded, -1);
	unload();
	load("mem = true; cgroup = false;");
	begins();
	CU_ASSERT_EQUAL(bounded, -1);
	unload();
}

TESTS_MAIN("host-limits", TEST(memory), TEST(bounds), TEST(shared_memory), TEST(processors))
