/* SPDX-License-Identifier: Apache-2.0
 *
 * test_change.c - changes from request to answer, with a kernel that says what the test wants. The child that checks a set is
 * this program.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "keel/file.h"
#include "keel/mock.h"
#include "reload.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_mod *module;
static char *dir, *conf_file;
static struct keel_draft_module rows[8];
static struct keel_draft draft;
static uint32_t n_applied, n_gone, n_wrong;
static char gone_next[256], gone_back[256];
static const char *refused, *check_says, *busy_says, *needed_by;
static bool was;
static keel_fn *hup;

/* ---- the child ----------------------------------------------------------------------------------------------- */
__attribute__((constructor)) static void child(int argc, char **argv)
{
	const char *says = argc > 2 && strcmp(argv[2], "--check") == 0 ? argv[1] : NULL;

	if (!says)
		return;
	if (strcmp(says, "crash") == 0)
		raise(SIGKILL);
	if (says[0] == '!')
		fprintf(stderr, "a word of a module\nkeelsond: %s\n", says + 1);
	else
		fputs(says, stdout);
	fflush(NULL);
	_exit(says[0] == '!');
}

/* ---- the disk ------------------------------------------------------------------------------------------------ */
static bool by_worker; /* the last exchange of names; the mock host has one thread */
static uint32_t n_synced; /* since then */

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	by_worker = ((struct state *)module->state)->first->working;
	n_synced = 0;
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

int fsync(int fd)
{
	n_synced++;
	return (int)syscall(SYS_fsync, fd);
}

/* ---- the kernel ---------------------------------------------------------------------------------------------- */
static void fake_image(struct keel_mod *m, struct keel_image *ret)
{
	(void)m;
	*ret = (struct keel_image){ .size = sizeof(*ret), .renewed = was, .conf_file = conf_file, .refused = refused };
}

static const char **fake_command(struct keel_mod *m)
{
	const char **words = calloc(16, sizeof(*words));

	(void)m;
	words[0] = "keelsond";
	words[1] = check_says;
	return words;
}

static int32_t fake_draft(struct keel_mod *m, const char *set, const struct keel_draft **ret, struct keel_err *err)
{
	(void)m, (void)err;
	CU_ASSERT_EQUAL(access(set, F_OK), 0);
	*ret = &draft;
	return 0;
}

static int32_t fake_apply(struct keel_mod *m, struct keel_err *err)
{
	(void)m, (void)err;
	n_applied++;
	return 0;
}

static void fake_drop(struct keel_mod *m)
{
	(void)m;
}

static int32_t fake_trust(const char *path, struct keel_err *err)
{
	return (void)path, (void)err, 0;
}

static bool fake_needs(struct keel_mod *m, const char *name, const char *other)
{
	(void)m, (void)other;
	return needed_by && strstr(needed_by, name);
}

static int32_t fake_busy(struct keel_mod *m, const char *name, struct keel_err *err)
{
	(void)m, (void)name;
	return busy_says ? keel_error(err, -ENOTEMPTY, "%s", busy_says) : -EBUSY;
}

static int32_t fake_go(struct keel_mod *m, const char *next, const char *back, struct keel_err *err)
{
	(void)m, (void)err;
	n_gone++;
	snprintf(gone_next, sizeof(gone_next), "%s", next);
	snprintf(gone_back, sizeof(gone_back), "%s", back);
	return 0;
}

static int32_t fake_on_hup(struct keel_mod *m, keel_fn *fn, void *arg)
{
	(void)m, (void)arg;
	hup = fn;
	return 0;
}

static const struct keel_renew_api fake = {
	.size = sizeof(fake), .image = fake_image, .command = fake_command,
	.draft = fake_draft, .apply = fake_apply, .drop = fake_drop, .trust = fake_trust, .needs = fake_needs,
	.busy = fake_busy, .go = fake_go, .on_hup = fake_on_hup,
};

/* The mock has no such group: the module gets it behind its load. */
static void module_start(void)
{
	struct keel_err err;

	module = keel_mock_load(mock, &keel_module, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	KEEL_USE_renew = &fake;
	CU_ASSERT_EQUAL_FATAL(keel_module.start(module, &err), 0);
}

static bool is_idle(void *arg)
{
	(void)arg;
	return !((struct state *)module->state)->first;
}

static void settle(void)
{
	CU_ASSERT_TRUE(keel_mock_run(mock, is_idle, NULL, DEADLINE_MS));
}

static void ready(void)
{
	keel_mock_raise(mock, KEEL_POINT_server_start, KEEL_EVENT(server_start), NULL);
	settle();
}

static void set_up(void)
{
	char *modules, *private;

	dir = scratch_new();
	conf_file = set_path(dir, "keelson.conf");
	modules = set_path(dir, "modules.d");
	private = set_path(dir, "server_priv");
	CU_ASSERT_EQUAL_FATAL(mkdir(modules, 0755), 0);
	CU_ASSERT_EQUAL_FATAL(mkdir(private, 0755), 0);
	free(modules);
	free(private);
	scratch_write(dir, "keelson.conf", "# first\n");
	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_home(mock, dir);
	draft = (struct keel_draft){ .size = sizeof(draft), .modules = rows };
	n_applied = n_gone = n_wrong = 0;
	refused = busy_says = needed_by = NULL;
	check_says = "reload\t1.0\n";
	was = false;
	module_start();
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), n_wrong);
	scratch_remove(dir);
	free(dir);
	free(conf_file);
}

static void say(const char *name, uint32_t flags)
{
	rows[draft.n++] = (struct keel_draft_module){ .name = name, .path = "/nowhere.so", .where = "modules.d/x.conf:1",
						      .version = flags & KEEL_DRAFT_RUNS ? "1" : NULL, .flags = flags };
}
#define ON (KEEL_DRAFT_RUNS | KEEL_DRAFT_ENABLED | KEEL_DRAFT_BY_FILE)

static bool is_over(void *arg)
{
	return ((struct keel_mock_reply *)arg)->told || n_gone;
}

/* The answer: its lines, each with a blank behind it, or the sentence of a refusal. */
static const char *answer(const char *verb, const char *name)
{
	static struct keel_mock_reply reply;
	char request[64], body[128] = "";

	reply = (struct keel_mock_reply){ .told = false };
	snprintf(request, sizeof(request), "keelson.%s", verb);
	if (name)
		snprintf(body, sizeof(body), "args = [\"%s\"]; extend = \"beef\";", name);
	keel_mock_request(mock, keel_mock_session(mock, "root", KEEL_MANAGERS), request, name ? body : NULL, &reply);
	CU_ASSERT_TRUE(keel_mock_run(mock, is_over, &reply, DEADLINE_MS));
	return !reply.told ? "" : reply.code ? reply.text : reply.json;
}

/* ---- tests --------------------------------------------------------------------------------------------------- */
static void a_daemon_that_was_started_with_files_gets_a_set(void)
{
	char *served = set_path(dir, "server_priv/sets/served/conf/keelson.conf"), *text;

	say("one", ON);
	ready();
	text = keel_file_text(served, 100);
	CU_ASSERT_STRING_EQUAL(text, "# first\n");
	free(text);
	free(served);
}

static void without_a_set_values_change_and_nothing_else(void)
{
	say("one", ON | KEEL_DRAFT_VALUES);
	ready();
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "cannot be kept as a set: its files have changed since the daemon was started"));
	CU_ASSERT_STRING_EQUAL(answer("reload", NULL), "{\"lines\": [\"one: configuration changed\"]}");
	CU_ASSERT_EQUAL(n_applied, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer("reload", "one"), "there is no set to go back to"));
	CU_ASSERT_PTR_NOT_NULL(strstr(answer("unload", "one"), "there is no set of what runs"));
	CU_ASSERT_EQUAL(n_gone, 0);
}

static void values_alone_are_applied_and_kept(void)
{
	char *served = set_path(dir, "server_priv/sets/served/conf/keelson.conf"), *text;

	say("one", ON);
	say("two", ON | KEEL_DRAFT_GONE);
	ready();
	rows[0].flags |= KEEL_DRAFT_SITE;
	scratch_write(dir, "keelson.conf", "# second\n");
	CU_ASSERT_STRING_EQUAL(answer("reload", NULL), "{\"lines\": [\"two: its file /nowhere.so is gone; what runs goes on, the next "
						       "start misses it\", \"one: order or match changed\"]}");
	text = keel_file_text(served, 100);
	CU_ASSERT_STRING_EQUAL(text, "# second\n");
	CU_ASSERT_TRUE(by_worker); /* the loop does not wait for the disk */
	CU_ASSERT_EQUAL(n_synced, 2);
	rows[0].flags = rows[1].flags = ON;
	CU_ASSERT_STRING_EQUAL(answer("reload", NULL), "{\"lines\": [\"no module has changed\"]}");
	free(text);
	free(served);
}

static void what_changes_is_described(void)
{
	static const struct {
		const char *name;
		uint32_t flags;
		const char *version, *line;
	} cases[] = {
		{ "one", ON, "1", "one: restarted\n" }, /* it is named */
		{ "two", ON, "1", "no module has changed\n" },
		{ "two", ON | KEEL_DRAFT_FILE, "1", "two: replaced\n" },
		{ "two", ON | KEEL_DRAFT_HOW, "1", "two: restarted\n" },
		{ "two", ON, "2", "two: replaced, version 1 by 2\n" },
		{ "two", KEEL_DRAFT_RUNS, NULL, "two: unloaded\n" },
		{ "two", KEEL_DRAFT_ENABLED, "1", "two: loaded\n" },
		{ "two", KEEL_DRAFT_ENABLED, NULL, "two: passed over, it runs in other daemons than this one\nno module has changed\n" },
		{ "two", KEEL_DRAFT_ENABLED | KEEL_DRAFT_ELSEWHERE, NULL, "no module has changed\n" },
		{ "two", ON | KEEL_DRAFT_FILE | KEEL_DRAFT_VALUES, "1", "two: replaced\ntwo: configuration changed\n" },
	};

	for (size_t i = 0; i < KEEL_COUNT(cases); i++) {
		struct change c = { .mod = module, .kind = CHANGE_RELOAD, .name = "one", .draft = &draft };
		char report[64] = "other\t1\n";

		draft.n = 0;
		say(cases[i].name, cases[i].flags);
		if (cases[i].version)
			snprintf(report, sizeof(report), "other\t1\n%s\t%s\n", cases[i].name, cases[i].version);
		keel_text_init(&c.out);
		describe_set(&c, report);
		CU_ASSERT_STRING_EQUAL(c.out.data, cases[i].line);
		keel_text_fini(&c.out);
	}
}

static void another_set_is_another_image_that_answers(void)
{
	char *sets = set_path(dir, "server_priv/sets"), *text;

	say("one", ON);
	ready();
	rows[0].flags |= KEEL_DRAFT_FILE;
	check_says = "one\t2\nreload\t1.0\n";
	((struct state *)module->state)->start_us = 1300000;
	keel_mock_object(mock, "job", "1.svr"); /* there was none at the start */
	n_wrong = 1; /* reply-missing: in a daemon it is sent again */
	busy_says = "module one is busy: 2 jobs"; /* one that comes again need not be empty */
	answer("reload", "one");
	CU_ASSERT_EQUAL_FATAL(n_gone, 1);
	CU_ASSERT_STRING_EQUAL(strrchr(gone_back, '/'), "/1");
	CU_ASSERT_STRING_EQUAL(strrchr(gone_next, '/'), "/2");
	CU_ASSERT_EQUAL(access(gone_next, F_OK), 0);
	text = text_read(sets, "answer");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "beef\none\nreload of module\nroot@"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nthe daemon restarts: requests wait for about 3 s\none: replaced, version 1 by 2\n"));
	free(text);
	free(sets);
}

/* Then the kernel reaps it, before or after the daemon can wait for it, and how it ended is not known. */
static void a_check_that_another_reaps_is_no_success(void)
{
	const char *text;

	say("one", ON);
	ready();
	signal(SIGCHLD, SIG_IGN);
	check_says = "one\t1\n";
	text = answer("reload", "one");
	CU_ASSERT_TRUE(strcmp(text, "the check of the new set gave no reason") == 0 ||
		       strcmp(text, "cannot wait for the check of the new set") == 0);
	signal(SIGCHLD, SIG_DFL);
	CU_ASSERT_EQUAL(n_gone, 0);
}

/* The library sends the request again. */
static void the_next_image_answers(void)
{
	char *sets = set_path(dir, "server_priv/sets");

	CU_ASSERT_EQUAL(mkdir(sets, 0700), 0);
	CU_ASSERT_EQUAL(text_write(sets, "answer", "beef\none\nreload of module\nroot@h\none: replaced\n", false), 0);
	was = true;
	CU_ASSERT_EQUAL(keel_mock_unload(module, NULL), 0);
	module_start();
	ready();
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Module;one;reload of module, asked for by root@h: done"));
	CU_ASSERT_STRING_EQUAL(answer("reload", "one"), "{\"lines\": [\"one: replaced\"]}");
	CU_ASSERT_STRING_EQUAL(answer("reload", NULL), "{\"lines\": [\"no module has changed\"]}"); /* another one */
	refused = "nothing was changed: it crashed";
	CU_ASSERT_EQUAL(keel_mock_unload(module, NULL), 0);
	module_start();
	ready();
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "reload of module, asked for by root@h, refused: nothing was changed: it crashed"));
	CU_ASSERT_STRING_EQUAL(answer("reload", "one"), refused);
	free(sets);
}

/* A client that comes back a little later than the next change finds its answer. */
static void a_change_waits_until_the_answer_to_the_last_one_is_read(void)
{
	static const char left[] = "beef\none\nreload of module\nroot@h\none: replaced\n";
	char *sets = set_path(dir, "server_priv/sets");

	CU_ASSERT_EQUAL(mkdir(sets, 0700), 0);
	CU_ASSERT_EQUAL(text_write(sets, "answer", left, false), 0);
	was = true;
	for (int is_read = 0; is_read < 2; is_read++) {
		n_applied = 0;
		CU_ASSERT_EQUAL(keel_mock_unload(module, NULL), 0);
		module_start();
		ready();
		hup(module, NULL);
		keel_mock_advance(mock, 1000);
		CU_ASSERT_EQUAL(n_applied, 0);
		if (is_read) {
			CU_ASSERT_STRING_EQUAL(answer("reload", "one"), "{\"lines\": [\"one: replaced\"]}");
		} else {
			keel_mock_advance(mock, 2000); /* it has died */
		}
		settle();
		CU_ASSERT_EQUAL(n_applied, 1);
	}
	free(sets);
}

static bool is_reaped(void *arg)
{
	(void)arg;
	return !((struct state *)module->state)->reaper;
}

/* Those of one that has crashed, too: it has left no list. */
static void children_of_images_before_are_reaped(void)
{
	int ends[2];
	pid_t one, late;

	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	CU_ASSERT_EQUAL(keel_mock_unload(module, NULL), 0);
	late = fork();
	if (late == 0) {
		close(ends[1]);
		_exit((int)read(ends[0], &(char){ 0 }, 1));
	}
	one = fork();
	if (one == 0)
		_exit(0);
	CU_ASSERT_EQUAL(waitid(P_PID, (id_t)one, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	was = true;
	module_start();
	CU_ASSERT_EQUAL(waitpid(one, NULL, WNOHANG), -1);
	CU_ASSERT_EQUAL(waitpid(late, NULL, WNOHANG), 0);
	close(ends[1]);
	close(ends[0]);
	CU_ASSERT_EQUAL(waitid(P_PID, (id_t)late, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	CU_ASSERT_TRUE(keel_mock_run(mock, is_reaped, NULL, DEADLINE_MS));
	CU_ASSERT_EQUAL(waitpid(late, NULL, WNOHANG), -1);
}

static void what_the_check_does_not_like_changes_nothing(void)
{
	static const struct {
		const char *says, *answer;
	} cases[] = {
		{ "!module one: init failed", "module one: init failed" },
		{ "one\t1\n", "nothing was changed: the check of the new set ended before it was done" },
		{ "!", "the check of the new set gave no reason" },
		{ "crash", "nothing was changed: the check of the new set ended by signal 9 (Killed)" },
	};

	say("one", ON);
	ready();
	for (size_t i = 0; i < KEEL_COUNT(cases); i++) {
		check_says = cases[i].says;
		CU_ASSERT_STRING_EQUAL(answer("reload", "one"), cases[i].answer);
	}
	CU_ASSERT_EQUAL(n_gone, 0);
}

static void what_may_not_be_is_said(void)
{
	say("one", ON);
	say("two", ON);
	say("three", ON);
	say("new", KEEL_DRAFT_ENABLED);
	ready();
	CU_ASSERT_STRING_EQUAL(answer("load", "one"), "module one is loaded already; `keelson reload one` loads it anew");
	CU_ASSERT_STRING_EQUAL(answer("unload", "four"), "module four is not loaded");
	CU_ASSERT_STRING_EQUAL(answer("reload", "four"), "module four is not loaded; load it with `keelson load`");
	CU_ASSERT_STRING_EQUAL(answer("load", "../x"), "\"../x\" is no name of a module");
	CU_ASSERT_STRING_EQUAL(answer("load", "new"), "module new does not run in this daemon; its .roles say where it does");
	rows[0].flags = KEEL_DRAFT_RUNS;
	needed_by = "two";
	CU_ASSERT_STRING_EQUAL(answer("unload", "one"), "module one is needed by module two; unload it first");
	needed_by = "two three";
	CU_ASSERT_STRING_EQUAL(answer("reload", NULL), "module one is needed by modules two, three; disable them too");
	needed_by = NULL;
	busy_says = "module one is busy: 2 jobs";
	CU_ASSERT_STRING_EQUAL(answer("unload", "one"), "nothing was changed: module one is busy: 2 jobs");
	rows[0].name = "reload";
	CU_ASSERT_PTR_NOT_NULL(strstr(answer("unload", "reload"), "without module reload nothing can be changed any more"));
	CU_ASSERT_EQUAL(n_gone, 0);
}

/* past modules/reload/change.c WAITING_MAX: the first is under way, sixteen wait. */
static void changes_wait_for_each_other_and_are_not_endless(void)
{
	struct change like = { .kind = CHANGE_CONFIGURE, .who = "ann@test" };
	struct keel_err err;

	ready();
	for (int i = 0; i < 17; i++)
		CU_ASSERT_EQUAL(change_request(module, &like, &err), 0);
	CU_ASSERT_EQUAL(change_request(module, &like, &err), -EBUSY);
	CU_ASSERT_STRING_EQUAL(err.text, "a change asked for by ann@test is under way and 16 others wait; ask again when they are done");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "asked for by ann@test; it waits for that of ann@test"));
	settle();
	CU_ASSERT_EQUAL(n_applied, 17);
}

static void signals_are_one_change_that_waits(void)
{
	ready();
	for (int i = 0; i < 5; i++)
		hup(module, NULL);
	settle();
	CU_ASSERT_EQUAL(n_applied, 2); /* what was under way, and what came after it had begun */
}

static void a_daemon_that_stops_refuses_them(void)
{
	static struct keel_mock_reply first, second;

	say("one", ON);
	ready();
	first = second = (struct keel_mock_reply){ .told = false };
	keel_mock_request(mock, keel_mock_session(mock, "root", KEEL_MANAGERS), "keelson.reload", NULL, &first);
	keel_mock_request(mock, keel_mock_session(mock, "root", KEEL_MANAGERS), "keelson.reload", NULL, &second);
	keel_mock_raise(mock, KEEL_POINT_server_stop, KEEL_EVENT(server_stop), NULL);
	keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(first.text, "nothing was changed: the daemon stops");
	CU_ASSERT_STRING_EQUAL(second.text, "nothing was changed: the daemon stops");
	CU_ASSERT_STRING_EQUAL(answer("reload", NULL), "nothing was changed: the daemon stops");
}

/* ---- files beside the configuration (kind RELOAD) ------------------------------------------------------------- */
static const char *file_wrong;
static uint32_t n_files_read, n_files_applied;

static int32_t file_read(struct keel_mod *owner, struct keel_err *err)
{
	(void)owner;
	n_files_read++;
	return file_wrong ? keel_error(err, -EINVAL, "%s", file_wrong) : 0;
}

static void file_apply(struct keel_mod *owner)
{
	(void)owner;
	n_files_applied++;
}

static const struct keel_reload_def file_row = { .size = sizeof(file_row), .name = "a file", .doc = "a test", .read = file_read,
						 .apply = file_apply };
static const struct keel_contrib file_rows[] = { KEEL_ROW(RELOAD, file_row) };
static struct keel_kernel file_kernel = { .size = sizeof(file_kernel) };
static const struct keel_module file_module = {
	.magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .abi_minor = KEEL_SDK_TARGET, .size = sizeof(file_module),
	.kernel = &file_kernel, .name = "filer", .version = "1", .summary = "a test", .roles = KEEL_SERVER, KEEL_CONTRIBS(file_rows),
};

static void a_file_is_read_before_and_applied_after_the_values(void)
{
	struct keel_err err;

	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &file_module, NULL, &err));
	KEEL_USE_renew = &fake; /* a load has looked for it again */
	say("one", ON);
	ready();
	n_files_read = n_files_applied = 0;
	file_wrong = NULL;
	answer("reload", NULL);
	CU_ASSERT_EQUAL(n_files_read, 1);
	CU_ASSERT_EQUAL(n_files_applied, 1);
	CU_ASSERT_EQUAL(n_applied, 1);
	file_wrong = "line 3 is wrong";
	CU_ASSERT_STRING_EQUAL(answer("reload", NULL), "line 3 is wrong");
	CU_ASSERT_EQUAL(n_files_applied, 1);
	CU_ASSERT_EQUAL(n_applied, 1);
}

TESTS_MAIN_BETWEEN("reload/change", set_up, tear_down, TEST(a_daemon_that_was_started_with_files_gets_a_set),
		   TEST(without_a_set_values_change_and_nothing_else), TEST(values_alone_are_applied_and_kept),
		   TEST(a_file_is_read_before_and_applied_after_the_values),
		   TEST(what_changes_is_described), TEST(another_set_is_another_image_that_answers), TEST(the_next_image_answers),
		   TEST(children_of_images_before_are_reaped),
		   TEST(a_change_waits_until_the_answer_to_the_last_one_is_read),
		   TEST(what_the_check_does_not_like_changes_nothing), TEST(a_check_that_another_reaps_is_no_success),
		   TEST(what_may_not_be_is_said),
		   TEST(changes_wait_for_each_other_and_are_not_endless), TEST(signals_are_one_change_that_waits),
		   TEST(a_daemon_that_stops_refuses_them))
