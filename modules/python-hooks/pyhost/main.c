/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - keelson-pyhost: runs the script of a hook, each time the daemon says so. Started by keelsond; by people with
 * --run and --stubs.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "keel/service/supervise.h"
#include "pyhost.h"

static const char usage[] =
	"keelson-pyhost runs scripts of hooks; keelsond starts it. By hand:\n"
	"  keelson-pyhost --run SCRIPT --event FILE.json [--config FILE]   run a script with a recorded event\n"
	"  keelson-pyhost --stubs FILE.json                                print what scripts can use, as pbs.pyi\n";

/* ---- serving ------------------------------------------------------------------------------------------------------------- */
static void say(const char *word, PyObject *text) /* text may be NULL */
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p);

	pack_text(&p, word);
	if (text && !pack_object_py(&p, text))
		pack_text(&p, "it cannot be said why");
	pack_close(&p, open, text ? 2 : 1);
	PyErr_Clear();
	line_send(&p);
	pack_fini(&p);
}

/* The nth value of a frame that begins with `word`; the daemon says nothing else here. */
static PyObject *taken(const struct frame *f, const char *word, uint32_t n)
{
	struct value v, first, wanted;
	PyObject *ret = NULL;

	if (value_read(f->bytes, f->len, &v) && value_nth(&v, 0, &first) && value_is(&first, word) && value_nth(&v, n, &wanted))
		ret = object_of(&wanted);
	if (!ret)
		_exit(1);
	return ret;
}

static void setup_take(struct script *s)
{
	struct frame *f = line_next();
	PyObject *setup = taken(f, "setup", 1), *dir, *why = NULL;

	free(f);
	if (!PyDict_Check(setup))
		_exit(1);
	dir = PyDict_GetItemString(setup, "dir");
	if (dir && PyUnicode_Check(dir) && chdir(PyUnicode_AsUTF8(dir) ? PyUnicode_AsUTF8(dir) : "") < 0)
		why = PyUnicode_FromFormat("%U: %s", dir, strerror(errno));
	PyErr_Clear();
	if (!why && script_open(s, setup, &why))
		say("up", NULL);
	else
		say("broken", why ? why : Py_None);
	Py_XDECREF(why);
	Py_DECREF(setup);
}

/* Written again without its changes where it is too much. */
static void result_pack(struct pack *p, PyObject *number, PyObject *result)
{
	uint32_t open = pack_open_list(p);

	pack_text(p, "result");
	if (!pack_object_py(p, number) || !pack_object_py(p, result) || p->len > FRAME_MAX)
		p->failed = true;
	pack_close(p, open, 3);
}

static void result_send(PyObject *number, PyObject *result)
{
	struct pack p = { .data = NULL };
	PyObject *why, *less;

	result_pack(&p, number, result);
	if (p.failed) {
		why = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_ValueError) ? exception_why() :
									     PyUnicode_FromString("it changed too much");
		PyErr_Clear();
		less = script_failed(why);
		if (!less || PyDict_SetItemString(less, "retire", Py_True) < 0)
			_exit(1);
		pack_fini(&p);
		result_pack(&p, number, less);
		Py_DECREF(less);
		Py_XDECREF(why);
	}
	line_send(&p);
	pack_fini(&p);
}

static void call_take(struct script *s)
{
	struct frame *f = line_next();
	PyObject *number = taken(f, "call", 1), *event = taken(f, "call", 2), *result;

	free(f);
	result = script_run(s, event);
	if (!result)
		_exit(1);
	result_send(number, result);
	Py_DECREF(number);
	Py_DECREF(event);
	Py_DECREF(result);
}

static int serve(const char *packages)
{
	struct script s;

	if (line_open(KEEL_SUPERVISE_FD) < 0) {
		fputs(usage, stderr);
		return 2;
	}
	if (!python_start(packages))
		return 1;
	for (setup_take(&s);;)
		call_take(&s);
}

/* ---- how it is started ----------------------------------------------------------------------------------------------------- */
enum way { CHECK = 1, RUN, EVENT, CONFIG, STUBS, COMPILE, PACKAGES, OPTIONS };

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "check", no_argument, NULL, CHECK },	    { "run", required_argument, NULL, RUN },
		{ "event", required_argument, NULL, EVENT },   { "config", required_argument, NULL, CONFIG },
		{ "stubs", required_argument, NULL, STUBS },   { "compile", required_argument, NULL, COMPILE },
		{ "packages", required_argument, NULL, PACKAGES }, { NULL, 0, NULL, 0 },
	};
	const char *given[OPTIONS] = { NULL };
	int which;

	while ((which = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (which == '?') {
			fputs(usage, stderr);
			return 2;
		}
		given[which] = optarg ? optarg : "";
	}
	(void)given;
	leave(NULL, serve(given[PACKAGES]));
}
