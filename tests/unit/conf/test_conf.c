/* SPDX-License-Identifier: Apache-2.0
 *
 * test_conf.c - files, rules, overrides, and the words of every refusal.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "harness.h"
#include "wire/buf.h"
#include "util/text.h"

struct sample {
	int64_t count, delay, room;
	const char *name;
	const char *const *hosts;
	int32_t mode;
	bool loud;
};

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(INT, struct sample, count, .fallback = "7", .min = 1, .max = 100, .doc = "how many"),
	KEEL_CONF_RULE(DURATION, struct sample, delay, .fallback = "60s", .min = 1000, .max = 3600000),
	KEEL_CONF_RULE(SIZE, struct sample, room, .fallback = "1gb", .min = 1024, .max = INT64_MAX),
	KEEL_CONF_RULE(STRING, struct sample, name, .flags = KEEL_CONF_RESTART),
	KEEL_CONF_RULE(LIST, struct sample, hosts, .fallback = "a,b"),
	KEEL_CONF_RULE(ENUM, struct sample, mode, .choices = "fast,slow", .fallback = "slow"),
	KEEL_CONF_RULE(BOOL, struct sample, loud, .fallback = "true"),
};
#define N_RULES KEEL_COUNT(rules)

static const char *const kernel_groups[] = { "log", NULL };
static char *dir, *main_file;
static struct conf *c;
static struct keel_err err;

static void begin(const char *main_text, const char *module_text)
{
	char *modules_d;

	dir = scratch_new();
	main_file = path_join(dir, "main.conf");
	modules_d = path_join(dir, "modules.d");
	mkdir(modules_d, 0755);
	free(modules_d);
	scratch_write(dir, "main.conf", main_text);
	if (module_text != NULL)
		scratch_write(dir, "modules.d/50-mod.conf", module_text);
	err.text[0] = '\0';
	c = NULL;
}

static void finish(void)
{
	conf_destroy(c);
	scratch_remove(dir);
	free(dir);
	free(main_file);
}

static int fill(const char *group, struct conf_data **ret)
{
	return conf_fill(c, group, rules, N_RULES, sizeof(struct sample), NULL, NULL, ret, &err);
}

static void expect_sentence(const char *file, const char *rest)
{
	char *whole = text_format("%s/%s%s", dir, file, rest);

	CU_ASSERT_STRING_EQUAL(err.text, whole);
	free(whole);
}

static void test_values(void)
{
	struct conf_data *d = NULL;
	const struct sample *s;

	begin("", "mod = { count = 5; delay = \"30m\"; room = 2048; name = \"n\";\n"
		  "  hosts = [ \"x\", \"y\" ]; mode = \"fast\"; loud = false; path = \"/m.so\"; };\n");
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL_FATAL(fill("mod", &d), 0);
	s = conf_data(d);
	CU_ASSERT_EQUAL(s->count, 5);
	CU_ASSERT_EQUAL(s->delay, 1800000);
	CU_ASSERT_EQUAL(s->room, 2048);
	CU_ASSERT_STRING_EQUAL(s->name, "n");
	CU_ASSERT_STRING_EQUAL(s->hosts[1], "y");
	CU_ASSERT_PTR_NULL(s->hosts[2]);
	CU_ASSERT_EQUAL(s->mode, 0);
	CU_ASSERT_FALSE(s->loud);
	conf_data_destroy(d);
	conf_data_destroy(NULL);
	finish();
	conf_destroy(NULL);
}

static void test_defaults(void)
{
	struct conf_data *d = NULL;
	const struct sample *s;

	begin("", "# a line that does not end");
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL_FATAL(fill("mod", &d), 0);
	s = conf_data(d);
	CU_ASSERT_EQUAL(s->count, 7);
	CU_ASSERT_EQUAL(s->delay, 60000);
	CU_ASSERT_EQUAL(s->room, 1 << 30);
	CU_ASSERT_PTR_NULL(s->name);
	CU_ASSERT_STRING_EQUAL(s->hosts[0], "a");
	CU_ASSERT_EQUAL(s->mode, 1);
	CU_ASSERT_TRUE(s->loud);
	conf_data_destroy(d);
	finish();
}

/* The group `mod` with this line in its second line is refused with `rest` behind "file:2: mod.". */
static void expect_refused(const char *line, const char *rest)
{
	struct conf_data *d = NULL;
	char *text = text_format("mod = {\n  %s\n};\n", line), *whole = text_format(":2: mod.%s", rest);

	begin("", text);
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL(fill("mod", &d), -EINVAL);
	CU_ASSERT_PTR_NULL(d);
	expect_sentence("modules.d/50-mod.conf", whole);
	finish();
	free(text);
	free(whole);
}

static void test_refusals(void)
{
	expect_refused("count = \"abc\";", "count: expected integer from 1 to 100, got \"abc\"");
	expect_refused("count = 101;", "count: expected integer from 1 to 100, got 101");
	expect_refused("count = 0;", "count: expected integer from 1 to 100, got 0");
	expect_refused("count = 1.5;", "count: expected integer from 1 to 100, got 1.5");
	expect_refused("count = 9999999999L;", "count: expected integer from 1 to 100, got 9999999999");
	expect_refused("count = { };", "count: expected integer from 1 to 100, got a group");
	expect_refused("delay = \"2d\";",
		       "delay: expected duration (\"250ms\", \"10s\", \"5m\", \"1h\" or seconds) from 1s to "
		       "1h, got \"2d\"");
	expect_refused("delay = true;",
		       "delay: expected duration (\"250ms\", \"10s\", \"5m\", \"1h\" or seconds) from 1s to "
		       "1h, got true");
	expect_refused("room = 10;",
		       "room: expected size (\"64kb\", \"1gb\" or bytes) of at least 1kb, got 10");
	expect_refused("name = 3;", "name: expected string, got 3");
	expect_refused("hosts = \"x\";", "hosts: expected list of strings ([\"a\", \"b\"]), got \"x\"");
	expect_refused("hosts = [ 1 ];", "hosts: expected list of strings ([\"a\", \"b\"]), got a list of something else");
	expect_refused("mode = \"medium\";", "mode: expected one of \"fast\", \"slow\", got \"medium\"");
	expect_refused("loud = 1;", "loud: expected true or false, got 1");
	expect_refused("cuont = 1;", "cuont: expected a known key (count, delay, room, name, hosts, mode, "
				     "loud), got \"cuont\"");
}

static void test_required(void)
{
	static const struct keel_conf_rule required[] = {
		KEEL_CONF_RULE(STRING, struct sample, name, .flags = KEEL_CONF_REQUIRED),
	};
	struct conf_data *d = NULL;

	begin("", "\nmod = { };\n");
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL(conf_fill(c, "mod", required, 1, sizeof(struct sample), NULL, NULL, &d, &err), -EINVAL);
	expect_sentence("modules.d/50-mod.conf",
			":2: mod.name: expected string, got nothing (the key is required)");
	CU_ASSERT_EQUAL(conf_fill(c, "none", required, 1, sizeof(struct sample), NULL, NULL, &d, &err), -EINVAL);
	expect_sentence("main.conf", ": none.name: expected string, got nothing (the key is required)");
	finish();
}

static void test_top_level(void)
{
	struct conf_data *d = NULL;

	begin("count = 3;\nlog = { x = 1; };\n", "mod = { };");
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL(fill(NULL, &d), 0);
	CU_ASSERT_EQUAL(((const struct sample *)conf_data(d))->count, 3);
	conf_data_destroy(d);
	CU_ASSERT_EQUAL(conf_check_groups(c, kernel_groups, &err), 0);
	finish();
	begin("count = 3;\n\ntypo = 1;\n", NULL);
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL(fill("", &d), -EINVAL);
	expect_sentence("main.conf", ":3: typo: expected a known key (count, delay, room, name, hosts, "
				     "mode, loud), got \"typo\"");
	finish();
	begin("lgo = { };\n", NULL);
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL(conf_check_groups(c, kernel_groups, &err), -EINVAL);
	expect_sentence("main.conf", ":1: lgo: expected a known group, got \"lgo\"; a module's group "
				     "belongs into a file of modules.d");
	finish();
}

static void expect_unreadable(const char *main_text, const char *module_text, const char *file,
			      const char *rest)
{
	begin(main_text, module_text);
	CU_ASSERT(conf_read(main_file, NULL, &c, &err) < 0);
	CU_ASSERT_PTR_NULL(c);
	expect_sentence(file, rest);
	finish();
}

static void test_unreadable(void)
{
	expect_unreadable("", "mod = {\n count = ;\n};", "modules.d/50-mod.conf", ":2: syntax error, here or before: settings end with ';', texts stand in quotes, lists have "
			  "no last comma");
	expect_unreadable("", "mod = { a = 1;\n a = 2; };", "modules.d/50-mod.conf",
			  ":2: duplicate setting name");
	expect_unreadable("", "mod = 1;", "modules.d/50-mod.conf",
			  ":1: mod: expected a group named like a module, got a single value; such keys "
			  "belong into the main file");
	expect_unreadable("", "mod = {\nenabled = 1; };", "modules.d/50-mod.conf",
			  ":2: mod.enabled: expected true or false, got 1");
	expect_unreadable("", "mod = {\npath = 1; };", "modules.d/50-mod.conf",
			  ":2: mod.path: expected string, got 1");
}

static void test_missing_and_binary(void)
{
	FILE *f;

	begin("", NULL);
	unlink(main_file);
	CU_ASSERT_EQUAL(conf_read(main_file, NULL, &c, &err), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, main_file));
	f = fopen(main_file, "w");
	fwrite("count = 1;\n\0rest", 1, 16, f);
	fclose(f);
	CU_ASSERT_EQUAL(conf_read(main_file, NULL, &c, &err), -EINVAL);
	expect_sentence("main.conf", ":2: expected text, got a NUL byte");
	finish();
}

static void test_modules_in_name_order(void)
{
	const struct conf_module *m;
	uint32_t n = 0;
	char *where;

	begin("", "mod = { enabled = false; path = \"/x.so\"; };");
	scratch_write(dir, "modules.d/10-first.conf", "first = { };");
	scratch_write(dir, "modules.d/90-last.conf", "one = { }; two = { };");
	scratch_write(dir, "modules.d/.hidden.conf", "hidden = { };");
	scratch_write(dir, "modules.d/50-mod.conf.new", "mod = { };");
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	m = conf_modules(c, &n);
	CU_ASSERT_EQUAL_FATAL(n, 4);
	CU_ASSERT_STRING_EQUAL(m[0].name, "first");
	CU_ASSERT_TRUE(m[0].enabled);
	CU_ASSERT_PTR_NULL(m[0].path);
	CU_ASSERT_STRING_EQUAL(m[1].name, "mod");
	CU_ASSERT_FALSE(m[1].enabled);
	CU_ASSERT_STRING_EQUAL(m[1].path, "/x.so");
	CU_ASSERT_STRING_EQUAL(m[3].name, "two");
	where = text_format("%s/modules.d/50-mod.conf:1", dir);
	CU_ASSERT_STRING_EQUAL(m[1].file, where);
	free(where);
	conf_destroy(c);
	c = NULL;
	scratch_write(dir, "modules.d/99-again.conf", "\nmod = { };");
	CU_ASSERT_EQUAL(conf_read(main_file, NULL, &c, &err), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "99-again.conf:2: mod: expected a module once"));
	finish();
}

static void test_overrides(void)
{
	struct conf_data *d = NULL;
	const struct conf_module *m;
	const struct sample *s;
	uint32_t n;

	begin("", "mod = { count = 5; };");
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL(conf_override(c, "mod.count=8", &err), 0);
	CU_ASSERT_EQUAL(conf_override(c, "mod.count=9", &err), 0);
	CU_ASSERT_EQUAL(conf_override(c, "mod.hosts=p, q", &err), 0);
	CU_ASSERT_EQUAL(conf_override(c, "mod.name=a=b", &err), 0);
	CU_ASSERT_EQUAL(conf_override(c, "mod.enabled=off", &err), 0);
	CU_ASSERT_EQUAL(conf_override(c, "new-one.enabled=true", &err), 0);
	CU_ASSERT_EQUAL(conf_check_groups(c, kernel_groups, &err), 0);
	CU_ASSERT_EQUAL_FATAL(fill("mod", &d), 0);
	s = conf_data(d);
	CU_ASSERT_EQUAL(s->count, 9);
	CU_ASSERT_STRING_EQUAL(s->hosts[1], "q");
	CU_ASSERT_STRING_EQUAL(s->name, "a=b");
	conf_data_destroy(d);
	m = conf_modules(c, &n);
	CU_ASSERT_EQUAL_FATAL(n, 2);
	CU_ASSERT_FALSE(m[0].enabled);
	CU_ASSERT_STRING_EQUAL(m[1].name, "new-one");
	CU_ASSERT_TRUE(m[1].enabled);
	finish();
}

static void test_bad_overrides(void)
{
	static const char *const bad[] = { "", "=", "x", "mod.=1", ".count=1", "../x.enabled=true",
					   "mod.count.more=1", "a b=1", "mod.enabled=maybe" };
	struct conf_data *d = NULL;

	for (size_t i = 0; i < KEEL_COUNT(bad); i++) {
		begin("", "mod = { };");
		CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
		CU_ASSERT_EQUAL(conf_override(c, bad[i], &err), -EINVAL);
		finish();
	}
	begin("", "mod = { };");
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL(conf_override(c, "mod.count=abc", &err), 0);
	CU_ASSERT_EQUAL(fill("mod", &d), -EINVAL);
	CU_ASSERT_STRING_EQUAL(err.text,
			       "override: mod.count: expected integer from 1 to 100, got \"abc\"");
	CU_ASSERT_EQUAL(conf_override(c, "mod.count=1", &err), 0);
	CU_ASSERT_EQUAL(conf_override(c, "mod.cuont=1", &err), 0);
	CU_ASSERT_EQUAL(fill("mod", &d), -EINVAL);
	CU_ASSERT_NSTRING_EQUAL(err.text, "override: mod.cuont: expected a known key", 41);
	CU_ASSERT_EQUAL(conf_override(c, "nowhere.x=1", &err), 0);
	CU_ASSERT_EQUAL(conf_check_groups(c, kernel_groups, &err), -EINVAL);
	finish();
}

/* Rows of an older, shorter rule struct, as an old module brings them. */
static void test_short_rows(void)
{
	struct short_rule {
		uint32_t size, type, offset, flags;
		const char *key, *fallback;
	} old[] = {
		{ sizeof(old[0]), KEEL_CONF_INT, offsetof(struct sample, count), 0, "count", "1" },
		{ sizeof(old[0]), KEEL_CONF_BOOL, offsetof(struct sample, loud), 0, "loud", "yes" },
	};
	struct conf_data *d = NULL;

	begin("", "mod = { count = 12345; };");
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL_FATAL(conf_fill(c, "mod", (const struct keel_conf_rule *)(const void *)old, 2,
					sizeof(struct sample), NULL, NULL, &d, &err), 0);
	CU_ASSERT_EQUAL(((const struct sample *)conf_data(d))->count, 12345);
	CU_ASSERT_TRUE(((const struct sample *)conf_data(d))->loud);
	conf_data_destroy(d);
	finish();
}

static void test_broken_rows(void)
{
	static const struct keel_conf_rule broken[] = {
		{ .size = sizeof(broken[0]), .type = KEEL_CONF_INT, .key = "far", .offset = 100000 },
		{ .size = sizeof(broken[0]), .type = 99, .key = "odd" },
		{ .size = sizeof(broken[0]), .type = KEEL_CONF_INT, .key = "edge",
		  .offset = sizeof(struct sample) - 4 },
	};
	struct conf_data *d = NULL;

	begin("", NULL);
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	for (size_t i = 0; i < KEEL_COUNT(broken); i++) {
		CU_ASSERT_EQUAL(conf_fill(c, "mod", &broken[i], 1, sizeof(struct sample), NULL, NULL, &d, &err), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, broken[i].key));
	}
	finish();
}

static void test_differs(void)
{
	struct conf_data *a = NULL, *b = NULL;

	begin("", NULL);
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, NULL, &c, &err), 0);
	CU_ASSERT_EQUAL_FATAL(fill("mod", &a), 0);
	CU_ASSERT_EQUAL_FATAL(fill("mod", &b), 0);
	CU_ASSERT_PTR_NULL(conf_differs(rules, N_RULES, a, b, 0));
	conf_data_destroy(b);
	CU_ASSERT_EQUAL(conf_override(c, "mod.hosts=a", &err), 0);
	CU_ASSERT_EQUAL_FATAL(fill("mod", &b), 0);
	CU_ASSERT_STRING_EQUAL(conf_differs(rules, N_RULES, a, b, 0), "hosts");
	CU_ASSERT_PTR_NULL(conf_differs(rules, N_RULES, a, b, KEEL_CONF_RESTART));
	conf_data_destroy(b);
	CU_ASSERT_EQUAL(conf_override(c, "mod.name=x", &err), 0);
	CU_ASSERT_EQUAL_FATAL(fill("mod", &b), 0);
	CU_ASSERT_STRING_EQUAL(conf_differs(rules, N_RULES, a, b, KEEL_CONF_RESTART), "name");
	conf_data_destroy(a);
	conf_data_destroy(b);
	finish();
}

/* `n` times `each`, which has a place for a number; the caller's to free. */
static char *many(int n, const char *head, const char *each)
{
	struct buf text;

	buf_init(&text);
	buf_str(&text, head);
	for (int i = 0; i < n; i++) {
		buf_str(&text, each);
		buf_printf(&text, "%d: {};\n", i);
	}
	return buf_take(&text, NULL);
}

static void expect_too_many(const char *main_text, const char *module_text, const char *file)
{
	begin(main_text, module_text);
	CU_ASSERT_EQUAL(conf_read(main_file, NULL, &c, &err), -EINVAL);
	expect_sentence(file, ": expected at most 4000 settings in all files together, got more; groups of modules "
			      "that do not run may go");
	finish();
}

/* past kernel/conf/bounds.c SETTINGS_MAX */
static void test_too_many_settings(void)
{
	char *most = many(4000, "", "m"), *more = many(100000, "\n", "m"), *half = many(2000, "", "m"),
	     *rest = many(2001, "# a: b = c, and \"\n/* \" = */ // :\n", "n");

	begin("", most);
	CU_ASSERT_EQUAL(conf_read(main_file, NULL, &c, &err), 0);
	finish();
	expect_too_many("a = \"= : \\\" = \";", most, "modules.d/50-mod.conf:4000");
	expect_too_many(more, NULL, "main.conf:4002");
	expect_too_many(half, rest, "modules.d/50-mod.conf:2003");
	free(most);
	free(more);
	free(half);
	free(rest);
}

/* past kernel/conf/read.c FILE_MAX */
static void test_too_long_a_file(void)
{
	const size_t most = 4 << 20;
	char *text = malloc(most + 2);

	memset(text, '#', most + 1);
	text[most + 1] = '\0';
	begin(text + 1, NULL);
	CU_ASSERT_EQUAL(conf_read(main_file, NULL, &c, &err), 0);
	finish();
	begin(text, NULL);
	CU_ASSERT_EQUAL(conf_read(main_file, NULL, &c, &err), -EFBIG);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot read the configuration file"));
	finish();
	free(text);
}

static void expect_number(const char *number, bool fits)
{
	char *text = text_format("mod: { a9999999999 = \"9999999999\"; // 9999999999\n n = ( 1, %s ); };", number);

	begin("", text);
	CU_ASSERT_EQUAL(conf_read(main_file, NULL, &c, &err), fits ? 0 : -EINVAL);
	if (!fits) {
		char *rest = text_format(":2: expected a number of 32 bits, or of 64 bits with an L behind it "
					 "(8589934592L), got %s", number);

		expect_sentence("modules.d/50-mod.conf", rest);
		free(rest);
	}
	finish();
	free(text);
}

/* libconfig makes 1 of 4294967297. */
static void test_numbers_that_do_not_fit(void)
{
	static const char *const good[] = { "2147483647", "-2147483648", "0x7FFFFFFF", "2147483648L", "0xFFFFFFFFL", "010",
					    "9223372036854775807L", "-9223372036854775808LL", "9999999999.5",
					    "0.99999999999", ".99999999999", "9999999999e5", "1e-5", NULL },
				 *const bad[] = { "2147483648", "4294967297", "-2147483649", "0x80000000", "0x100000005",
						  "99999999999999999999", "9223372036854775808L", "0xFFFFFFFFFFFFFFFFL",
						  "0xFFFFFFFFFFFFFFFFFFL", "-9223372036854775809L", NULL };

	for (int i = 0; good[i] != NULL; i++)
		expect_number(good[i], true);
	for (int i = 0; bad[i] != NULL; i++)
		expect_number(bad[i], false);
}

static void test_other_files(void)
{
	begin("a = \"@\"; # @\n  @include \"/dev/zero\"\n", NULL);
	CU_ASSERT_EQUAL(conf_read(main_file, NULL, &c, &err), -EINVAL);
	expect_sentence("main.conf", ":2: expected a setting, got \"@\": other files are not included; the groups of "
				     "modules may be in as many files of modules.d as you like");
	finish();
}

static void test_a_copy_is_called_like_the_files(void)
{
	char *copy;

	begin("roles = [\"server\"];", "nonsense {");
	copy = path_join(dir, "conf");
	CU_ASSERT_EQUAL(mkdir(copy, 0755), 0);
	scratch_write(dir, "conf/keelson.conf", "a = 1;");
	CU_ASSERT_EQUAL(conf_read(main_file, dir, &c, &err), 0); /* it has no modules.d */
	conf_destroy(c);
	free(copy);
	copy = path_join(dir, "conf/modules.d");
	CU_ASSERT_EQUAL(mkdir(copy, 0755), 0);
	scratch_write(dir, "conf/modules.d/50-mod.conf", "mod: { };");
	free(copy);
	CU_ASSERT_EQUAL_FATAL(conf_read(main_file, dir, &c, &err), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(conf_module(c, "mod")->file, "modules.d/50-mod.conf:1"));
	CU_ASSERT_PTR_NULL(strstr(conf_module(c, "mod")->file, "conf/modules.d"));
	finish();
}

TESTS_MAIN("conf", TEST(test_values), TEST(test_defaults), TEST(test_refusals), TEST(test_required),
	   TEST(test_top_level), TEST(test_unreadable), TEST(test_missing_and_binary),
	   TEST(test_modules_in_name_order), TEST(test_overrides), TEST(test_bad_overrides),
	   TEST(test_short_rows), TEST(test_broken_rows), TEST(test_differs),
	   TEST(test_too_many_settings), TEST(test_too_long_a_file), TEST(test_numbers_that_do_not_fit), TEST(test_other_files),
	   TEST(test_a_copy_is_called_like_the_files))
