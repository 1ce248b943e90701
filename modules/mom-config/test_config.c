/* SPDX-License-Identifier: Apache-2.0
 *
 * test_config.c - the file of directives, as rows of modules obey it.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "keel/directive.h"
#include "keel/keel.h"
#include "keel/mock.h"
#include "lines.h"

extern const struct keel_module keel_module;
static char said[512]; /* by apply(): the values, each with a `;` */
static uint32_t n_applied;

static int32_t check(struct keel_mod *owner, const char *value, struct keel_err *err)
{
	(void)owner;
	return keel_directive_number(value, 1, 100, NULL, err);
}

static void apply(struct keel_mod *owner, const char *const *values, uint32_t n)
{
	(void)owner;
	said[0] = '\0';
	n_applied++;
	for (uint32_t i = 0; i < n; i++)
		snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s;", values[i]);
}

static int32_t check_flag(struct keel_mod *owner, const char *value, struct keel_err *err)
{
	(void)owner;
	return keel_directive_bool(value, NULL, err);
}

static void apply_flag(struct keel_mod *owner, const char *const *values, uint32_t n)
{
	(void)owner, (void)values, (void)n;
}

static const struct keel_mom_directive_def many = { .size = sizeof(many), .flags = KEEL_MOM_DIRECTIVE_MANY, .name = "$many",
						    .doc = "a test", .check = check, .apply = apply };
static const struct keel_mom_directive_def flag = { .size = sizeof(flag), .name = "$flag", .doc = "a test",
						    .check = check_flag, .apply = apply_flag };
static const struct keel_contrib rows[] = { KEEL_ROW(MOM_DIRECTIVE, many), KEEL_ROW(MOM_DIRECTIVE, flag) };
static struct keel_kernel kernel = { .size = sizeof(kernel) };
static const struct keel_module obeys = {
	.magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .abi_minor = KEEL_SDK_TARGET, .size = sizeof(obeys), .kernel = &kernel,
	.name = "obeys", .version = "1", .summary = "a test", .roles = KEEL_MOM, KEEL_CONTRIBS(rows),
};

static struct keel_mock *mock;
static struct keel_err err;
static char *dir;

static void set_up(void)
{
	dir = scratch_new();
	mock = keel_mock_new(KEEL_MOM);
	keel_mock_home(mock, dir);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &obeys, NULL, &err));
	said[0] = '\0';
	n_applied = 0;
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(dir);
	free(dir);
}

static struct keel_mod *started_with(const char *text)
{
	char at[4200];

	snprintf(at, sizeof(at), "%s/mom_priv", dir);
	mkdir(at, 0755);
	scratch_write(at, "config", text);
	return keel_mock_load(mock, &keel_module, NULL, &err);
}

static const struct keel_reload_def *the_file(struct keel_mod **ret_owner)
{
	return keel_mock_row(mock, "RELOAD", 0, ret_owner);
}

static void values_reach_their_owner(void)
{
	CU_ASSERT_PTR_NOT_NULL(started_with("$many 3\n$flag on\n$many 5\n$logevent 0xffffffff\n$clienthost h\n"));
	CU_ASSERT_STRING_EQUAL(said, "3;5;");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "$clienthost is accepted, but no module that is loaded obeys it"));
}

static void without_a_file_the_configuration_counts(void)
{
	CU_ASSERT_PTR_NOT_NULL(keel_mock_load(mock, &keel_module, NULL, &err));
	CU_ASSERT_EQUAL(n_applied, 1);
	CU_ASSERT_STRING_EQUAL(said, "");
}

static void what_is_wrong_ends_the_start(void)
{
	static const struct {
		const char *file, *line, *why;
	} wrong[] = {
		{ "$many 3\n$nosuch 1 2\n", "Svr;pbs_mom;config[2] command \"$nosuch 1 2\" failed, aborting", "command name $nosuch not found" },
		{ "plain 1\n", "Svr;pbs_mom;config[1] command \"plain 1\" failed, aborting", "command name plain not found" },
		{ "$many 0\n", "Svr;pbs_mom;config[1] command \"$many 0\" failed, aborting", "\"0\" is no number from 1 to 100" },
		{ "\n$many\n", "Svr;pbs_mom;config[2] command \"$many\" failed, aborting", "\"\" is no number" },
		{ "$many 0x\n", "Svr;pbs_mom;config[1] command \"$many 0x\" failed, aborting", "\"0x\" is no number" },
		{ "$flag maybe\n", "Svr;pbs_mom;config[1] command \"$flag maybe\" failed, aborting", "neither yes" },
		{ "$logevent x\n", "Svr;pbs_mom;config[1] command \"$logevent x\" failed, aborting", "is no number" },
	};

	for (size_t i = 0; i < KEEL_COUNT(wrong); i++) {
		CU_ASSERT_PTR_NULL(started_with(wrong[i].file));
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "pbs_mom: config file(s) parsing failed"));
		CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, wrong[i].line));
		CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, wrong[i].why));
	}
	CU_ASSERT_EQUAL(n_applied, 0);
}

static void a_wrong_file_at_a_reload_changes_nothing(void)
{
	const struct keel_reload_def *file;
	struct keel_mod *owner;

	CU_ASSERT_PTR_NOT_NULL_FATAL(started_with("$many 3\n"));
	file = the_file(&owner);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	scratch_write(dir, "mom_priv/config", "$many 4\n$many 101\n");
	CU_ASSERT_TRUE(file->read(owner, &err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "mom_priv/config line 2: \"101\" is no number from 1 to 100"));
	CU_ASSERT_STRING_EQUAL(said, "3;");
	scratch_write(dir, "mom_priv/config", "$many 4\n");
	CU_ASSERT_EQUAL(file->read(owner, &err), 0);
	CU_ASSERT_STRING_EQUAL(said, "3;");
	file->apply(owner);
	CU_ASSERT_STRING_EQUAL(said, "4;");
	scratch_write(dir, "mom_priv/config", "");
	CU_ASSERT_EQUAL(file->read(owner, &err), 0);
	file->apply(owner);
	CU_ASSERT_STRING_EQUAL(said, "");
}

/* past modules/mom-config/lines.h FILE_MAX */
static void a_file_that_is_too_long_is_refused(void)
{
	char *text = malloc(FILE_MAX + 2);

	memset(text, '#', FILE_MAX + 1);
	text[FILE_MAX + 1] = '\0';
	CU_ASSERT_PTR_NULL(started_with(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "longer than"));
	text[FILE_MAX] = '\0';
	CU_ASSERT_PTR_NOT_NULL(started_with(text));
	free(text);
}

TESTS_MAIN_BETWEEN("mom-config", set_up, tear_down, TEST(values_reach_their_owner), TEST(without_a_file_the_configuration_counts),
		   TEST(what_is_wrong_ends_the_start), TEST(a_wrong_file_at_a_reload_changes_nothing),
		   TEST(a_file_that_is_too_long_is_refused))
