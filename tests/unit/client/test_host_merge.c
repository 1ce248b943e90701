/* SPDX-License-Identifier: Apache-2.0
 *
 * test_host_merge.c - vnodes of one host as one object; values that are prepared for a submission.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "depend.h"
#include "harness.h"
#include "host_merge.h"
#include "prepare.h"

#define AVAIL ATTR_rescavail
#define ASSN ATTR_rescassn

/* name, resource, value; ends with a NULL name. */
static struct batch_status *vnode(const char *name, const char *const (*rows)[3],
				  struct attrl *attribs, struct batch_status *one)
{
	size_t n = 0;

	for (; rows[n][0] != NULL; n++)
		attribs[n] = (struct attrl){ rows[n + 1][0] != NULL ? &attribs[n + 1] : NULL,
					     (char *)rows[n][0], (char *)rows[n][1],
					     (char *)rows[n][2], SET };
	*one = (struct batch_status){ NULL, (char *)name, attribs, NULL };
	return one;
}

static void merged_is(const struct batch_status *vnodes, const char *expected)
{
	struct batch_status *host = host_merge("h", vnodes);
	char text[2048] = "";
	size_t n = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(host);
	CU_ASSERT_STRING_EQUAL(host->name, "h");
	for (const struct attrl *r = host->attribs; r != NULL; r = r->next)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s=%s ", r->name,
				      r->resource ? "." : "", r->resource ? r->resource : "",
				      r->value);
	CU_ASSERT_STRING_EQUAL(text, expected);
	pbs_statfree(host);
}

static void test_merge(void)
{
	static const char *const a[][3] = {
		{ "Mom", NULL, "h" },	     { "state", NULL, "free" },
		{ "pcpus", NULL, "2" },	     { "jobs", NULL, "1.s/0" },
		{ AVAIL, "host", "h" },	     { AVAIL, "mem", "1gb" },
		{ AVAIL, "ncpus", "2" },     { AVAIL, "vnode", "h" },
		{ AVAIL, "gpus", "@other" }, { ASSN, "hbmem", "0kb" },
		{ ASSN, "mem", "0kb" },	     { ASSN, "ncpus", "1" },
		{ ASSN, "naccelerators", "0" }, { ASSN, "gpus", "1" },
		{ NULL, NULL, NULL },
	};
	static const char *const b[][3] = {
		{ "Mom", NULL, "h" },	      { "state", NULL, "offline" },
		{ "jobs", NULL, "2.s/0" },    { "comment", NULL, "only here" },
		{ AVAIL, "host", "h" },	      { AVAIL, "mem", "1024b" },
		{ AVAIL, "ncpus", "4" },      { AVAIL, "vnode", "h[0]" },
		{ AVAIL, "gpus", "3" },	      { ASSN, "mem", "512kb" },
		{ ASSN, "ncpus", "2" },	      { NULL, NULL, NULL },
	};
	static const char expected[] =
		"Mom=h state=<various> pcpus=2 jobs=1.s/0, 2.s/0 comment=only here "
		"resources_available.host=h resources_available.mem=1048577kb "
		"resources_available.ncpus=6 resources_available.vnode=<various> "
		"resources_available.gpus=3 resources_available.hbmem=0kb "
		"resources_available.naccelerators=0 resources_assigned.mem=512kb "
		"resources_assigned.ncpus=3 resources_assigned.gpus=1 "
		"resources_assigned.hbmem=0kb resources_assigned.naccelerators=0 ";
	struct attrl rows[2][16];
	struct batch_status one[2];

	vnode("h", a, rows[0], &one[0])->next = vnode("h[0]", b, rows[1], &one[1]);
	merged_is(one, expected);
}

/* A server may say anything: the sums stop, they do not turn around. */
static void test_merge_of_too_much(void)
{
	static const char *const most[][3] = {
		{ AVAIL, "mem", "9223372036854775807pw" },
		{ AVAIL, "ncpus", "9223372036854775807" },
		{ AVAIL, "file", "9223372036854775807b" },
		{ ASSN, "mem", "0kb" },
		{ ASSN, "ncpus", "-9223372036854775807" },
		{ ASSN, "file", "0kb" },
		{ NULL, NULL, NULL },
	};
	struct attrl rows[2][16];
	struct batch_status one[2];

	vnode("h", most, rows[0], &one[0])->next = vnode("h[0]", most, rows[1], &one[1]);
	merged_is(one, "resources_available.mem=9223372036854775807kb "
		       "resources_available.ncpus=9223372036854775807 "
		       "resources_available.file=18014398509481982kb "
		       "resources_assigned.mem=0kb resources_assigned.ncpus=-9223372036854775808 "
		       "resources_assigned.file=0kb ");
}

static void test_merge_of_nothing(void)
{
	struct batch_status empty = { NULL, (char *)"v", NULL, NULL }, *host;

	host = host_merge("h", &empty);
	CU_ASSERT_PTR_NOT_NULL_FATAL(host);
	CU_ASSERT_PTR_NULL(host->attribs);
	pbs_statfree(host);
}

static void test_depend(void)
{
	char *full = NULL;

	CU_ASSERT_EQUAL(depend_complete("afterok:1:2[]:3.x@y,on:4", "svr", &full), 0);
	CU_ASSERT_STRING_EQUAL(full, "afterok:1.svr:2[].svr:3.x@y,on:4");
	free(full);
	CU_ASSERT_EQUAL(depend_complete("afterany:7@other", "svr", &full), 0);
	CU_ASSERT_STRING_EQUAL(full, "afterany:7.svr@other");
	free(full);
	CU_ASSERT_EQUAL(depend_complete("after:1.h\\:15001", NULL, &full), 0);
	CU_ASSERT_STRING_EQUAL(full, "after:1.h\\:15001");
	free(full);
	CU_ASSERT(depend_complete("", "svr", &full) < 0);
	CU_ASSERT(depend_complete("after:1234567890123", "svr", &full) < 0);
	CU_ASSERT(depend_complete("after:.svr", "svr", &full) < 0);
	CU_ASSERT(depend_complete("after:1.", "svr", &full) < 0);
	CU_ASSERT(depend_complete("after:1[", "svr", &full) < 0);
}

static void path_is(const char *given, const char *expected)
{
	struct attropl a = { NULL, (char *)ATTR_o, NULL, (char *)given, SET }, *list;

	CU_ASSERT_EQUAL_FATAL(prepare_job(&a, &list), 0);
	CU_ASSERT_STRING_EQUAL(list->value, expected);
	prepare_free(list);
}

static void test_paths(void)
{
	char old[4096];

	CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(old, sizeof(old)));
	setenv("PBS_OUTPUT_HOST_NAME", "out", 1);
	CU_ASSERT_EQUAL(chdir("/usr/bin"), 0);
	setenv("PWD", "/usr/lib", 1); /* not where we are */
	path_is("f", "out:/usr/bin/f");
	setenv("PWD", "/usr/lib/../bin", 1); /* the user's name for it */
	path_is("d/f", "out:/usr/lib/../bin/d/f");
	path_is("d/", "out:/usr/lib/../bin/d/");
	path_is("/usr", "out:/usr/");
	path_is("/dev/null", "out:/dev/null");
	path_is("h:/x", "h:/x");
	path_is("/run:1/out", "out:/run:1/out"); /* no host has a slash in its name */
	path_is("d/run:1", "out:/usr/lib/../bin/d/run:1");
	CU_ASSERT_EQUAL(chdir("/"), 0);
	path_is("f", "out:/f");
	unsetenv("PBS_OUTPUT_HOST_NAME");
	CU_ASSERT_EQUAL(chdir(old), 0);
}

TESTS_MAIN("host merge, prepare", TEST(test_merge), TEST(test_merge_of_nothing), TEST(test_merge_of_too_much),
	   TEST(test_depend), TEST(test_paths))
