/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - --check: is this text a script, is it a configuration? One process looks at what administrators import.
 *	["check", number, name, text] -> ["checked", number, why | nothing]
 */
#include <unistd.h>

#include "pyhost.h"

/* What looks at a text; NULL: an exception says why it is none. */
static PyObject *as_script(PyObject *text, PyObject *name)
{
	return script_compile(text, name);
}

static PyObject *as_json(PyObject *text, PyObject *name)
{
	PyObject *json = PyImport_ImportModule("json"), *ret = python_call(json, "loads", text);

	(void)name;
	Py_XDECREF(json);
	return ret;
}

/* A % means nothing: what reads the file decides. */
static PyObject *as_ini(PyObject *text, PyObject *name)
{
	PyObject *module = PyImport_ImportModule("configparser");
	PyObject *parser = module ? PyObject_CallMethod(module, "RawConfigParser", NULL) : NULL;
	PyObject *ret = parser ? PyObject_CallMethod(parser, "read_string", "OO", text, name) : NULL;

	Py_XDECREF(module);
	Py_XDECREF(parser);
	return ret;
}

static const struct {
	const char *suffix;
	PyObject *(*look)(PyObject *text, PyObject *name);
} kinds[] = { { "", as_script }, { ".PY", as_script }, { ".py", as_script }, { ".json", as_json }, { ".ini", as_ini } };

/* A text, or None. NULL: without memory. */
static PyObject *why_not(PyObject *name, PyObject *text)
{
	const char *word = PyUnicode_AsUTF8(name), *suffix = word ? strrchr(word, '.') : NULL;
	PyObject *r = Py_None;

	PyErr_Clear();
	suffix = suffix ? suffix : "";
	Py_INCREF(r);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].suffix, suffix) == 0) {
			Py_SETREF(r, kinds[i].look(text, name));
			break;
		}
	}
	if (!r)
		return exception_why();
	Py_DECREF(r);
	Py_RETURN_NONE;
}

static void check_one(void)
{
	struct frame *f = line_next();
	PyObject *frame = frame_taken(f, "check", 4), *why;

	if (!PyUnicode_Check(PyList_GET_ITEM(frame, 2)) || !PyUnicode_Check(PyList_GET_ITEM(frame, 3)))
		_exit(1);
	why = why_not(PyList_GET_ITEM(frame, 2), PyList_GET_ITEM(frame, 3));
	frame_say("checked", PyList_GET_ITEM(frame, 1), why ? why : Py_None);
	Py_XDECREF(why);
	Py_DECREF(frame);
}

void check_serve(void)
{
	for (;;)
		check_one();
}
