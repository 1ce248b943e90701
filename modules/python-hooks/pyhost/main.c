/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - keelson-pyhost: runs the script of a hook, each time the daemon says so. Started by keelsond; by people with
 * --run and --stubs.
 */
#include <getopt.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "keel/service/supervise.h"
#include "pyhost.h"
#include "program/version_word.h"

static const char usage[] =
	"keelson-pyhost runs scripts of hooks; keelsond starts it. By hand:\n"
	"  keelson-pyhost --run SCRIPT --event FILE.json [--config FILE] [--tables FILE.json]   run a script with a recorded event\n"
	"  keelson-pyhost --stubs FILE.json   print what scripts can use, as pbs.pyi\n";

/* --compile and --packages are for the build and for tests. */
enum way { CHECK = 1, RUN, EVENT, CONFIG, STUBS, COMPILE, PACKAGES, TABLES, WAYS };

/* ---- frames of Python's objects --------------------------------------------------------------------------- */
PyObject *frame_taken(struct frame *f, const char *word, uint32_t n)
{
	struct value v, first;
	PyObject *ret = NULL;

	if (value_read(f->bytes, f->len, &v) && v.count == n && value_nth(&v, 0, &first) && value_is(&first, word))
		ret = object_of(&v);
	free(f);
	if (!ret)
		_exit(1);
	return ret;
}

/* False: an exception is set, or there is no memory. */
static bool frame_pack(struct pack *p, const char *word, PyObject *first, PyObject *second)
{
	uint32_t open = pack_open_list(p);
	bool ok;

	pack_text(p, word);
	ok = (!first || pack_object(p, first)) && (!second || pack_object(p, second));
	pack_close(p, open, 1 + (first != NULL) + (second != NULL));
	return ok && !p->failed;
}

void frame_say(const char *word, PyObject *first, PyObject *second)
{
	struct pack p = { .data = NULL };

	if (!frame_pack(&p, word, first, second))
		_exit(1);
	line_send(&p);
	pack_fini(&p);
}

/* ---- serving ---------------------------------------------------------------------------------------------- */
static void setup_take(struct script *s)
{
	PyObject *frame = frame_taken(line_next(), "setup", 2), *setup = PyList_GET_ITEM(frame, 1), *why = NULL;

	if (!PyDict_Check(setup))
		_exit(1);
	if (script_open(s, setup, &why))
		frame_say("up", NULL, NULL);
	else
		frame_say("broken", why ? why : Py_None, NULL);
	Py_XDECREF(why);
	Py_DECREF(frame);
}

/* What cannot be sent is the script's error. */
static PyObject *unsent(void)
{
	PyObject *why, *less;

	if (PyErr_ExceptionMatches(PyExc_BufferError)) {
		PyErr_Clear();
		why = PyUnicode_FromString("it changed too much");
	} else {
		why = exception_why();
	}
	less = why ? script_failed(why) : NULL;
	if (!less || PyDict_SetItemString(less, "retire", Py_True) < 0)
		_exit(1);
	Py_DECREF(why);
	return less;
}

static void result_send(PyObject *number, PyObject *result)
{
	struct pack p = { .data = NULL };
	PyObject *less;

	if (frame_pack(&p, "result", number, result)) {
		line_send(&p);
	} else {
		less = unsent();
		frame_say("result", number, less);
		Py_DECREF(less);
	}
	pack_fini(&p);
}

static void call_take(struct script *s)
{
	PyObject *frame = frame_taken(line_next(), "call", 3), *result = script_run(s, PyList_GET_ITEM(frame, 2));

	if (!result)
		_exit(1);
	result_send(PyList_GET_ITEM(frame, 1), result);
	Py_DECREF(frame);
	Py_DECREF(result);
}

static _Noreturn void serve_calls(void)
{
	struct script s;

	for (setup_take(&s);;)
		call_take(&s);
}

/* By the daemon. */
static int serve(const char *packages, void (*calls)(void))
{
	/* Other programs of this user, the owner of a job perhaps, do not look into it, nor write there. */
#if !defined(__SANITIZE_ADDRESS__) /* which reads its own memory so */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return 1;
#endif
	if (line_open(KEEL_SUPERVISE_FD) < 0) {
		fputs(usage, stderr);
		return 2;
	}
	if (python_start(packages))
		calls(); /* which leaves with the daemon */
	return 1;
}

/* What could not be written was not said. */
static int written(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fputs("keelson-pyhost: cannot write the answer\n", stderr);
	return 2;
}

/* By a person. */
static int by_hand(const char *const *given)
{
	if (!python_start(given[PACKAGES])) {
		fprintf(stderr, "keelson-pyhost: Python cannot be started: is python%s installed?\n", PYHOST_VERSION);
		return 2;
	}
	if (given[COMPILE])
		return offline_compile(given[COMPILE]);
	return written(given[STUBS] ? offline_stubs(given[STUBS]) : offline_run(given[RUN], given[EVENT], given[CONFIG], given[TABLES]));
}

static int go(const char *const *given)
{
	if (given[COMPILE] || given[STUBS] || (given[RUN] && given[EVENT]))
		return by_hand(given);
	if (given[RUN] || given[EVENT] || given[CONFIG] || given[TABLES]) {
		fputs(usage, stderr);
		return 2;
	}
	return serve(given[PACKAGES], given[CHECK] ? check_serve : serve_calls);
}

/* ---- how it is started ------------------------------------------------------------------------------------ */
int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "check", no_argument, NULL, CHECK },	       { "run", required_argument, NULL, RUN },
		{ "event", required_argument, NULL, EVENT },   { "config", required_argument, NULL, CONFIG },
		{ "stubs", required_argument, NULL, STUBS },   { "compile", required_argument, NULL, COMPILE },
		{ "packages", required_argument, NULL, PACKAGES }, { "tables", required_argument, NULL, TABLES },
		{ NULL, 0, NULL, 0 },
	};
	const char *given[WAYS] = { NULL };
	int which;

	if (version_word(argc, argv))
		return 0;
	while ((which = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (which == '?')
			break;
		given[which] = optarg ? optarg : "";
	}
	if (which == '?' || optind < argc) {
		fputs(usage, stderr);
		return 2;
	}
	leave(go(given));
}
