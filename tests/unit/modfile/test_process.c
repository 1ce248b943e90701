/* SPDX-License-Identifier: Apache-2.0
 *
 * test_process.c - what cannot be in a process of its own, and in which words it is said.
 */
#include <string.h>

#include "harness.h"
#include "keel/keel.h"
#include "keel/isolable.h"

static char why[KEEL_ISOLABLE_WHY];

static void flags(void)
{
	CU_ASSERT_FALSE(keel_isolable_bars_flags(0, why));
	CU_ASSERT_TRUE(keel_isolable_bars_flags(KEEL_MOD_NO_PROCESS, why));
	CU_ASSERT_STRING_EQUAL(why, "it says so itself (KEEL_MOD_NO_PROCESS)");
}

static void needs(void)
{
	CU_ASSERT_FALSE(keel_isolable_bars_need("object", false, why));
	CU_ASSERT_FALSE(keel_isolable_bars_need("job", true, why));
	CU_ASSERT_TRUE(keel_isolable_bars_need("link", false, why));
	CU_ASSERT_STRING_EQUAL(why, "it needs the service link, which only code inside the daemon can use");
	CU_ASSERT_FALSE(keel_isolable_group("blob"));
}

/* Every point of the map: a FOLD and what is asked in inner loops. */
static void taps(void)
{
	static const struct {
		const char *name;
		uint32_t kind, daemon;
	} points[] = {
#define HOOK(id, name, kind, daemon, doc) { #name, KEEL_##kind, KEEL_##daemon },
#include "keel/hook_points.def"
#undef HOOK
	};

	for (size_t i = 0; i < KEEL_COUNT(points); i++) {
		bool bars = keel_isolable_bars_tap(points[i].name, points[i].kind, points[i].daemon, why);

		CU_ASSERT_EQUAL(bars, points[i].kind == KEEL_FOLD || (points[i].daemon & KEEL_INLINE) != 0);
		CU_ASSERT_TRUE(!bars || strstr(why, points[i].name) != NULL);
	}
}

static void rows(void)
{
	CU_ASSERT_FALSE(keel_isolable_bars_row("ATTR", "cost", false, why));
	CU_ASSERT_TRUE(keel_isolable_bars_row("REQUEST", "", false, why));
	CU_ASSERT_TRUE(keel_isolable_bars_row("ATTR", "cost", true, why));
	CU_ASSERT_STRING_EQUAL(why, "its attribute cost has a function, which the daemon would have to wait for");
	CU_ASSERT_TRUE(keel_isolable_bars_row("SIGNAL", "", false, why));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "a row of kind SIGNAL; from there only"));
}

/* Names of strangers are cut, not trusted. */
static void long_names(void)
{
	char name[4096];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CU_ASSERT_TRUE(keel_isolable_bars_need(name, false, why));
	CU_ASSERT_TRUE(keel_isolable_bars_row(name, name, false, why));
	CU_ASSERT_TRUE(keel_isolable_bars_row("ATTR", name, true, why));
	CU_ASSERT_TRUE(strlen(why) < 160);
}

TESTS_MAIN("modfile: process", TEST(flags), TEST(needs), TEST(taps), TEST(rows), TEST(long_names))
