/* SPDX-License-Identifier: Apache-2.0
 *
 * test_settings.c - the kernel's keys, pbs.conf, and who wins.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "main/inside.h"
#include "util/text.h"

static char *dir, *conf_file, *pbs_file;
static struct options options;
static const char *set[8];
static struct conf *conf;
static struct settings *s;
static struct keel_err err;

static void begin(const char *main_text, const char *pbs_text)
{
	static const char *const clear[] = { "PBS_SERVER", "PBS_DEFAULT", "PBS_HOME", "PBS_EXEC",
					     "PBS_MOM_HOME", "PBS_MOM_NODE_NAME", "PBS_PRIMARY",
					     "PBS_SECONDARY", "PBS_SERVER_HOST_NAME",
					     "PBS_LOG_HIGHRES_TIMESTAMP" };

	for (size_t i = 0; i < KEEL_COUNT(clear); i++)
		unsetenv(clear[i]);
	dir = scratch_new();
	scratch_write(dir, "keelson.conf", main_text);
	scratch_write(dir, "pbs.conf", pbs_text);
	conf_file = path_join(dir, "keelson.conf");
	pbs_file = path_join(dir, "pbs.conf");
	setenv("PBS_CONF_FILE", pbs_file, 1);
	options = (struct options){ .conf_file = conf_file, .set = set };
	conf = NULL;
	s = NULL;
	err.text[0] = '\0';
}

static void finish(void)
{
	settings_destroy(s);
	conf_destroy(conf);
	scratch_remove(dir);
	free(dir);
	free(conf_file);
	free(pbs_file);
}

static void test_defaults(void)
{
	begin("", "PBS_SERVER=svr.site:1500\nPBS_HOME=/srv/pbs\nPBS_EXEC=/opt/pbs\n");
	CU_ASSERT_EQUAL_FATAL(settings_read(&options, NULL, &conf, &s, &err), 0);
	CU_ASSERT_EQUAL(s->roles, KEEL_SERVER | KEEL_MOM);
	CU_ASSERT_STRING_EQUAL(s->top->home, "/srv/pbs");
	CU_ASSERT_STRING_EQUAL(s->top->exec_dir, "/opt/pbs");
	CU_ASSERT_STRING_EQUAL(s->top->server_name, "svr.site");
	CU_ASSERT_STRING_EQUAL(s->daemon_name, "Server@svr");
	CU_ASSERT_STRING_EQUAL(s->log->dir, "/srv/pbs/server_logs");
	CU_ASSERT_STRING_EQUAL(s->client->socket, "/srv/pbs/run/server.sock");
	CU_ASSERT_EQUAL(s->log->events, 511);
	CU_ASSERT_FALSE(s->log->microseconds);
	CU_ASSERT_EQUAL(s->hooks->soft_budget_ms, 20);
	finish();
}

static void test_mom_alone(void)
{
	begin("roles = [ \"mom\" ];",
	      "PBS_HOME=/srv/pbs\nPBS_MOM_HOME=/srv/mom\nPBS_MOM_NODE_NAME=n1\n"
	      "PBS_LOG_HIGHRES_TIMESTAMP=1\n");
	CU_ASSERT_EQUAL_FATAL(settings_read(&options, NULL, &conf, &s, &err), 0);
	CU_ASSERT_STRING_EQUAL(s->top->home, "/srv/mom");
	CU_ASSERT_STRING_EQUAL(s->top->host_name, "n1");
	CU_ASSERT_STRING_EQUAL(s->daemon_name, "pbs_mom");
	CU_ASSERT_STRING_EQUAL(s->log->dir, "/srv/mom/mom_logs");
	CU_ASSERT_STRING_EQUAL(s->client->mom_socket, "/srv/mom/run/mom.sock");
	CU_ASSERT_EQUAL(s->log->events, 1023);
	CU_ASSERT_TRUE(s->log->microseconds);
	finish();
}

static void test_who_wins(void)
{
	begin("home = \"/conf\"; server_name = \"conf-name\";", "PBS_HOME=/pbs\nPBS_SERVER=pbs-name\n");
	setenv("PBS_HOME", "/environment", 1);
	CU_ASSERT_EQUAL_FATAL(settings_read(&options, NULL, &conf, &s, &err), 0);
	CU_ASSERT_STRING_EQUAL(s->top->home, "/conf");
	CU_ASSERT_STRING_EQUAL(s->top->server_name, "conf-name");
	settings_destroy(s);
	conf_destroy(conf);
	set[0] = "home=/set";
	set[1] = "log.events=7";
	options.n_set = 2;
	CU_ASSERT_EQUAL_FATAL(settings_read(&options, NULL, &conf, &s, &err), 0);
	CU_ASSERT_STRING_EQUAL(s->top->home, "/set");
	CU_ASSERT_EQUAL(s->log->events, 7);
	settings_destroy(s);
	conf_destroy(conf);
	options.home = "/option";
	options.roles = KEEL_MOM;
	CU_ASSERT_EQUAL_FATAL(settings_read(&options, NULL, &conf, &s, &err), 0);
	CU_ASSERT_STRING_EQUAL(s->top->home, "/option");
	CU_ASSERT_EQUAL(s->roles, KEEL_MOM);
	finish();
	begin("", "PBS_HOME=/pbs\n");
	setenv("PBS_HOME", "/environment", 1);
	CU_ASSERT_EQUAL_FATAL(settings_read(&options, NULL, &conf, &s, &err), 0);
	CU_ASSERT_STRING_EQUAL(s->top->home, "/environment");
	finish();
}

static void expect_refused(const char *main_text, const char *words)
{
	begin(main_text, "");
	CU_ASSERT_EQUAL(settings_read(&options, NULL, &conf, &s, &err), -EINVAL);
	CU_ASSERT_PTR_NULL(s);
	if (strstr(err.text, words) == NULL)
		printf("\n    got: %s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, words));
	finish();
}

/* On the command line, too. */
static void test_moved(void)
{
	begin("", "");
	set[0] = "link.grace=1s";
	options.n_set = 1;
	CU_ASSERT_EQUAL(settings_read(&options, NULL, &conf, &s, &err), -EINVAL);
	CU_ASSERT_STRING_EQUAL(err.text, "override: link: these keys are those of a module now; write them into "
					 "modules.d/link-tcp.conf, as link-tcp: { ... };");
	finish();
}

static void test_refused(void)
{
	expect_refused("roles = [ \"boss\" ];", "roles: expected \"server\", \"mom\" or \"login\", got \"boss\"");
	expect_refused("roles = [ ];", "got an empty list");
	expect_refused("server_name = \"a/b\";", "server_name: expected a name of letters");
	expect_refused("host_name = \"..\";", "host_name: expected a name of letters");
	expect_refused("log = { events = 70000; };", "log.events: expected integer from 0 to 65535");
	expect_refused("log = { format = \"xml\"; };", "expected one of \"pbs\", \"json\"");
	expect_refused("client = { stall = \"1ms\"; };", "from 100ms to 1h, got \"1ms\"");
	expect_refused("link = { grace = \"1s\"; };", ":1: link: these keys are those of a module now; write them into "
						    "modules.d/link-tcp.conf, as link-tcp: { ... };");
	expect_refused("surprise = { };", "surprise: expected a known group");
}

/* past kernel/main/settings.c NAME_MAX_LENGTH */
static void test_long_names(void)
{
	char name[257], *text;

	memset(name, 'a', 256);
	name[256] = '\0';
	text = text_format("server_name = \"%s\";", name);
	expect_refused(text, "server_name: expected a name of letters");
	free(text);
	text = text_format("server_name = \"%s\";", name + 1);
	begin(text, "PBS_HOME=/srv/pbs\nPBS_EXEC=/opt/pbs\n");
	CU_ASSERT_EQUAL(settings_read(&options, NULL, &conf, &s, &err), 0);
	finish();
	free(text);
}

/* past kernel/main/pbs_conf.c FILE_MAX */
static void test_long_pbs_conf(void)
{
	const size_t most = 1 << 20;
	struct pbs_conf p;
	char *text = malloc(most + 2);

	memset(text, '#', most + 1);
	text[most + 1] = '\0';
	begin("", text + 1);
	CU_ASSERT_EQUAL(pbs_conf_read(&p, &err), 0);
	free(p.text);
	finish();
	begin("", text);
	CU_ASSERT_EQUAL(pbs_conf_read(&p, &err), -EFBIG);
	finish();
	free(text);
}

static void test_pbs_conf_lines(void)
{
	struct pbs_conf p;

	begin("", "# PBS_EXEC=/no\n  PBS_EXEC = /yes \r\nPBS_HOME=/first\nPBS_HOME=/second\n"
		  "nonsense\n=\nPBS_SERVER=\nEXTRA=1=2\n");
	CU_ASSERT_EQUAL_FATAL(pbs_conf_read(&p, &err), 0);
	CU_ASSERT_STRING_EQUAL(pbs_conf_get(&p, "PBS_EXEC"), "/yes");
	CU_ASSERT_STRING_EQUAL(pbs_conf_get(&p, "PBS_HOME"), "/second");
	CU_ASSERT_PTR_NULL(pbs_conf_get(&p, "PBS_SERVER"));
	CU_ASSERT_STRING_EQUAL(pbs_conf_get(&p, "EXTRA"), "1=2");
	setenv("PBS_SERVER_HOST_NAME", "host", 1);
	CU_ASSERT_PTR_NULL(pbs_conf_server(&p)); /* where it is connected to, and not what it is called */
	setenv("PBS_PRIMARY", "first", 1);
	CU_ASSERT_PTR_NULL(pbs_conf_server(&p)); /* alone it means nothing */
	setenv("PBS_SECONDARY", "second", 1);
	CU_ASSERT_STRING_EQUAL(pbs_conf_server(&p), "first");
	setenv("PBS_DEFAULT", "old", 1);
	CU_ASSERT_STRING_EQUAL(pbs_conf_server(&p), "old");
	setenv("PBS_SERVER", "new", 1);
	CU_ASSERT_STRING_EQUAL(pbs_conf_server(&p), "new"); /* ids carry it, whatever its network name is */
	free(p.text);
	finish();
}

static void test_pbs_conf_missing(void)
{
	struct pbs_conf p;

	begin("", "");
	setenv("PBS_CONF_FILE", "/nowhere/pbs.conf", 1);
	CU_ASSERT_EQUAL(pbs_conf_read(&p, &err), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "PBS_CONF_FILE"));
	finish();
}

static void test_change_needs_restart(void)
{
	struct settings *new = NULL;
	struct conf *new_conf = NULL;

	begin("", "");
	CU_ASSERT_EQUAL_FATAL(settings_read(&options, NULL, &conf, &s, &err), 0);
	scratch_write(dir, "keelson.conf", "log = { events = 1; };");
	CU_ASSERT_EQUAL_FATAL(settings_read(&options, NULL, &new_conf, &new, &err), 0);
	CU_ASSERT_PTR_NULL(settings_differ(s, new));
	settings_destroy(new);
	conf_destroy(new_conf);
	scratch_write(dir, "keelson.conf", "client = { socket = \"/x\"; };");
	CU_ASSERT_EQUAL_FATAL(settings_read(&options, NULL, &new_conf, &new, &err), 0);
	CU_ASSERT_STRING_EQUAL(settings_differ(s, new), "socket");
	settings_destroy(new);
	conf_destroy(new_conf);
	finish();
}

static void test_login(void)
{
	static const char *const words[] = { "server", "mom", "login" };

	begin("roles = [\"login\"];", "PBS_HOME=/pbs\nPBS_SERVER=head\n");
	CU_ASSERT_EQUAL_FATAL(settings_read(&options, NULL, &conf, &s, &err), 0);
	CU_ASSERT_EQUAL(s->roles, KEEL_LOGIN);
	CU_ASSERT_STRING_EQUAL(s->daemon_name, "pbs_login");
	CU_ASSERT_STRING_EQUAL(s->log->dir, "/pbs/mom_logs");
	CU_ASSERT_EQUAL(s->log->events, 1023);
	finish();
	for (size_t i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(role_of(words[i]), UINT32_C(1) << i);
	CU_ASSERT_EQUAL(role_of("logins"), 0);
	begin("roles = [\"mom\", \"login\"];", "");
	CU_ASSERT_EQUAL(settings_read(&options, NULL, &conf, &s, &err), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "\"login\" stands alone"));
	s = NULL;
	conf = NULL;
	finish();
}

TESTS_MAIN("main/settings", TEST(test_defaults), TEST(test_login), TEST(test_mom_alone), TEST(test_who_wins),
	   TEST(test_refused), TEST(test_moved), TEST(test_long_names), TEST(test_long_pbs_conf),
	   TEST(test_pbs_conf_lines), TEST(test_pbs_conf_missing),
	   TEST(test_change_needs_restart))
