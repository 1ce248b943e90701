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

static const struct {
	const char *owner, *user, *host;
	bool strict, flat; /* the answers without flatuid and with it; the server's host is head */
} owners[] = {
	{ "ann@h1", "ann", "h1", true, true },
	{ "ann@h1", "ann", "H1", true, true },
	{ "ann@h1", "ann", "head", true, true },
	{ "ann@h1", "ann", "h2", false, true },
	{ "ann@head", "ann", "h1", false, true },
	{ "ann@h1", "anna", "h1", false, false },
	{ "ann@h1", "an", "h1", false, false },
	{ "ann@h1", "bob", "head", false, false },
	{ "ann@h1", "ann@h1", "h1", false, false },
	{ "ann", "ann", "h7", true, true }, /* stored before hosts were */
	{ "", "ann", "h1", false, false },
	{ "@h1", "", "h1", true, true },
};

static void test_owners(void)
{
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
		CU_ASSERT_EQUAL(keel_acl_is_owner(owners[i].owner, owners[i].user, owners[i].host, "head", false), owners[i].strict);
		CU_ASSERT_EQUAL(keel_acl_is_owner(owners[i].owner, owners[i].user, owners[i].host, "head", true), owners[i].flat);
	}
}

static const struct {
	const char *exec_host, *user, *host;
	bool own;
} hosts[] = {
	{ "h2/0*2+h3/1", "ann", "h2", true },
	{ "h2/0*2+h3/1", "ann", "H2", true },
	{ "h2/0*2+h3/1", "ann", "h3", false },
	{ "h2/0*2+h3/1", "ann", "h", false },
	{ "h2/0*2+h3/1", "ann", "h22", false },
	{ "h2/0*2+h3/1", "ann", "", false },
	{ "h2/0*2+h3/1", "bob", "h2", false },
	{ "h22/0", "ann", "h2", false },
	{ "", "ann", "h2", false },
	{ NULL, "ann", "h2", false },
	{ NULL, "ann", "h1", true },
};

/* A job of ann@h1, in its script and elsewhere. */
static void test_owners_in_the_job(void)
{
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		CU_ASSERT_EQUAL(keel_acl_is_job_owner("ann@h1", hosts[i].exec_host, hosts[i].user, hosts[i].host, "head", false),
				hosts[i].own);
}

static const struct {
	const char *list, *host;
	bool allowed;
} roots[] = {
	{ "root", "head", true },
	{ "root", "h1", false }, /* the root of the server's host alone */
	{ "root@h1", "h1", true },
	{ "root@h1", "head", false },
	{ "root@*", "h1", true },
	{ "root,-root@h1", "h1", false },
	{ "+", "h1", false },
	{ "+", "head", true },
	{ "", "head", false },
};

static void test_roots(void)
{
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		struct keel_acl acl = KEEL_ACL("root", roots[i].host);

		keel_acl_text(&acl, NULL, roots[i].list, (unsigned)strlen(roots[i].list));
		CU_ASSERT_EQUAL(keel_acl_is_root(&acl, roots[i].host, "head"), roots[i].allowed);
	}
}

TESTS_MAIN("acl", TEST(test_lists), TEST(test_owners), TEST(test_owners_in_the_job), TEST(test_roots))
