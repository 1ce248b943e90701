/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pyhost.c - keelson-pyhost over its socket: whatever a script does, there is a result or an end. Package pbs is a small
 * one of this file.
 */
#include "test_pyhost.h"

static const char package[] =
	"import _keelson\n"
	"class state: pass\n"
	"conf = {}\n"
	"def _setup(setup):\n"
	"    if setup['hook'] == 'bad': raise ValueError('no tables')\n"
	"def _begin(event):\n"
	"    globals()['conf'] = {}\n"
	"    state.event, state.how, state.text, state.changes = event, 'accept', None, []\n"
	"def _end(exc):\n"
	"    return {'how': state.how, 'text': state.text, 'changes': state.changes}\n"
	"def reject(text):\n"
	"    state.how, state.text = 'reject', text\n"
	"    raise SystemExit\n"
	"def change(name, key, text): state.changes.append(['job', name, key, text])\n"
	"def ask(*question): return _keelson.ask(list(question))\n"
	"def log(text): _keelson.log(4, 'Hook', 'x', text)\n"
	"def event(): return state.event\n";

/* ---- ends of a script ------------------------------------------------------------------------------------- */
static void a_script_ends(void)
{
	CU_ASSERT_STRING_EQUAL(run("import pbs"), "accept");
	CU_ASSERT_EQUAL(retires(), 0);
	CU_ASSERT_STRING_EQUAL(call(), "result");
	CU_ASSERT_STRING_EQUAL(run("import sys\nsys.exit(3)\nx"), "accept");
	CU_ASSERT_STRING_EQUAL(run("import pbs\npbs.reject('no')\nx"), "reject");
	CU_ASSERT_STRING_EQUAL(result("text"), "no");
	CU_ASSERT_STRING_EQUAL(run("import pbs\npbs.change('a', 'b', 'c')"), "accept");
	CU_ASSERT_STRING_EQUAL(run("import pbs\ntry: pbs.reject('no')\nexcept: pass"), "reject");
}

static void a_script_raises(void)
{
	CU_ASSERT_STRING_EQUAL(run("x = 1\n1/0"), "exception");
	CU_ASSERT_STRING_EQUAL(result("text"), "ZeroDivisionError: division by zero");
	CU_ASSERT_TRUE(has(result("trace"), "File \"h1.PY\", line 2, in <module>\n    1/0\n"));
	CU_ASSERT_STRING_EQUAL(run("raise KeyboardInterrupt"), "exception");
	CU_ASSERT_STRING_EQUAL(result("text"), "KeyboardInterrupt");
	CU_ASSERT_STRING_EQUAL(run("raise ValueError('a\\nb\\x01c\\udc80\\ud800')"), "exception");
	CU_ASSERT_STRING_EQUAL(result("text"), "ValueError: a b c\\udc80\\ud800");
	CU_ASSERT_STRING_EQUAL(run("class E(BaseException):\n  def __str__(self): raise KeyError\nraise E"), "exception");
	CU_ASSERT_STRING_EQUAL(result("text"), "E");
	/* past modules/python-hooks/pyhost/script.c TEXT_MAX, past modules/python-hooks/pyhost/script.c TRACE_MAX */
	CU_ASSERT_STRING_EQUAL(run("raise ValueError('x' * 10**7)"), "exception");
	CU_ASSERT_EQUAL(strlen(result("text")), 1024);
	CU_ASSERT_TRUE(strlen(result("trace")) < 8300);
	/* past modules/python-hooks/pyhost/script.c FRAMES_MAX */
	CU_ASSERT_STRING_EQUAL(run("def f(): f()\nf()"), "exception");
	CU_ASSERT_TRUE(has(result("text"), "RecursionError: "));
	CU_ASSERT_EQUAL(retires(), 0);
}

static void a_script_that_is_none(void)
{
	CU_ASSERT_STRING_EQUAL(serves("x = 1\ndef (\n"), "broken");
	CU_ASSERT_TRUE(nth_is(1, "SyntaxError: invalid syntax (h1.PY, line 2)"));
	finish();
	begin(NULL);
	setup_of("h1", "a\0b", 3);
	CU_ASSERT_STRING_EQUAL(hear(), "broken");
	CU_ASSERT_TRUE(nth_is(1, "SyntaxError: there is a null byte in the script"));
	finish();
	begin(NULL);
	setup_of("bad", "", 0);
	CU_ASSERT_STRING_EQUAL(hear(), "broken");
	CU_ASSERT_TRUE(nth_is(1, "ValueError: no tables"));
	CU_ASSERT_STRING_EQUAL(serves("# -*- coding: latin-1 -*-\nx = '\xe4'"), "up");
}

/* ---- questions -------------------------------------------------------------------------------------------- */
static void a_script_asks(void)
{
	CU_ASSERT_STRING_EQUAL_FATAL(serves("import pbs\npbs.log('hi')\npbs.reject(pbs.ask('object', 'job', None, 5, [1]))"), "up");
	CU_ASSERT_STRING_EQUAL(call(), "log");
	CU_ASSERT_TRUE(nth_is(2, "Hook") && nth_is(3, "x") && nth_is(4, "hi"));
	CU_ASSERT_STRING_EQUAL(hear(), "ask");
	CU_ASSERT_TRUE(nth_is(1, "object") && nth_is(2, "job"));
	call_send(); /* which waits its turn */
	answer("one");
	CU_ASSERT_STRING_EQUAL(hear(), "result");
	CU_ASSERT_STRING_EQUAL(result("text"), "one");
	CU_ASSERT_STRING_EQUAL(hear(), "log");
	CU_ASSERT_STRING_EQUAL(hear(), "ask");
	answer("t\xffwo");
	CU_ASSERT_STRING_EQUAL(hear(), "result");
	CU_ASSERT_STRING_EQUAL(result("text"), "t\xffwo");
}

/* ---- close to the alarm ----------------------------------------------------------------------------------- */
static void call_of_alarm(const char *seconds)
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p), event, hook;

	pack_text(&p, "call");
	pack_int(&p, ++host.number);
	event = pack_open_map(&p);
	pack_key(&p, "hook");
	hook = pack_open_map(&p);
	pack_pair_text(&p, "alarm", seconds);
	pack_close(&p, hook, 1);
	pack_close(&p, event, 1);
	pack_close(&p, open, 3);
	say(&p);
}

/* past modules/python-hooks/pyhost/late.c LINES_MAX */
static void a_script_is_late(void)
{
	int lines = 0;
	bool there = false;

	CU_ASSERT_STRING_EQUAL_FATAL(serves("import time\ndef g(n): f(n)\ndef f(n):\n  g(n - 1) if n else time.sleep(1.5)\nf(100)"), "up");
	call_of_alarm("1");
	CU_ASSERT_STRING_EQUAL(hear(), "log");
	CU_ASSERT_TRUE(nth_is(3, "h1") && nth_is(4, "it is close to its alarm of 1 s; it stands here:"));
	for (; strcmp(hear(), "log") == 0; lines++)
		there |= nth_is(4, "  File \"h1.PY\", line 4, in f");
	CU_ASSERT_TRUE(there);
	CU_ASSERT_EQUAL(lines, 40);
	CU_ASSERT_STRING_EQUAL(result("how"), "accept");
	CU_ASSERT_EQUAL(retires(), 0);
	call_of_alarm("9999999999999999999");
	CU_ASSERT_STRING_EQUAL(hear(), "result");
}

/* A few values, and what a script makes of them: the same. */
static void put_any(struct pack *p, uint32_t *seed, int depth)
{
	static const char *const texts[] = { "", "x", "\xc3\xa4", "\xff\xfe", "\xed\xa0\x80", "a\nb", "\xf0\x9f\x98\x80", "\x80" };
	uint32_t kind = pick(seed, depth > 0 ? 6 : 4), n = pick(seed, 5), open;
	char key[16];

	if (kind == 0) {
		pack_nothing(p);
	} else if (kind == 1) {
		pack_int(p, (int64_t)(UINT64_C(0x8000000000000000) >> pick(seed, 64)) * (pick(seed, 2) ? 1 : -1));
	} else if (kind == 2) {
		pack_text(p, texts[pick(seed, 8)]);
	} else if (kind == 3) {
		pack_bytes(p, "a\0b", 3);
	} else {
		open = kind == 4 ? pack_open_list(p) : pack_open_map(p);
		for (uint32_t i = 0; i < n; i++) {
			snprintf(key, sizeof(key), "\xfe%u", i);
			if (kind == 5)
				pack_key(p, key);
			put_any(p, seed, depth - 1);
		}
		pack_close(p, open, n);
	}
}

static void values_come_back_as_they_went(void)
{
	uint32_t seed = 1, open, list;

	CU_ASSERT_STRING_EQUAL_FATAL(serves("import pbs\npbs.ask(*pbs.event())"), "up");
	for (int i = 0; i < 300; i++) {
		struct pack p = { .data = NULL }, event = { .data = NULL }, asked = { .data = NULL };

		list = pack_open_list(&event);
		put_any(&event, &seed, TALK_DEPTH - 3);
		pack_close(&event, list, 1);
		open = pack_open_list(&asked);
		pack_text(&asked, "ask");
		pack_raw(&asked, &event);
		pack_close(&asked, open, 2);
		open = pack_open_list(&p);
		pack_text(&p, "call");
		pack_int(&p, i);
		pack_raw(&p, &event);
		pack_close(&p, open, 3);
		say(&p);
		CU_ASSERT_STRING_EQUAL_FATAL(hear(), "ask");
		/* the question is the list's value behind "ask", without the head of that list */
		CU_ASSERT_EQUAL(host.len, asked.len - 5);
		CU_ASSERT_EQUAL(memcmp(host.frame + 13, asked.data + 18, host.len - 13), 0);
		answer("");
		CU_ASSERT_STRING_EQUAL(hear(), "result");
		pack_fini(&event);
		pack_fini(&asked);
	}
}

static void a_question_that_cannot_be_sent(void)
{
	static const char *const scripts[] = {
		"import pbs\npbs.ask('x' * 2000000)",
		"import pbs\npbs.ask(['x' * 100000] * 20)",
		"import pbs\npbs.ask('\\ud800')",
		"import pbs\npbs.ask(1.5)",
		"import pbs\npbs.ask({1: 2})",
		"import pbs\npbs.ask(1 << 64)",
		"import pbs\na = []\na.append(a)\npbs.ask(a)",
		"import _keelson\n_keelson.ask('x')",
	};

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		CU_ASSERT_STRING_EQUAL(run(scripts[i]), "exception");
		CU_ASSERT_TRUE(has(result("trace"), "ask("));
		CU_ASSERT_EQUAL(retires(), 0);
	}
}

static void a_result_that_cannot_be_sent(void)
{
	/* past modules/python-hooks/pyhost/pyhost.h FRAME_MAX */
	CU_ASSERT_STRING_EQUAL(run("import pbs\nfor i in range(200): pbs.change('a', str(i), 'x' * 10000)"), "exception");
	CU_ASSERT_STRING_EQUAL(result("text"), "it changed too much");
	CU_ASSERT_STRING_EQUAL(run("import pbs\npbs.change('a', None, '\\ud800')"), "exception");
	CU_ASSERT_TRUE(has(result("text"), "UnicodeEncodeError"));
	CU_ASSERT_EQUAL(retires(), 1);
	CU_ASSERT_STRING_EQUAL(run("import pbs\npbs._end = lambda exc: 1"), "exception");
}

static void a_long_line_of_a_log(void)
{
	struct value text;

	/* past modules/python-hooks/pyhost/bridge.c LOG_TEXT_MAX */
	CU_ASSERT_STRING_EQUAL_FATAL(serves("import pbs\npbs.log('x' * 65537 + '\\ud800')"), "up");
	CU_ASSERT_STRING_EQUAL(call(), "log");
	CU_ASSERT_TRUE(value_nth(&host.v, 4, &text) && text.len == 65536);
	CU_ASSERT_STRING_EQUAL(hear(), "result");
}

/* ---- what is left for the next run ------------------------------------------------------------------------ */
static void nothing_is_left(void)
{
	CU_ASSERT_STRING_EQUAL(run("import pbs, sys, os, builtins\n"
				   "left = ['len' if builtins.len(sys.path) > 50 else '']\n"
				   "for name in ('y',): left.append('y' if name in globals() else '')\n"
				   "left.append('event' if not callable(pbs.event) else '')\n"
				   "left.append('new' if hasattr(pbs, 'new') or hasattr(builtins, 'new') else '')\n"
				   "left.append('env' if 'NEW' in os.environ or 'PATH' not in os.environ else '')\n"
				   "left.append('cwd' if os.getcwd() == '/' else '')\n"
				   "left.append('stdout' if sys.stdout is None else '')\n"
				   "left.append('sys' if sys.exit is None else '')\n"
				   "import locale, gc\n"
				   "left.append('locale' if locale.setlocale(locale.LC_ALL) == 'C.UTF-8' else '')\n"
				   "left.append('umask' if os.umask(0o123) == 0o123 else '')\n"
				   "left.append('gc' if not gc.isenabled() else '')\n"
				   "try: locale.setlocale(locale.LC_ALL, 'C.UTF-8')\n"
				   "except locale.Error: pass\n"
				   "gc.disable()\n"
				   "left.append('limit' if sys.getrecursionlimit() == 500 else '')\n"
				   "left.append('main' if sys.modules['__main__'].__dict__ is not globals() else '')\n"
				   "y = pbs.event = builtins.len = sys.stdout = sys.exit = None\n"
				   "pbs.new = builtins.new = 1\n"
				   "sys.path += ['/x'] * 60\n"
				   "os.chdir('/')\n"
				   "os.environ.clear()\n"
				   "os.environ['NEW'] = 'x'\n"
				   "sys.setrecursionlimit(500)\n"
				   "sys.modules['pbs'] = None\n"
				   "pbs.reject(''.join(left))"),
			       "reject");
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_STRING_EQUAL(result("how"), "reject");
		CU_ASSERT_STRING_EQUAL(result("text"), "");
		CU_ASSERT_EQUAL(retires(), 0);
		CU_ASSERT_STRING_EQUAL(call(), "result");
	}
}

static void what_cannot_be_undone_ends_the_process(void)
{
	static const char *const scripts[] = {
		"import threading, time\nthreading.Thread(target=time.sleep, args=(100,)).start()",
		"import os\nif os.fork() == 0: os._exit(0)",
		"import os, pbs\nos.fork()", /* a child that goes on says nothing */
		"import subprocess\nsubprocess.run(['true'])",
		"import os\nos.system('true')",
		"import ctypes\nctypes.CDLL(None).getpid()",
		"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)",
		"import signal\nsignal.alarm(100)",
		"import sys\nsys.settrace(lambda *a: None)",
		"import resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
		"import os\nos.closerange(0, 3)",
		"import sys\nsys.stdout.close()",
		"import sys\nsys.modules.clear()",
		"import os, builtins\nbuiltins.left = [open('/dev/null') for i in range(100)]\nimport re\nre.left = left",
	};

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		CU_ASSERT_STRING_EQUAL(run(scripts[i]), "accept");
		CU_ASSERT_EQUAL(retires(), 1);
		if (retires() != 1)
			printf("%s\n", scripts[i]);
	}
	CU_ASSERT_STRING_EQUAL(run("raise MemoryError"), "exception");
	CU_ASSERT_EQUAL(retires(), 1);
	CU_ASSERT_STRING_EQUAL(run("import ctypes, signal, subprocess, threading"), "accept");
	CU_ASSERT_EQUAL(retires(), 0);
}

/* ---- what ends it ----------------------------------------------------------------------------------------- */
static void a_script_ends_the_process(void)
{
	CU_ASSERT_STRING_EQUAL(run("import os\nos._exit(3)"), "");
	CU_ASSERT_EQUAL(WEXITSTATUS(ended()), 3);
	CU_ASSERT_STRING_EQUAL(run("import os\nos.kill(os.getpid(), 11)"), "");
	CU_ASSERT_TRUE(ended() != 0); /* by the signal, or by a sanitizer that has it */
	CU_ASSERT_STRING_EQUAL(run("import os\nos.execv('/bin/true', ['true'])"), "");
	ended();
}

static void a_script_takes_the_line_away(void)
{
	CU_ASSERT_STRING_EQUAL(run("import os\nos.closerange(3, 65536)"), "");
	CU_ASSERT_EQUAL(WEXITSTATUS(ended()), 1);
	CU_ASSERT_STRING_EQUAL(run("import os\nfor i in range(3, 1024):\n  os.dup2(1, i)\nimport pbs\npbs.ask('x')"), "");
	CU_ASSERT_EQUAL(WEXITSTATUS(ended()), 1);
	CU_ASSERT_STRING_EQUAL(run("import os\ntry: os.write(3, b'x' * 100)\nexcept OSError: os.close(0)"), "accept");
}

/* past modules/python-hooks/pyhost/line.c LINE_FD_MAX: the last one there is */
static void few_descriptors(void)
{
	host.files = 32;
	CU_ASSERT_STRING_EQUAL(run("import os\nos.closerange(3, 31)"), "accept");
	CU_ASSERT_STRING_EQUAL(run("import os\nos.closerange(3, 32)"), "");
	host.files = 0;
}

static void much_output_is_no_matter(void)
{
	CU_ASSERT_STRING_EQUAL(run("for i in range(1000): print('x' * 100000)"), "accept");
}

static void the_daemon_goes(void)
{
	CU_ASSERT_STRING_EQUAL_FATAL(serves("import pbs\npbs.ask('x')"), "up");
	finish();
	CU_ASSERT_EQUAL(host.status, 0);
	CU_ASSERT_STRING_EQUAL_FATAL(serves("import pbs\npbs.ask('x')"), "up");
	CU_ASSERT_STRING_EQUAL(call(), "ask");
	finish();
	CU_ASSERT_EQUAL(host.status, 0);
	begin(NULL); /* past modules/python-hooks/pyhost/line.c FRAME_IN_MAX */
	send(host.fd, "\xff\xff\xff\xff", 4, MSG_NOSIGNAL);
	CU_ASSERT_STRING_EQUAL(hear(), "");
	CU_ASSERT_EQUAL(WEXITSTATUS(ended()), 1);
	begin(NULL);
	send(host.fd, "\1\0\0\0q", 5, MSG_NOSIGNAL);
	CU_ASSERT_STRING_EQUAL(hear(), "");
	CU_ASSERT_EQUAL(WEXITSTATUS(ended()), 1);
}

/* ---- --check ---------------------------------------------------------------------------------------------- */
static const char *checked(const char *name, const char *text)
{
	static char why[256];
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p);
	struct value v;
	char *copy;

	pack_text(&p, "check");
	pack_int(&p, 7);
	pack_text(&p, name);
	pack_text(&p, text);
	pack_close(&p, open, 4);
	say(&p);
	CU_ASSERT_STRING_EQUAL_FATAL(hear(), "checked");
	CU_ASSERT_TRUE_FATAL(value_nth(&host.v, 1, &v) && v.i == 7 && value_nth(&host.v, 2, &v));
	copy = value_text(&v);
	snprintf(why, sizeof(why), "%s", copy ? copy : "");
	free(copy);
	return why;
}

static void texts_are_checked(void)
{
	finish();
	begin("--check");
	CU_ASSERT_STRING_EQUAL(checked("h1.PY", "def ("), "SyntaxError: invalid syntax (h1.PY, line 1)");
	CU_ASSERT_STRING_EQUAL(checked("h1.PY", "this is not python"), "");
	CU_ASSERT_TRUE(has(checked("h1.json", "{"), "JSONDecodeError: "));
	CU_ASSERT_STRING_EQUAL(checked("h1.json", "{\"a\": [1]}"), "");
	CU_ASSERT_TRUE(has(checked("h1.ini", "x"), "MissingSectionHeaderError: "));
	CU_ASSERT_STRING_EQUAL(checked("h1.ini", "[a]\nb = 1%\n"), "");
	CU_ASSERT_TRUE(has(checked("h1.py", "("), "SyntaxError: "));
	CU_ASSERT_STRING_EQUAL(checked("h1.xml", "<"), "");
}

/* ---- without a daemon ------------------------------------------------------------------------------------- */
/* The exit status of --run; what it printed is in `said`. */
static int run_offline(const char *script, const char *record, char *said, size_t size)
{
	char command[4 * PATH_MAX];
	FILE *f;
	size_t n;

	scratch_write(scratch, "h1.py", script);
	scratch_write(scratch, "record.json", record);
	snprintf(command, sizeof(command), "%s --packages=%s --run %s/h1.py --event %s/record.json --config /c.ini 2>&1", program, scratch,
		 scratch, scratch);
	f = popen(command, "r");
	n = fread(said, 1, size - 1, f);
	said[n] = '\0';
	return WEXITSTATUS(pclose(f));
}

static void a_script_runs_without_a_daemon(void)
{
	static const char record[] = "{\"setup\": {\"hook\": \"h1\"}, \"event\": {\"a\": 1}, \"answers\": [[[\"x\"], \"y\"]]}";
	char said[4096];

	CU_ASSERT_EQUAL(run_offline("import pbs\nprint(pbs.event(), pbs.ask('x'), pbs.ask('z'), pbs.ask('list'))\npbs.log('hi')\n"
				    "pbs.change('Resource_List', 'ncpus', '2')\npbs.change('comment', None, None)\n",
				    record, said, sizeof(said)),
			0);
	CU_ASSERT_STRING_EQUAL(said, "{'a': 1} y None ([], None)\nlog 0004;Hook;x;hi\nchange job Resource_List.ncpus = 2\n"
				     "change job comment is unset\naccepted\n");
	CU_ASSERT_EQUAL(run_offline("import pbs\npbs.reject('no')", record, said, sizeof(said)), 1);
	CU_ASSERT_STRING_EQUAL(said, "rejected: no\n");
	CU_ASSERT_EQUAL(run_offline("1/0", record, said, sizeof(said)), 2);
	CU_ASSERT_TRUE(has(said, "exception: ZeroDivisionError: division by zero\n"));
	CU_ASSERT_EQUAL(run_offline("def (", record, said, sizeof(said)), 2);
	CU_ASSERT_TRUE(has(said, "broken: SyntaxError: "));
	CU_ASSERT_EQUAL(run_offline("", "[]", said, sizeof(said)), 2);
	CU_ASSERT_TRUE(has(said, "has no map \"setup\""));
	CU_ASSERT_EQUAL(run_offline("", "{", said, sizeof(said)), 2);
}

/* ----------------------------------------------------------------------------------------------------------- */
static void package_write(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/pbs", scratch);
	mkdir(path, 0700);
	scratch_write(path, "__init__.py", package);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_script_ends), TEST(a_script_raises), TEST(a_script_that_is_none), TEST(a_script_asks), TEST(a_script_is_late),
		TEST(a_question_that_cannot_be_sent), TEST(a_result_that_cannot_be_sent), TEST(nothing_is_left),
		TEST(what_cannot_be_undone_ends_the_process), TEST(a_script_ends_the_process), TEST(a_script_takes_the_line_away),
		TEST(much_output_is_no_matter), TEST(the_daemon_goes), TEST(texts_are_checked),
		TEST(values_come_back_as_they_went), TEST(a_long_line_of_a_log), TEST(few_descriptors),
		TEST(a_script_runs_without_a_daemon),
	};
	int ret;

	snprintf(program, sizeof(program), "%s/libexec/keelson/keelson-pyhost", getenv("KEELSON_BUILD") ? getenv("KEELSON_BUILD") : ".");
	scratch = scratch_new();
	package_write();
	ret = tests_run_between("pyhost", NULL, finish, tests, sizeof(tests) / sizeof(tests[0]));
	scratch_remove(scratch);
	free(scratch);
	return ret;
}
