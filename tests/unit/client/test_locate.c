/* SPDX-License-Identifier: Apache-2.0
 *
 * test_locate.c - which socket of this host leads to the server, and what is said where none does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf.h"
#include "harness.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

static char *dir;

static void set_up(void)
{
	static const char *const clean[] = { "PBS_SERVER", "PBS_DEFAULT", "PBS_HOME", "PBS_SERVER_SOCKET", "KEELSON_MOM_SOCKET" };
	char path[256];

	for (size_t i = 0; i < sizeof(clean) / sizeof(clean[0]); i++)
		unsetenv(clean[i]);
	dir = scratch_new();
	snprintf(path, sizeof(path), "%s/run", dir);
	CU_ASSERT_FATAL(mkdir(path, 0755) == 0);
	snprintf(path, sizeof(path), "%s/pbs.conf", dir);
	setenv("PBS_CONF_FILE", path, 1);
}

static void tear_down(void)
{
	scratch_remove(dir);
	free(dir);
}

static void conf_write(const char *text)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "PBS_HOME=%s\n%s", dir, text);
	scratch_write(dir, "pbs.conf", whole);
	CU_ASSERT_EQUAL(pbs_loadconf(1), 1);
}

static int socket_listen(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/run/%s", dir, name);
	CU_ASSERT_FATAL(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 8) == 0);
	return fd;
}

/* The file name of the socket that a connection to `server` is with; "" and pbs_errno: none. */
static const char *reached(const char *server)
{
	static struct sockaddr_un at;
	socklen_t len = sizeof(at);
	int c = pbs_connect(server);

	memset(&at, 0, sizeof(at));
	if (c < 0)
		return "";
	CU_ASSERT_EQUAL(getpeername(c, (struct sockaddr *)&at, &len), 0);
	pbs_disconnect(c);
	return strrchr(at.sun_path, '/') + 1;
}

static void text_is(const char *expected)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(pbs_geterrmsg(-1));
	CU_ASSERT_PTR_NOT_NULL(strstr(pbs_geterrmsg(-1), expected));
	if (strstr(pbs_geterrmsg(-1), expected) == NULL)
		printf("got: %s\n", pbs_geterrmsg(-1));
}

static void test_the_server_first(void)
{
	int server = socket_listen("server.sock"), mom = socket_listen("mom.sock");

	conf_write("PBS_SERVER=head.example.org\n");
	CU_ASSERT_STRING_EQUAL(reached(NULL), "server.sock");
	CU_ASSERT_STRING_EQUAL(reached("head"), "server.sock"); /* a short name of it */
	CU_ASSERT_STRING_EQUAL(reached("head.example.org:15001"), "server.sock");
	CU_ASSERT_STRING_EQUAL(reached("localhost"), "server.sock");
	close(server);
	CU_ASSERT_STRING_EQUAL(reached(NULL), "mom.sock"); /* it refuses connections */
	CU_ASSERT_STRING_EQUAL(reached("HEAD"), "mom.sock");
	CU_ASSERT_PTR_NULL(pbs_geterrmsg(-1));
	close(mom);
}

/* Where the server runs here nothing else is tried, and there is no text: commands print what they always did. */
static void test_down_here(void)
{
	static const char *const confs[] = { "PBS_SERVER=head\nPBS_START_SERVER=1\n", "PBS_SERVER=localhost\n",
					     "PBS_SERVER=svr\nPBS_SERVER_HOST_NAME=127.0.0.1\n" };
	int mom = socket_listen("mom.sock");

	for (size_t i = 0; i < sizeof(confs) / sizeof(confs[0]); i++) {
		conf_write(confs[i]);
		CU_ASSERT_STRING_EQUAL(reached(NULL), "");
		CU_ASSERT_EQUAL(pbs_errno, PBSE_SYSTEM);
		CU_ASSERT_EQUAL(errno, ECONNREFUSED);
		CU_ASSERT_PTR_NULL(pbs_geterrmsg(-1));
	}
	close(mom);
}

static void test_homes(void)
{
	int mom = socket_listen("mom.sock"), other = socket_listen("other.sock");
	char text[256], path[256];

	snprintf(text, sizeof(text), "PBS_SERVER=head\nPBS_MOM_HOME=%s\n", dir);
	conf_write(text);
	setenv("PBS_HOME", "/nonexistent", 1);
	CU_ASSERT_STRING_EQUAL(reached(NULL), "mom.sock");
	snprintf(path, sizeof(path), "%s/run/other.sock", dir);
	setenv("KEELSON_MOM_SOCKET", path, 1); /* in a job */
	CU_ASSERT_STRING_EQUAL(reached(NULL), "other.sock");
	unsetenv("KEELSON_MOM_SOCKET");
	setenv("PBS_SERVER_SOCKET", path, 1);
	CU_ASSERT_STRING_EQUAL(reached(NULL), "other.sock");
	close(mom);
	close(other);
}

static void test_none_answers(void)
{
	char path[512];

	conf_write("PBS_SERVER=svr\nPBS_SERVER_HOST_NAME=head\nPBS_START_SERVER=0\n");
	CU_ASSERT_STRING_EQUAL(reached(NULL), "");
	CU_ASSERT_EQUAL(pbs_errno, PBSE_SYSTEM);
	snprintf(path, sizeof(path), "cannot reach the server head from this host: no keelsond answers at %s/run/mom.sock; start it",
		 dir);
	text_is(path);
	CU_ASSERT_STRING_EQUAL(reached("svr"), "");
	text_is("cannot reach the server svr from this host");
	CU_ASSERT_STRING_EQUAL(reached("no such name"), ""); /* a text is of the last one */
	CU_ASSERT_EQUAL(pbs_errno, PBSE_BADHOST);
	CU_ASSERT_PTR_NULL(pbs_geterrmsg(-1));
}

/* This host's daemons lead to one server. A name that nothing knows is an error of its own. */
static void test_another_server(void)
{
	int mom = socket_listen("mom.sock");

	conf_write("PBS_SERVER=head\n");
	CU_ASSERT_STRING_EQUAL(reached("127.0.0.9"), "");
	CU_ASSERT_EQUAL(pbs_errno, PBSE_SYSTEM);
	text_is("cannot reach the server 127.0.0.9 from this host: its commands go to the server of pbs.conf, head alone");
	CU_ASSERT_STRING_EQUAL(reached("localhost:1"), "");
	text_is("cannot reach the server localhost:1 from this host");
	setenv("PBS_DEFAULT", "127.0.0.9", 1);
	CU_ASSERT_STRING_EQUAL(reached(NULL), "");
	text_is("cannot reach the server 127.0.0.9 from this host");
	conf_write(""); /* the file names none: the environment does */
	CU_ASSERT_STRING_EQUAL(reached(NULL), "mom.sock");
	unsetenv("PBS_DEFAULT");
	close(mom);
}

/* Ports go with the value of the file, too. */
static void test_ports(void)
{
	int mom = socket_listen("mom.sock");

	conf_write("PBS_SERVER=127.0.0.9:17001\n");
	CU_ASSERT_STRING_EQUAL(reached(NULL), "mom.sock");
	CU_ASSERT_STRING_EQUAL(reached("127.0.0.9"), "mom.sock");
	CU_ASSERT_STRING_EQUAL(reached("127.0.0.9:15001"), "mom.sock");
	CU_ASSERT_STRING_EQUAL(reached("127.0.0.9:2"), "");
	close(mom);
}

TESTS_MAIN_BETWEEN("client/locate", set_up, tear_down, TEST(test_the_server_first), TEST(test_down_here), TEST(test_homes),
		   TEST(test_none_answers), TEST(test_another_server), TEST(test_ports))
