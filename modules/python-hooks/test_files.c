/* SPDX-License-Identifier: Apache-2.0
 *
 * test_files.c - files of hooks on a host: they arrive, are kept, read again, refused.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "harness.h"
#include "keel/file.h"
#include "keel/mock.h"
#include "keel/service/supervise.h"

extern const struct keel_module keel_module;

#define ATTRS "type=site\nenabled=true\nevent=execjob_begin\nuser=pbsadmin\nalarm=17\norder=1\ndebug=false\nfail_action=none\nplace=3\n"
#define OF_OWNER "event=execjob_prologue\nuser=pbsuser\n"

static struct keel_mock *mock;
static struct keel_mod *ours;
static struct state *st;
static char *dir;
static const struct keel_supervise_api supervise = { .size = sizeof(supervise) };

static void set_up(void)
{
	struct keel_err err = { .text = "" };
	char path[4096];

	dir = scratch_new();
	snprintf(path, sizeof(path), "%s/mom_priv", dir);
	mkdir(path, 0755);
	mock = keel_mock_new(KEEL_MOM);
	keel_mock_home(mock, dir);
	keel_mock_service(mock, "supervise", &supervise);
	ours = keel_mock_load(mock, &keel_module, NULL, &err);
	if (!ours)
		fprintf(stderr, "%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ours);
	st = ours->state;
	keel_mock_peer(mock, "server", KEEL_SERVER, true);
	keel_mock_advance(mock, 0);
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(dir);
	free(dir);
}

static void restart(void)
{
	struct keel_err err = { .text = "" };

	ours = keel_mock_restart(ours, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ours);
	st = ours->state;
}

static const char *path_of(const char *file)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/mom_priv/hooks/%s", dir, file);
	return path;
}

static bool holds(const char *file, const char *expected)
{
	char *text = keel_file_text(path_of(file), 1 << 20);
	bool ret = access(path_of(file), F_OK) == 0 ? expected && strcmp(text, expected) == 0 : expected == NULL;

	free(text);
	return ret;
}

/* A text as libconfig has it. */
static void quote(const char *text, char *to)
{
	for (; *text; text++) {
		if (*text == '\n' || *text == '"')
			*to++ = '\\';
		*to++ = *text == '\n' ? 'n' : *text;
	}
	*to = '\0';
}

static void piece(const char *file, const char *version, size_t size, size_t at, const char *bytes)
{
	char body[8192], quoted[4096];

	quote(bytes, quoted);
	snprintf(body, sizeof(body), "file = \"%s\"; version = \"%s\"; size = %zu; at = %zu; bytes = \"%s\";", file, version, size, at, quoted);
	keel_mock_sent_clear(mock);
	keel_mock_deliver(mock, "server", "python.file", body);
	keel_mock_advance(mock, 0);
}

static void file(const char *name, const char *content)
{
	char version[HOOKFILE_VERSION] = "";

	if (content)
		hookfile_version(content, (uint32_t)strlen(content), version);
	piece(name, version, content ? strlen(content) : 0, 0, content ? content : "");
}

static bool answered(const char *words)
{
	const char *m;

	for (uint32_t i = 0; (m = keel_mock_sent(mock, i)); i++)
		if (strstr(m, words))
			return true;
	return false;
}

static void directive(const char *name, const char *value)
{
	const struct keel_mom_directive_def *def;
	struct keel_mod *owner;

	for (uint32_t i = 0; (def = keel_mock_row(mock, "MOM_DIRECTIVE", i, &owner)); i++)
		if (strcmp(def->name, name) == 0)
			def->apply(owner, &value, value ? 1 : 0);
	keel_mock_advance(mock, 0);
}

static void files_make_a_hook(void)
{
	struct keel_mock_outcome out;
	struct stat about;
	struct hook *h;

	file("h1.HK", ATTRS);
	CU_ASSERT_TRUE(answered("\"code\": 0"));
	file("h1.CF", "{}");
	file("h1.PY", "pass\n");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "h1.PY;copy hook-related file request received"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "joinjob_alarm_time updated to 17"));
	CU_ASSERT_TRUE(holds("h1.HK", ATTRS) && holds("h1.CF", "{}") && holds("h1.PY", "pass\n"));
	CU_ASSERT_EQUAL(stat(path_of("h1.PY"), &about), 0);
	CU_ASSERT_EQUAL(about.st_mode & 07777, 0600);
	for (int life = 0; life < 2; life++) {
		h = hook_find(st, "h1");
		CU_ASSERT_PTR_NOT_NULL_FATAL(h);
		CU_ASSERT_EQUAL(h->alarm, 17);
		CU_ASSERT_EQUAL(h->place, 3);
		CU_ASSERT_TRUE(hook_has(h, EVENT_execjob_begin));
		CU_ASSERT_TRUE(h->script && strcmp(h->script, "pass\n") == 0 && h->script_len == 5 && h->config_len == 2);
		restart();
	}
	keel_mock_raise(mock, KEEL_POINT_start_alarm, KEEL_EVENT(start_alarm, .stage = "join"), &out);
	CU_ASSERT_EQUAL(out.sum, 17);
	keel_mock_raise(mock, KEEL_POINT_start_alarm, KEEL_EVENT(start_alarm, .stage = "prologue"), &out);
	CU_ASSERT_EQUAL(out.sum, 0);
	file("h1.CF", NULL);
	CU_ASSERT_TRUE(holds("h1.CF", NULL));
	CU_ASSERT_PTR_NULL(hook_find(st, "h1")->config);
	file("h1.HK", NULL);
	CU_ASSERT_PTR_NULL(hook_find(st, "h1"));
	CU_ASSERT_TRUE(holds("h1.PY", NULL));
	file("h1.PY", NULL);
	CU_ASSERT_TRUE(answered("\"code\": 0"));
}

static void the_server_hears_what_there_is(void)
{
	char version[HOOKFILE_VERSION], line[128];

	file("h1.HK", ATTRS);
	file("h1.PY", "pass\n");
	hookfile_version("pass\n", 5, version);
	snprintf(line, sizeof(line), "h1.PY %s", version);
	keel_mock_deliver(mock, "server", "python.who", "");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(answered(line));
	directive("$report_hook_checksums", "false");
	keel_mock_sent_clear(mock);
	keel_mock_deliver(mock, "server", "python.who", "");
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(answered("h1.PY -"));
}

static void pieces_that_do_not_fit_are_dropped(void)
{
	char longest[HOOKFILE_NAME + 16];

	piece("h1.PY", "6-1", 6, 3, "abc");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "that does not fit"));
	piece("h1.PY", "6-1", 6, 0, "abc");
	CU_ASSERT_TRUE(answered("\"at\": 3"));
	piece("h1.PY", "6-1", 6, 3, "abcd"); /* too much */
	piece("h1.PY", "6-2", 6, 3, "abc");  /* of another version */
	CU_ASSERT_TRUE(holds("h1.PY", NULL));
	piece("h1.PY", "6-1", 6, 3, "abc"); /* not what it says to be */
	CU_ASSERT_TRUE(answered("damaged"));
	piece("../h1.PY", "3-1", 3, 0, "abc");
	piece("h1.XX", "3-1", 3, 0, "abc");
	piece(".PY", "3-1", 3, 0, "abc");
	memset(longest, 'x', sizeof(longest)); /* past HOOKFILE_NAME */
	strcpy(longest + sizeof(longest) - 4, ".PY");
	piece(longest, "3-1", 3, 0, "abc");
	piece("h1.PY", "3-1", (size_t)HOOKFILE_MOST + 1, 0, "abc");
	CU_ASSERT_FALSE(answered("python.took"));
	CU_ASSERT_PTR_NULL(hook_find(st, "h1"));
}

/* The code of a refusal. */
static int32_t begin(const char *user)
{
	struct keel_mock_outcome out;

	keel_mock_raise(mock, KEEL_POINT_task_begin, KEEL_EVENT(task_begin, .id = "1.svr", .user = user), &out);
	return out.verdict == KEEL_REJECT ? out.code : 0;
}

static void hooks_of_root_are_refused(void)
{
	file("own.HK", OF_OWNER);
	file("h1.HK", ATTRS);
	file("h1.PY", "pass\n");
	keel_mock_sent_clear(mock);
	directive("$reject_root_scripts", "true");
	CU_ASSERT_EQUAL(begin("root"), 15168);
	CU_ASSERT_EQUAL(begin("anna"), 0);
	CU_ASSERT_PTR_NULL(hook_find(st, "h1"));
	CU_ASSERT_PTR_NOT_NULL(hook_find(st, "own"));
	CU_ASSERT_TRUE(holds("h1.PY", NULL));
	CU_ASSERT_FALSE(answered("h1.PY"));
	file("h2.HK", ATTRS);
	CU_ASSERT_TRUE(answered("\"code\": 15168"));
	file("h2.PY", "pass\n");
	CU_ASSERT_TRUE(answered("\"code\": 15168"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "h2.PY;refused: mom not accepting remote hook files or root job scripts"));
	file("own.PY", "pass\n");
	CU_ASSERT_TRUE(answered("\"code\": 0"));
	file("own.HK", ATTRS); /* from now on as root */
	CU_ASSERT_PTR_NULL(hook_find(st, "own"));
	directive("$reject_root_scripts", NULL);
	file("h2.HK", ATTRS);
	CU_ASSERT_PTR_NOT_NULL(hook_find(st, "h2"));
}

static void what_others_may_write_is_not_used(void)
{
	struct keel_err err;
	int fd;

	file("h1.HK", ATTRS);
	file("h1.PY", "pass\n");
	chmod(path_of("h1.PY"), 0620);
	fd = open(path_of(".new-h1.PY"), O_CREAT | O_WRONLY, 0600);
	close(fd);
	CU_ASSERT_EQUAL(symlink("/etc/passwd", path_of("h2.PY")), 0);
	restart();
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "h1.PY is not used: others than the daemon's user own it or may write it"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "h2.PY is not used"));
	CU_ASSERT_TRUE(holds(".new-h1.PY", NULL)); /* of a life that ended while it wrote */
	CU_ASSERT_PTR_NULL(hook_find(st, "h1")->script);
	CU_ASSERT_PTR_NULL(hook_find(st, "h2"));
	file("h1.PY", "pass\n");
	CU_ASSERT_TRUE(holds("h1.PY", "pass\n"));
	chmod(path_of(""), 0777);
	ours = keel_mock_restart(ours, &err);
	CU_ASSERT_PTR_NULL(ours);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "may write it"));
}

TESTS_MAIN_BETWEEN("files of hooks", set_up, tear_down, TEST(files_make_a_hook), TEST(the_server_hears_what_there_is),
		   TEST(pieces_that_do_not_fit_are_dropped), TEST(hooks_of_root_are_refused), TEST(what_others_may_write_is_not_used))
