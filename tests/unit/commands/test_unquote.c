/* SPDX-License-Identifier: Apache-2.0
 *
 * test_unquote.c - mend D26: quotes that reach qsub and qalter in -l.
 */
#include "capture.h"
#include "unquote.h"

static void test_values(void)
{
	static const struct {
		const char *name, *value, *plain;
	} tries[] = {
		{ "bb", "\"true\"", "true" },
		{ "walltime", "'10'", "10" },
		{ "ncpus", "4", "4" },
		{ "sa", "\"a,b\"", "a,b" },
		{ "sa", "x\"y\"z", "xyz" },
		{ "sa", "\"it's\"", "it's" },
		{ "sa", "\"open", "\"open" },
		{ "sa", "", "" },
		{ "select", "1:sa=\"b\"", "1:sa=b" },
		{ "select", "2:sa='b'+1:sb=\"c\":ncpus=\"2\"", "2:sa=b+1:sb=c:ncpus=2" },
		{ "select", "1:sa=\"b:c\":sb='d'", "1:sa=\"b:c\":sb=d" },
		{ "select", "1:sa=\"it's\"", "1:sa=\"it's\"" },
		{ "select", "1:sa=\"\"", "1:sa=\"\"" },
		{ "select", "\"1:ncpus=2+1\"", "1:ncpus=2+1" },
	};
	char text[64];

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		snprintf(text, sizeof(text), "%s", tries[i].value);
		resource_unquote(tries[i].name, text);
		CU_ASSERT_STRING_EQUAL(text, tries[i].plain);
	}
}

TESTS_MAIN("unquote", TEST(test_values))
