/* SPDX-License-Identifier: Apache-2.0
 *
 * test_memory.c - each allocation of a change fails once: it is refused with a sentence and nothing has changed,
 * or it is done; and the next one is done.
 *
 * The program's own malloc() counts down, from when the configuration is read: libconfig itself does not bear it.
 * Sanitizers bring theirs; then the changes are made once.
 */
#include <stdlib.h>

#include "module/fixture.h"
#include "no_memory.h"

static long armed = -1;

static int read_and_arm(struct parts *parts, struct conf **ret_conf, void **ret_kept, struct keel_err *err)
{
	int ret = kernel_files.read(parts, ret_conf, ret_kept, err);

	countdown = armed;
	return ret;
}

static bool runs(const char *name)
{
	char line[80];

	snprintf(line, sizeof(line), "\n%s\t", name);
	return strstr(described(), line) != NULL;
}

/* The change, with the n-th allocation failing. False: it does not need so many. */
static bool failed_at(long n, enum modules_change what, const char *name, const char *text)
{
	struct modules_files files = kernel_files;
	bool failed;
	int ret;

	kernel_start();
	files.read = read_and_arm;
	CU_ASSERT_EQUAL_FATAL(up("job_purged: { }\njob_obit: { }\nbusy: { }"), 0);
	modules_set_files(k.parts.modules, &files);
	configure(text);
	armed = n;
	ret = change(what, name);
	failed = countdown < 0;
	countdown = -1;
	armed = -1;
	CU_ASSERT_TRUE(ret == 0 || k.err.text[0] != '\0');
	CU_ASSERT_EQUAL(runs("job_purged"), ret < 0 || what != MODULES_CONFIGURE);
	CU_ASSERT_EQUAL(runs("job_queued"), ret == 0 && what == MODULES_CONFIGURE);
	CU_ASSERT_TRUE(runs("job_obit") && runs("busy"));
	CU_ASSERT_EQUAL(change(MODULES_CONFIGURE, NULL), 0);
	CU_ASSERT_TRUE(!runs("job_purged") && runs("job_queued"));
	kernel_stop();
	return failed;
}

static void each_allocation(enum modules_change what, const char *name)
{
	const char *text = "job_obit: { }\njob_queued: { }\nbusy: { budget = { strikes = 9; }; }";
	long n = INJECTING;

	while (failed_at(n > 0 ? n : -1, what, name, text) && INJECTING)
		n++;
	CU_ASSERT(!INJECTING || n > 20);
}

static void a_reload_of_all(void)
{
	each_allocation(MODULES_CONFIGURE, NULL);
}

static void a_reload_of_one(void)
{
	each_allocation(MODULES_RELOAD, "job_obit");
}

TESTS_MAIN("module/memory", TEST(a_reload_of_all), TEST(a_reload_of_one))
