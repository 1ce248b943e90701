/* SPDX-License-Identifier: Apache-2.0
 *
 * test_manifest.c - options of commands that modules bring as files.
 */
#include <errno.h>
#include <sys/stat.h>

#include "capture.h"
#include "manifest.h"

static void test_parse(void)
{
	struct manifest m;
	char why[128];

	CU_ASSERT_EQUAL(manifest_parse("# what it does\noption = \"admin-suspend\"\n"
				       "request=admin_suspend_nodes\r\nargument = \"nodes\"\n"
				       "help = \"stop = all\"\nprivilege = operator\nlater = 1",
				       &m, why, sizeof(why)), 0);
	CU_ASSERT_STRING_EQUAL(m.option, "admin-suspend");
	CU_ASSERT_STRING_EQUAL(m.request, "admin_suspend_nodes");
	CU_ASSERT_STRING_EQUAL(m.help, "stop = all");
	CU_ASSERT_STRING_EQUAL(m.privilege, "operator");
	CU_ASSERT(m.takes_operands);
	CU_ASSERT_EQUAL(manifest_parse("option = a\nrequest = b\nargument = none\n", &m, why,
				       sizeof(why)), 0);
	CU_ASSERT(!m.takes_operands);
}

static void test_bad(void)
{
	static const char *const bad[] = {
		"", "option = a", "request = a", "option\nrequest = a", "option = A\nrequest = b",
		"option = -a\nrequest = b", "option = a b\nrequest = c",
		"option = a\nrequest = b\nargument = jobs", "option = \"\"\nrequest = b",
		"option = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};
	struct manifest m;
	char why[128];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why[0] = '\0';
		CU_ASSERT_EQUAL(manifest_parse(bad[i], &m, why, sizeof(why)), -EINVAL);
		CU_ASSERT(why[0] != '\0');
	}
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
}

static void test_folder(void)
{
	char root[] = "/tmp/manifestXXXXXX", dir[64], path[128], text[8200];
	static const char *const files[] = { "b.opt", "a.opt", "c.opt", "d.txt", "e.opt" };
	struct manifest *list;
	size_t i;
	int n;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
	setenv("KEELSON_OPTIONS_DIR", root, 1);
	CU_ASSERT_EQUAL(manifest_read("pbsnodes", &list), 0);
	CU_ASSERT_PTR_NULL(list);
	snprintf(dir, sizeof(dir), "%s/pbsnodes", root);
	mkdir(dir, 0700);
	put(dir, "b.opt", "option = alpha\nrequest = x\n");
	put(dir, "a.opt", "option = beta\nrequest = y\n");
	put(dir, "c.opt", "nonsense\n");
	put(dir, "d.txt", "option = gamma\nrequest = z\n");
	snprintf(text, sizeof(text), "option = delta\nrequest = z\n#%*s\n", 8192 - 29, "");
	CU_ASSERT_EQUAL(strlen(text), 8192); /* past sdk/commands/lib/manifest.c FILE_MAX */
	put(dir, "e.opt", text);
	CU_ASSERT_PTR_NOT_NULL(freopen("/dev/null", "w", stderr)); /* the bad file is named there */
	n = manifest_read("pbsnodes", &list);
	CU_ASSERT_EQUAL_FATAL(n, 2);
	CU_ASSERT_STRING_EQUAL(list[0].option, "alpha");
	CU_ASSERT_STRING_EQUAL(manifest_find(list, n, "--beta")->request, "y");
	CU_ASSERT_PTR_NULL(manifest_find(list, n, "--gamma"));
	CU_ASSERT_PTR_NULL(manifest_find(list, n, "--"));
	free(list);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	rmdir(dir);
	rmdir(root);
}

TESTS_MAIN("manifest", TEST(test_parse), TEST(test_bad), TEST(test_folder))
