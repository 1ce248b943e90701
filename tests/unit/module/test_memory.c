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

static void arm(void)
{
	countdown = armed;
}

static bool fired;

/* What the fixture does itself bears no failure. */
static void disarm(void)
{
	if (armed >= 0)
		fired = countdown < 0;
	countdown = armed = -1;
}

static bool runs(const char *name)
{
	char line[80];

	snprintf(line, sizeof(line), "\n%s\t", name);
	return strstr(described(), line) != NULL;
}

/* Other values of two modules, with the n-th allocation failing. False: it does not need so many. */
static bool failed_at(long n)
{
	int ret;

	kernel_start();
	fired = false;
	on_read = arm;
	on_keep = disarm;
	CU_ASSERT_EQUAL_FATAL(up("job_purged: { }\nsettings: { }\nbusy: { busy = false; }"), 0);
	configure("job_purged: { order = ( { tap = \"on_job_purged\"; order = 5; } ); }\nsettings: { }\n"
		  "busy: { busy = false; looks_after = true; budget = { strikes = 9; }; }");
	armed = n;
	ret = change(CONFIGURE, NULL);
	disarm();
	CU_ASSERT_TRUE(ret == 0 || k.err.text[0] != '\0');
	CU_ASSERT_TRUE(runs("job_purged") && runs("settings") && runs("busy"));
	CU_ASSERT_EQUAL(modules_busy(k.parts.modules, "busy", &k.err), ret == 0 ? -ENOTEMPTY : 0);
	kernel_stop();
	return fired;
}

static void a_reload_of_values(void)
{
	long n = INJECTING;

	while (failed_at(n > 0 ? n : -1) && INJECTING)
		n++;
	CU_ASSERT(!INJECTING || n > 20);
}

TESTS_MAIN("module/memory", TEST(a_reload_of_values))
