/* SPDX-License-Identifier: Apache-2.0
 *
 * test_command.c - command lines of qmgr: what they mean, and where they are wrong.
 */
#include <errno.h>

#include "attributes.h"
#include "capture.h"
#include "command.h"

static const bool none_active[MGR_OBJ_LAST] = {
	[MGR_OBJ_SERVER] = true,
	[MGR_OBJ_SCHED] = true,
};

static void bad(const char *line, int status, int at)
{
	struct command c;
	struct fault fault = { 0 };

	CU_ASSERT_EQUAL(command_parse(line, none_active, &c, &fault), -EINVAL);
	if (fault.status != status || (at >= 0 && fault.at != (size_t)at))
		fprintf(stderr, "\n%s: status %d at %zu\n", line, fault.status, fault.at);
	CU_ASSERT_EQUAL(fault.status, status);
	CU_ASSERT_EQUAL(fault.message != NULL, at < 0);
	if (at >= 0)
		CU_ASSERT_EQUAL(fault.at, (size_t)at);
}

static void good_with(const char *line, const bool active[MGR_OBJ_LAST], struct command *c)
{
	struct fault fault = { 0 };
	int ret = command_parse(line, active, c, &fault);

	if (ret < 0) {
		fprintf(stderr, "\n%s: status %d at %zu\n", line, fault.status, fault.at);
		abort();
	}
}

static void good(const char *line, struct command *c)
{
	good_with(line, none_active, c);
}

static void test_faults(void)
{
	bad("frobnicate server x", FAULT_VERB, -1);
	bad("", FAULT_VERB, -1);
	bad("list", FAULT_OBJECT, -1);
	bad("set foo x=1", FAULT_OBJECT, -1);
	bad("create queue 1q", FAULT_NAME, 13);
	bad("create resource 9foo type=long", FAULT_NAME, 16);
	bad("create hook 2h", FAULT_NAME, 12);
	bad("create queue", FAULT_NAME, 12);
	bad("create queue a,", FAULT_NAME, 15);
	bad("list queue q@", FAULT_NAME, 11);
	bad("set server nosuch = 1", FAULT_ATTRIBUTE, 18);
	bad("unset server nosuch", FAULT_ATTRIBUTE, 19);
	bad("set server max_run = 5", FAULT_ATTRIBUTE, 21);
	bad("create queue bad name", FAULT_ATTRIBUTE, 21);
	bad("set queue q1", FAULT_ATTRIBUTE, 12);
	bad("set sched default preempt_order = S,C", FAULT_ATTRIBUTE, 37);
	bad("set server comment = two words", FAULT_ATTRIBUTE, 25);
	bad("set server comment = \"open", FAULT_ATTRIBUTE, 26);
	bad("set server comment = \"a\"b", FAULT_ATTRIBUTE, 24);
	bad("set server comment = \"a & b\"", FAULT_ATTRIBUTE, 24);
	bad("set server comment =", FAULT_ATTRIBUTE, 20);
	bad("set server comment = x,", FAULT_ATTRIBUTE, 23);
	bad("set server max_run = \"5\"", FAULT_ATTRIBUTE, 22);
	bad("set server max_run = [x:a=1]", FAULT_ATTRIBUTE, 21);
	bad("set server max_run = [u:a=1", FAULT_ATTRIBUTE, 21);
	bad("delete queue q1 x", FAULT_ATTRIBUTE, 16);
	bad("set server .x = 1", FAULT_NAME, 11);
}

static void attribute_is(const struct attropl *a, const char *name, const char *resource,
			 const char *value, enum batch_op op)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_STRING_EQUAL(a->name, name);
	CU_ASSERT_STRING_EQUAL(a->resource ? a->resource : "", resource);
	CU_ASSERT_STRING_EQUAL(a->value, value);
	CU_ASSERT_EQUAL(a->op, op);
}

static void test_values(void)
{
	struct command c;

	good("s q q1 priority = 5,resources_max.ncpus+=4 , comment -= 'two \"words\"'", &c);
	CU_ASSERT_EQUAL(c.verb, MGR_CMD_SET);
	CU_ASSERT_EQUAL(c.object, MGR_OBJ_QUEUE);
	CU_ASSERT_STRING_EQUAL(c.names->text, "q1");
	attribute_is(c.attributes, "Priority", "", "5", SET);
	attribute_is(c.attributes->next, "resources_max", "ncpus", "4", INCR);
	attribute_is(c.attributes->next->next, "comment", "", "two \"words\"", DECR);
	CU_ASSERT_PTR_NULL(c.attributes->next->next->next);
	command_fini(&c);
	good("set server max_run = [u:PBS_GENERIC=5], [g: x = 3],scheduling=t", &c);
	attribute_is(c.attributes, "max_run", "", "[u:PBS_GENERIC=5], [g: x = 3]", SET);
	attribute_is(c.attributes->next, "scheduling", "", "t", SET);
	command_fini(&c);
	good("set server comment = \"\"", &c);
	attribute_is(c.attributes, "comment", "", "", SET);
	command_fini(&c);
	good("unset server acl_users,ACL_HOSTS", &c);
	attribute_is(c.attributes->next, "acl_hosts", "", "", UNSET);
	command_fini(&c);
	good("set node n1 from_a_module.part = x", &c);
	attribute_is(c.attributes, "from_a_module", "part", "x", SET);
	command_fini(&c);
}

static void name_is(const struct object_name *name, const char *text, const char *server)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(name);
	CU_ASSERT_STRING_EQUAL(name->text, text);
	CU_ASSERT_STRING_EQUAL(name->server ? name->server : "(active)", server);
}

static void test_names(void)
{
	static const bool queues[MGR_OBJ_LAST] = { [MGR_OBJ_QUEUE] = true };
	struct command c;

	good("l q a,b@other , c@default", &c);
	name_is(c.names, "a", "(active)");
	name_is(c.names->next, "b", "other");
	name_is(c.names->next->next, "c", "");
	command_fini(&c);
	good("p n @default", &c);
	name_is(c.names, "", "");
	command_fini(&c);
	good("l s nosuch scheduling", &c);
	name_is(c.names, "", "nosuch");
	attribute_is(c.attributes, "scheduling", "", "", SET);
	command_fini(&c);
	good("set server default from_a_module = 1", &c);
	name_is(c.names, "", "");
	attribute_is(c.attributes, "from_a_module", "", "1", SET);
	command_fini(&c);
	good("list sched preempt_order", &c);
	CU_ASSERT_PTR_NULL(c.names);
	command_fini(&c);
	good("set queue enabled = t", &c);
	CU_ASSERT_PTR_NULL(c.names);
	command_fini(&c);
	good("list queue comment", &c);
	name_is(c.names, "comment", "(active)");
	command_fini(&c);
	good_with("list queue comment", queues, &c);
	CU_ASSERT_PTR_NULL(c.names);
	command_fini(&c);
}

static void test_words(void)
{
	static const struct {
		const char *line;
		int verb;
	} rows[] = {
		{ "c q x", MGR_CMD_CREATE }, { "d q x", MGR_CMD_DELETE }, { "p s", MGR_CMD_PRINT },
		{ "a", MGR_CMD_ACTIVE },     { "e h x", MGR_CMD_EXPORT }, { "i h x", MGR_CMD_IMPORT },
		{ "?", VERB_HELP },	     { "h", VERB_HELP },	  { "q", VERB_QUIT },
		{ "exit", VERB_QUIT },	     { "hi", VERB_HISTORY },	  { "l nodes x", MGR_CMD_LIST },
	};
	struct command c;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		good(rows[i].line, &c);
		CU_ASSERT_EQUAL(c.verb, rows[i].verb);
		command_fini(&c);
	}
	good("import hook h1 application/x-python default \"/tmp/a b.py\"", &c);
	CU_ASSERT_STRING_EQUAL(c.words[0], "application/x-python");
	CU_ASSERT_STRING_EQUAL(c.words[2], "/tmp/a b.py");
	command_fini(&c);
}

static void test_table(void)
{
	CU_ASSERT_PTR_NOT_NULL(attribute_find(MGR_OBJ_PBS_HOOK, "ALARM", 5));
	CU_ASSERT_PTR_NULL(attribute_find(MGR_OBJ_QUEUE, "enable", 6));
	CU_ASSERT_FALSE(attribute_is_printed(MGR_OBJ_NODE, "last_used_time"));
	CU_ASSERT_TRUE(attribute_is_printed(MGR_OBJ_NODE, "from_a_module"));
	CU_ASSERT_EQUAL(attribute_kind(MGR_OBJ_SERVER, "managers"), ATTRIBUTE_LIST);
}

TESTS_MAIN("command", TEST(test_faults), TEST(test_values), TEST(test_names), TEST(test_words),
	   TEST(test_table))
