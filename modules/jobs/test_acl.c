/* SPDX-License-Identifier: Apache-2.0
 *
 * test_acl.c - what a list says about a name.
 */
#include "keel/acl.h"

#include <stdio.h>

#include "harness.h"

static const struct {
	const char *list, *name, *host; /* name NULL: of hosts */
	bool allowed;
} rows[] = {
	{ "ann", "ann", "h.dom", true },
	{ "ann", "anna", "h.dom", false },
	{ "", "ann", "h.dom", false },
	{ "bob,ann@h.dom", "ann", "h.dom", true },
	{ "ann@h.dom", "ann", "g.dom", false },
	{ "ann@*.dom", "ann", "h.dom", true },
	{ "ann@*.dom", "ann", "h.com", false },
	{ "ann@*", "ann", "h.com", true },
	{ "-ann", "ann", "h.dom", false },
	{ "+,-ann", "ann", "h.dom", false },
	{ "+,-ann", "bob", "h.dom", true },
	{ "-", "bob", "h.dom", false },
	{ "ann@*,-ann@h.dom", "ann", "h.dom", false },
	{ "-ann@h.dom,ann@*", "ann", "h.dom", false },
	{ "-ann@*,ann@*.dom", "ann", "h.dom", true },
	{ "ann@H.DOM", "ann", "h.dom", true },
	{ "h.dom", NULL, "h.dom", true },
	{ "*.dom", NULL, "h.dom", true },
	{ "*.dom,-h.dom", NULL, "h.dom", false },
	{ "*", NULL, "h.dom", true },
	{ "g.dom", NULL, "h.dom", false },
	{ ",,,ann,", "ann", "h", true },
	{ "@h", "ann", "h", false },
	{ "+ann", "ann", "h", true },
};

static void test_lists(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct keel_acl acl = KEEL_ACL(rows[i].name, rows[i].host);

		keel_acl_text(&acl, NULL, rows[i].list, (unsigned)strlen(rows[i].list));
		if (acl.allowed != rows[i].allowed)
			printf("row %zu: %s\n", i, rows[i].list);
		CU_ASSERT_EQUAL(acl.allowed, rows[i].allowed);
	}
}

TESTS_MAIN("acl", TEST(test_lists))
