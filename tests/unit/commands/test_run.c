/* SPDX-License-Identifier: Apache-2.0
 *
 * test_run.c - whole qmgr commands against a library that answers from tables.
 */
#include <errno.h>

#include "base64.h"
#include "capture.h"
#include "few_pbs.h"
#include "input.h"
#include "pbs_error.h"
#include "streams.h"

static struct attrl attributes[16];
static struct batch_status object = { .attribs = attributes };
static bool known = true;
static char asked[1024]; /* what the last pbs_manager() was given */
static int answer; /* of pbs_manager() */

int pbs_connect(const char *server)
{
	error = server && strncmp(server, "nosuch", 6) == 0 ? PBSE_BADHOST : 0;
	return error ? -1 : 7;
}

char *pbs_locjob(int c, const char *id, const char *extend)
{
	(void)c, (void)id, (void)extend;
	return NULL;
}

static struct batch_status *status(void)
{
	error = known ? 0 : answer;
	return known ? &object : NULL;
}

void pbs_statfree(struct batch_status *list)
{
	(void)list;
}

struct batch_status *pbs_statserver(int c, struct attrl *want, const char *extend)
{
	(void)c, (void)want, (void)extend;
	return status();
}

struct batch_status *pbs_statsched(int c, struct attrl *want, const char *extend)
{
	(void)c, (void)want, (void)extend;
	return status();
}

#define STAT(name) \
	struct batch_status *name(int c, const char *id, struct attrl *want, const char *extend) \
	{ \
		(void)c, (void)id, (void)want, (void)extend; \
		return status(); \
	}

STAT(pbs_statque)
STAT(pbs_statvnode)
STAT(pbs_statrsc)

struct batch_status *pbs_stathook(int c, const char *id, struct attrl *want, const char *extend)
{
	static struct attrl body = { .name = (char *)"content", .value = (char *)"aGk=\n" };
	static struct batch_status hook = { .name = (char *)"h1", .attribs = &body };

	(void)c, (void)id, (void)extend;
	if (!want)
		return status();
	error = 0;
	return strcmp(want->resource, "application/x-python") == 0 ? &hook : NULL;
}

int pbs_manager(int c, int cmd, int obj, const char *name, struct attropl *a, const char *extend)
{
	int n = snprintf(asked, sizeof(asked), "%d %d %s", cmd, obj, name);

	(void)c, (void)extend;
	for (; a; a = a->next)
		n += snprintf(asked + n, sizeof(asked) - (size_t)n, " %s=%s", a->name, a->value);
	return error = answer;
}

static void object_is(const char *name, const struct entry *rows)
{
	object.name = (char *)name;
	object.attribs = entries(rows, attributes);
	known = true;
	answer = 0;
	said = NULL;
}

static int run_with(const char *command, FILE *in, struct streams *out)
{
	struct session s;
	bool quit = false;
	int ret;

	session_init(&s);
	s.in = in;
	streams_begin(out);
	ret = command ? input_text(&s, command, &quit) : input_stream(&s);
	streams_end(out);
	session_fini(&s);
	return ret;
}

static void run(const char *command, int want, const char *out, const char *err)
{
	struct streams s;

	CU_ASSERT_EQUAL(run_with(command, stdin, &s), want);
	CU_ASSERT_TRUE(streams_are(&s, out, err));
}

static void test_list(void)
{
	static const struct entry hook[] = {
		{ "type", NULL, "site" },
		{ "event", NULL,
		  "execjob_begin,execjob_epilogue,execjob_end,execjob_launch,execjob_attach,"
		  "execjob_resize" },
		{ NULL, NULL, NULL },
	};
	static const struct entry server[] = {
		{ "scheduling", NULL, "True" },
		{ "default_queue", NULL, "workq" },
		{ "resources_default", "ncpus", "1" },
		{ NULL, NULL, NULL },
	};

	object_is("h1", hook);
	run("list hook", 0,
	    "Hook h1\n    type = site\n"
	    "    event = execjob_begin,execjob_epilogue,execjob_end,execjob_launch,\n"
	    "\texecjob_attach,\n\texecjob_resize\n\n",
	    "");
	object_is("HOST", server);
	run("l s scheduling,default_queue,comment", 0,
	    "Server HOST\n    default_queue = workq\n    scheduling = True\n\n", "");
	run("l s resources_default", 0, "Server HOST\n    resources_default.ncpus = 1\n\n", "");
}

static void test_print_queue(void)
{
	static const struct entry queue[] = {
		{ "queue_type", NULL, "Execution" },
		{ "total_jobs", NULL, "0" },
		{ "acl_users", NULL, "a@*,b c,d" },
		{ "comment", NULL, "say \"hi\"" },
		{ "max_run", NULL, "[u:PBS_GENERIC=5],[g:x=3]" },
		{ "resources_max", "ncpus", "4" },
		{ "from_a_module", NULL, "x y" },
		{ NULL, NULL, NULL },
	};

	object_is("q1", queue);
	run("print queue q1", 0,
	    "#\n# Create queues and set their attributes.\n#\n"
	    "#\n# Create and define queue q1\n#\ncreate queue q1\n"
	    "set queue q1 queue_type = Execution\n"
	    "set queue q1 acl_users = a@*\nset queue q1 acl_users += \"b c\"\n"
	    "set queue q1 acl_users += d\nset queue q1 comment = 'say \"hi\"'\n"
	    "set queue q1 max_run = [u:PBS_GENERIC=5]\nset queue q1 max_run += [g:x=3]\n"
	    "set queue q1 resources_max.ncpus = 4\nset queue q1 from_a_module = \"x y\"\n",
	    "");
	object_is("R12", queue);
	run("p q @default", 0, "", "");
}

static void test_print_others(void)
{
	static const struct entry node[] = {
		{ "Mom", NULL, "host.dom" }, { "Port", NULL, "16002" }, { "state", NULL, "down" },
		{ "pcpus", NULL, "4" },	     { "resv_enable", NULL, "True" }, { NULL, NULL, NULL },
	};
	static const struct entry reserved[] = { { "state", NULL, "offline,resv-exclusive" }, { NULL, NULL, NULL } };
	static const struct entry only[] = { { "state", NULL, "resv-exclusive" }, { NULL, NULL, NULL } };
	static const struct entry sched[] = {
		{ "preempt_prio", NULL, "express_queue, normal_jobs" },
		{ "state", NULL, "idle" },
		{ NULL, NULL, NULL },
	};
	static const struct entry hook[] = {
		{ "type", NULL, "site" }, { "event", NULL, "\"\"" }, { NULL, NULL, NULL },
	};

	object_is("n1", node);
	run("print node n1", 0,
	    "#\n# Create nodes and set their properties.\n#\n"
	    "#\n# Create and define node n1\n#\ncreate node n1 Mom=host.dom,Port=16002\n"
	    "set node n1 resv_enable = True\n",
	    "");
	object_is("n1", reserved);
	run("print node n1", 0,
	    "#\n# Create nodes and set their properties.\n#\n"
	    "#\n# Create and define node n1\n#\ncreate node n1\nset node n1 state = offline\n",
	    "");
	object_is("n1", only);
	run("print node n1", 0,
	    "#\n# Create nodes and set their properties.\n#\n"
	    "#\n# Create and define node n1\n#\ncreate node n1\n",
	    "");
	object_is("default", sched);
	run("print sched", 0,
	    "#\n# Create and define scheduler default\n#\ncreate sched default\n"
	    "set sched preempt_prio = \"express_queue, normal_jobs\"\nset sched state = idle\n",
	    "");
	run("p sched other", 1, "",
	    "qmgr obj=other svr=default: Unknown Scheduler\n"
	    "qmgr: Error (15213) returned from server\n");
	object_is("h1", hook);
	run("print hook h1", 0,
	    "#\n# Create hooks and set their properties.\n#\n"
	    "#\n# Create and define hook h1\n#\ncreate hook h1\nset hook h1 type = site\n"
	    "import hook h1 application/x-python base64 -\naGk=\n\n"
	    "import hook h1 application/x-config base64 -\n\n",
	    "");
	run("export hook h1 application/x-python default", 0, "hi", "");
}

static void test_failures(void)
{
	known = false;
	answer = PBSE_UNKQUE;
	said = "Unknown queue";
	run("list queue q1", 1, "",
	    "qmgr obj=q1 svr=default: Unknown queue\nqmgr: Error (15018) returned from server\n");
	run("set queue q1 enabled = True", 170, "",
	    "qmgr obj=q1 svr=default: Unknown queue\nqmgr: Error (15018) returned from server\n");
	answer = PBSE_HOOKERROR;
	said = "u@h is unauthorized to access hooks data from server s";
	run("list hook", 1, "", "u@h is unauthorized to access hooks data from server s\n");
	run("create hook h", 32, "",
	    "qmgr obj=h svr=default: u@h is unauthorized to access hooks data from server s\n"
	    "qmgr: hook error returned from server\n");
	run("create queue a_queue_name_that_is_too_long", 180, "",
	    "qmgr: Error (15028) returned from server\n");
	run("list server nosuch", 1, "", "Unknown Host.\nqmgr: cannot connect to server nosuch\n");
	run("set queue enabled = t", 0, "", "No Active Queues, nothing done.\n");
	run("import hook h1 application/x-python default /nonexistent/x", 1, "",
	    "/nonexistent/x - No such file or directory\n");
	run("export hook h1 text/plain default", 32, "",
	    "qmgr obj=h1 svr=default: <content-type> must be application/x-python or "
	    "application/x-config\nqmgr: hook error returned from server\n");
}

/* A value that was refused before sending is not followed by the attribute's name. */
static void test_refused(void)
{
	static struct attropl attribute = { .name = (char *)"scheduling" };
	static struct ecl_attrerr one = { &attribute, PBSE_BADATVAL,
					  (char *)"Illegal attribute or resource value" };
	struct ecl_attribute_errors errors = { 1, &one };

	refused = &errors;
	answer = PBSE_BADATVAL;
	said = "Illegal attribute or resource value scheduling";
	run("set server scheduling = maybe", 166, "",
	    "qmgr obj= svr=default: Illegal attribute or resource value\n"
	    "qmgr: Error (15014) returned from server\n");
	refused = NULL;
}

static void test_stream(void)
{
	static char text[] = "import hook h1 application/x-python base64 -\naGk=\n\n"
			     "# comment\nset server \\\ncomment = x; active queue a,b@c\n"
			     "active queue\nbogus\nimport hook h1 application/x-config default -\n"
			     "{}\n";
	FILE *in = fmemopen(text, strlen(text), "r");
	struct streams s;

	answer = 0;
	said = NULL;
	CU_ASSERT_EQUAL(run_with(NULL, in, &s), 0);
	CU_ASSERT_TRUE(streams_are(&s, "Active queues:\na\nb@c\n",
				   "qmgr: Illegal operation: bogus\n"
				   "Try 'help' if you are having trouble.\n"));
	CU_ASSERT_STRING_EQUAL(asked, "7 8 h1 content-type=application/x-config "
				      "content-encoding=default input-file=- content=e30K\n");
	fclose(in);
}

static void test_base64(void)
{
	char bytes[256], *text, *back;
	size_t len;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		text = base64_encode(bytes, n);
		CU_ASSERT_EQUAL_FATAL(base64_decode(text, &back, &len), 0);
		CU_ASSERT_EQUAL(len, n);
		CU_ASSERT_EQUAL(memcmp(back, bytes, n), 0);
		free(text);
		free(back);
	}
	CU_ASSERT_EQUAL(base64_decode("a", &back, &len), -EINVAL);
	CU_ASSERT_EQUAL(base64_decode("ab!c", &back, &len), -EINVAL);
	CU_ASSERT_EQUAL(base64_decode("ab==x", &back, &len), -EINVAL);
}

TESTS_MAIN("run", TEST(test_list), TEST(test_print_queue), TEST(test_print_others), TEST(test_failures),
	   TEST(test_refused), TEST(test_stream), TEST(test_base64))
