/* SPDX-License-Identifier: Apache-2.0
 *
 * late.c - a script that is about to hit its alarm: the log says where it stands, since it says nothing more itself.
 *
 * A signal wakes the interpreter, also from a sleep or a read. A script that stands in a library, or in a file system that does not
 * answer, is ended without.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "pyhost.h"

#define EARLY_MS 1000 /* before the alarm; a tenth of a short one */
#define LINES_MAX 40  /* of the log */
#define LOG_ERROR 1   /* enum keel_log_event */

static timer_t timer;
static bool is_there; /* the timer */
static PyObject *name;
static const struct script *script; /* that runs */
static long alarm_s;

/* ---- what it says ----------------------------------------------------------------------------------------- */
static void line_say(PyObject *text)
{
	PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : NULL;
	const char *hook = PyUnicode_AsUTF8(name);

	if (bytes && hook)
		bridge->log(LOG_ERROR, "Hook", hook, PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes));
	Py_XDECREF(bytes);
}

/* Of an entry that is several lines each. */
static void entry_say(PyObject *entry, int *left)
{
	PyObject *lines = PyUnicode_Splitlines(entry, 0);

	for (Py_ssize_t i = 0; lines && i < PyList_GET_SIZE(lines) && --*left >= 0; i++)
		line_say(PyList_GET_ITEM(lines, i));
	Py_XDECREF(lines);
}

static PyObject *on_late(PyObject *self, PyObject *args)
{
	PyObject *frame = PyTuple_GET_SIZE(args) > 1 ? PyTuple_GET_ITEM(args, 1) : Py_None, *traceback, *entries, *text;
	int left = LINES_MAX;

	(void)self;
	text = PyUnicode_FromFormat("it is close to its alarm of %ld s; it stands here:", alarm_s);
	line_say(text);
	Py_XDECREF(text);
	script_lines(script);
	traceback = PyImport_ImportModule("traceback");
	entries = traceback ? PyObject_CallMethod(traceback, "format_stack", "Oi", frame, -LINES_MAX / 2) : NULL;
	for (Py_ssize_t i = 0; entries && PyList_Check(entries) && i < PyList_GET_SIZE(entries); i++)
		entry_say(PyList_GET_ITEM(entries, i), &left);
	Py_XDECREF(entries);
	Py_XDECREF(traceback);
	PyErr_Clear();
	Py_RETURN_NONE;
}

/* ---- when ------------------------------------------------------------------------------------------------- */
void late_open(PyObject *setup)
{
	static PyMethodDef method = { "late", on_late, METH_VARARGS, NULL };
	struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX };
	PyObject *fn = PyCFunction_New(&method, NULL), *module = PyImport_ImportModule("_signal");
	PyObject *r = fn && module ? PyObject_CallMethod(module, "signal", "iO", SIGRTMAX, fn) : NULL;

	name = PyDict_GetItemString(setup, "hook");
	Py_XINCREF(name);
	is_there = r && name && PyUnicode_Check(name) && timer_create(CLOCK_MONOTONIC, &how, &timer) == 0;
	Py_XDECREF(r);
	Py_XDECREF(module);
	Py_XDECREF(fn);
	PyErr_Clear();
}

static void timer_in(int64_t ms)
{
	struct itimerspec in = { .it_value = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 } };

	if (is_there)
		timer_settime(timer, 0, &in, NULL);
}

/* Seconds, as a number or as a text. 0: it has none. */
static long seconds_of(PyObject *event)
{
	PyObject *hook = PyDict_Check(event) ? PyDict_GetItemString(event, "hook") : NULL;
	PyObject *value = hook && PyDict_Check(hook) ? PyDict_GetItemString(hook, "alarm") : NULL;
	const char *text = value && PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;
	long n = text ? strtol(text, NULL, 10) : value && PyLong_Check(value) ? PyLong_AsLong(value) : 0;

	PyErr_Clear();
	return n > 0 && n < INT32_MAX ? n : 0;
}

void late_begin(const struct script *s, PyObject *event)
{
	int64_t ms;

	script = s;
	alarm_s = seconds_of(event);
	ms = (int64_t)alarm_s * 1000;
	if (ms > 0)
		timer_in(ms - (ms / 10 < EARLY_MS ? ms / 10 : EARLY_MS));
}

void late_end(void)
{
	timer_in(0);
}
