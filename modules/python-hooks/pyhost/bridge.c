/* SPDX-License-Identifier: Apache-2.0
 *
 * bridge.c - module _keelson: what package pbs calls.
 */
#include <pthread.h>
#include <time.h>

#include "pyhost.h"

#define LOG_TEXT_MAX 65536 /* bytes of one line */

static pthread_t first; /* the thread that runs scripts */
static bool open_question;

int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- the daemon ------------------------------------------------------------------------------------------- */
static PyObject *ask_daemon(PyObject *question)
{
	struct pack p = { .data = NULL };
	struct value v, answer;
	struct frame *f;
	PyObject *ret = NULL;

	if (pack_object(&p, question)) {
		line_send(&p);
		f = line_answer();
		if (!value_read(f->bytes, f->len, &v) || !value_nth(&v, 1, &answer))
			_exit(1);
		ret = object_of(&answer);
		free(f);
	}
	pack_fini(&p);
	return ret;
}

static void log_daemon(int64_t events, const char *klass, const char *object, const char *text, Py_ssize_t len)
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p);

	pack_text(&p, "log");
	pack_int(&p, events);
	pack_text(&p, klass);
	pack_text(&p, object);
	pack_bytes(&p, text, (uint32_t)len);
	pack_close(&p, open, 5);
	line_send(&p);
	pack_fini(&p);
}

static const struct bridge daemon_bridge = { ask_daemon, log_daemon };
const struct bridge *bridge = &daemon_bridge;

/* ---- _keelson --------------------------------------------------------------------------------------------- */
static PyObject *py_ask(PyObject *self, PyObject *list)
{
	PyObject *question, *ret;

	(void)self;
	if (!PyList_Check(list))
		return PyErr_Format(PyExc_TypeError, "a question is a list");
	if (!pthread_equal(pthread_self(), first) || open_question)
		return PyErr_Format(PyExc_RuntimeError, "only the thread that runs the script may ask the daemon");
	question = PyList_GetSlice(list, 0, PyList_GET_SIZE(list));
	if (!question)
		return NULL;
	ret = PyUnicode_FromString("ask");
	if (!ret || PyList_Insert(question, 0, ret) < 0) {
		Py_XDECREF(ret);
		Py_DECREF(question);
		return NULL;
	}
	Py_DECREF(ret);
	open_question = true;
	ret = bridge->ask(question);
	open_question = false;
	Py_DECREF(question);
	return ret;
}

/* As UTF-8, whatever is in it; NULL without memory. */
static PyObject *bytes_of(PyObject *o)
{
	PyObject *bytes = PyUnicode_AsEncodedString(o, "utf-8", "surrogateescape");

	if (bytes || !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
		return bytes;
	PyErr_Clear();
	return PyUnicode_AsEncodedString(o, "utf-8", "backslashreplace");
}

static PyObject *py_log(PyObject *self, PyObject *args)
{
	PyObject *text, *object, *text_bytes, *object_bytes;
	long long events;
	const char *klass;
	Py_ssize_t len;
	bool ok;

	(void)self;
	if (!PyArg_ParseTuple(args, "LsUU", &events, &klass, &object, &text))
		return NULL;
	text_bytes = bytes_of(text);
	object_bytes = text_bytes ? bytes_of(object) : NULL;
	ok = object_bytes != NULL;
	if (ok) {
		len = PyBytes_GET_SIZE(text_bytes);
		bridge->log(events, klass, PyBytes_AS_STRING(object_bytes), PyBytes_AS_STRING(text_bytes),
			    len < LOG_TEXT_MAX ? len : LOG_TEXT_MAX);
	}
	Py_XDECREF(text_bytes);
	Py_XDECREF(object_bytes);
	if (!ok)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *py_us(PyObject *self, PyObject *nothing)
{
	(void)self;
	(void)nothing;
	return PyLong_FromLongLong(now_us());
}

PyObject *bridge_module(void)
{
	static PyMethodDef methods[] = {
		{ "ask", py_ask, METH_O, "ask([what, ...]): the daemon's answer" },
		{ "log", py_log, METH_VARARGS, "log(events, class, object, text): one line of the daemon's log" },
		{ "us", py_us, METH_NOARGS, "us(): microseconds" },
		{ NULL, NULL, 0, NULL },
	};
	static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, .m_name = "_keelson", .m_size = -1, .m_methods = methods };

	first = pthread_self();
	return PyModule_Create(&module);
}
