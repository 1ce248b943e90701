/* SPDX-License-Identifier: Apache-2.0
 *
 * script.c - compiles a script, runs it, says how it ended.
 *
 * A run has a module __main__ of its own. What it imports stays for the next one, and what it does to its process watch.c
 * puts back.
 */
#include "pyhost.h"

#define TEXT_MAX 1024	 /* bytes of an exception's text */
#define TRACE_MAX 8192	 /* bytes of its traceback: ... */
#define FRAMES_MAX 100	 /* of its functions, the innermost */
#define TRACE_BEGIN 2048 /* ... so many of its begin, the others of its end */

/* ---- exceptions ------------------------------------------------------------------------------------------- */
PyObject *exception_take(void)
{
#if PY_VERSION_HEX >= 0x030c0000
	return PyErr_GetRaisedException();
#else
	PyObject *type, *exc, *trace;

	PyErr_Fetch(&type, &exc, &trace);
	PyErr_NormalizeException(&type, &exc, &trace);
	if (exc && trace)
		PyException_SetTraceback(exc, trace);
	Py_XDECREF(type);
	Py_XDECREF(trace);
	return exc;
#endif
}

/* One line of it, bounded, nothing in it that a log would not take. */
static PyObject *one_line(PyObject *text)
{
	PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : NULL, *ret;
	Py_ssize_t len = bytes ? PyBytes_GET_SIZE(bytes) : 0;
	char line[TEXT_MAX];

	if (!bytes)
		return NULL;
	len = len < TEXT_MAX ? len : TEXT_MAX;
	for (Py_ssize_t i = 0; i < len; i++)
		line[i] = (unsigned char)PyBytes_AS_STRING(bytes)[i] < ' ' ? ' ' : PyBytes_AS_STRING(bytes)[i];
	ret = PyUnicode_DecodeUTF8(line, len, "ignore"); /* the last one may be half */
	Py_DECREF(bytes);
	return ret;
}

PyObject *exception_text(PyObject *exc)
{
	PyObject *name = exc ? PyObject_GetAttrString((PyObject *)Py_TYPE(exc), "__name__") : NULL;
	PyObject *message = exc ? PyObject_Str(exc) : NULL, *text = NULL, *ret;

	if (!message)
		PyErr_Clear();
	if (name)
		text = message && PyUnicode_GET_LENGTH(message) > 0 ? PyUnicode_FromFormat("%U: %U", name, message) :
								      PyUnicode_FromFormat("%U", name);
	ret = one_line(text);
	Py_XDECREF(name);
	Py_XDECREF(message);
	Py_XDECREF(text);
	PyErr_Clear();
	return ret ? ret : PyUnicode_FromString("MemoryError");
}

PyObject *exception_why(void)
{
	PyObject *exc = exception_take(), *ret = exception_text(exc);

	Py_XDECREF(exc);
	return ret;
}

/* Lines of the script appear in the trace, wherever its file is. */
void script_lines(const struct script *s)
{
	PyObject *linecache = PyImport_ImportModule("linecache");
	PyObject *cache = linecache ? PyObject_GetAttrString(linecache, "cache") : NULL;
	PyObject *lines = cache ? PyUnicode_Splitlines(s->text, 1) : NULL;
	PyObject *entry = lines ? Py_BuildValue("(nOOO)", PyUnicode_GET_LENGTH(s->text), Py_None, lines, s->path) : NULL;

	if (!entry || PyObject_SetItem(cache, s->path, entry) < 0)
		PyErr_Clear();
	Py_XDECREF(linecache);
	Py_XDECREF(cache);
	Py_XDECREF(lines);
	Py_XDECREF(entry);
}

/* Its begin and its end. */
static PyObject *bounded(PyObject *text)
{
	PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : NULL, *ret;
	Py_ssize_t len = bytes ? PyBytes_GET_SIZE(bytes) : 0, n = 0;
	char cut[TRACE_MAX + 16];
	const char *at;

	if (!bytes)
		return NULL;
	at = PyBytes_AS_STRING(bytes);
	if (len > TRACE_MAX) {
		n = snprintf(cut, sizeof(cut), "%.*s\n  ...\n", TRACE_BEGIN, at);
		memcpy(cut + n, at + len - (TRACE_MAX - TRACE_BEGIN), TRACE_MAX - TRACE_BEGIN);
		at = cut;
		len = n + TRACE_MAX - TRACE_BEGIN;
	}
	ret = PyUnicode_DecodeUTF8(at, len, "ignore");
	Py_DECREF(bytes);
	return ret;
}

/* NULL: there is none. */
static PyObject *trace_of(const struct script *s, PyObject *exc)
{
	PyObject *trace = PyException_GetTraceback(exc), *nothing = PyUnicode_FromString("");
	PyObject *traceback, *lines, *text, *ret;

	script_lines(s);
	traceback = PyImport_ImportModule("traceback");
	lines = !traceback ? NULL :
			     PyObject_CallMethod(traceback, "format_exception", "OOOi", Py_TYPE(exc), exc,
						 trace ? trace : Py_None, -FRAMES_MAX);
	text = lines && nothing ? PyUnicode_Join(nothing, lines) : NULL;
	ret = bounded(text);
	Py_XDECREF(traceback);
	Py_XDECREF(trace);
	Py_XDECREF(lines);
	Py_XDECREF(nothing);
	Py_XDECREF(text);
	PyErr_Clear();
	return ret;
}

/* ---- before the first run --------------------------------------------------------------------------------- */
PyObject *script_compile(PyObject *text, PyObject *path)
{
	PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape"), *name = NULL, *code = NULL;

	if (bytes)
		name = PyUnicode_AsEncodedString(path, "utf-8", "surrogateescape");
	if (name && strlen(PyBytes_AS_STRING(bytes)) != (size_t)PyBytes_GET_SIZE(bytes))
		PyErr_SetString(PyExc_SyntaxError, "there is a null byte in the script");
	else if (name)
		code = Py_CompileString(PyBytes_AS_STRING(bytes), PyBytes_AS_STRING(name), Py_file_input);
	Py_XDECREF(bytes);
	Py_XDECREF(name);
	return code;
}

/* What is there now is not looked at again by the collector. */
static void freeze(void)
{
	PyObject *gc = PyImport_ImportModule("gc"), *r = python_call(gc, "collect", NULL);

	Py_XDECREF(r);
	r = python_call(gc, "freeze", NULL);
	Py_XDECREF(r);
	Py_XDECREF(gc);
	PyErr_Clear();
}

static bool open_all(struct script *s, PyObject *setup)
{
	PyObject *r;

	s->text = PyDict_GetItemString(setup, "script"); /* borrowed, until: */
	s->path = PyDict_GetItemString(setup, "path");
	Py_XINCREF(s->text);
	Py_XINCREF(s->path);
	if (!s->text || !PyUnicode_Check(s->text) || !s->path || !PyUnicode_Check(s->path)) {
		PyErr_SetString(PyExc_ValueError, "no script and path were given to this process");
		return false;
	}
	s->code = script_compile(s->text, s->path);
	s->pbs = s->code ? PyImport_ImportModule("pbs") : NULL;
	r = s->pbs ? python_call(s->pbs, "_setup", setup) : NULL;
	Py_XDECREF(r);
	return r != NULL;
}

bool script_open(struct script *s, PyObject *setup, PyObject **why)
{
	*s = (struct script){ .code = NULL };
	late_open(setup);
	if (open_all(s, setup) && watch_keep(s->pbs)) {
		freeze();
		return true;
	}
	*why = exception_why();
	script_close(s);
	return false;
}

void script_close(struct script *s)
{
	Py_CLEAR(s->pbs);
	Py_CLEAR(s->code);
	Py_CLEAR(s->text);
	Py_CLEAR(s->path);
}

/* ---- a run ------------------------------------------------------------------------------------------------ */
/* The names of a new module __main__. NULL: an exception is set. */
static PyObject *main_new(const struct script *s)
{
	PyObject *module = PyModule_New("__main__"), *modules = PyImport_GetModuleDict();
	PyObject *names = module ? PyModule_GetDict(module) : NULL;

	Py_XINCREF(names);
	if (names && (PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) < 0 ||
		      PyDict_SetItemString(names, "__file__", s->path) < 0 ||
		      PyDict_SetItemString(modules, "__main__", module) < 0))
		Py_CLEAR(names);
	Py_XDECREF(module);
	return names;
}

/* What it raised, which is not how scripts end; else NULL. */
static PyObject *execute(const struct script *s, PyObject *names)
{
	PyObject *r = PyEval_EvalCode(s->code, names, names);
	bool is_end = r || PyErr_ExceptionMatches(PyExc_SystemExit);

	Py_XDECREF(r);
	if (!is_end)
		return exception_take();
	PyErr_Clear();
	return NULL;
}

static bool put(PyObject *result, const char *key, PyObject *value) /* which is given away; NULL: nothing */
{
	bool ok = PyDict_SetItemString(result, key, value ? value : Py_None) == 0;

	Py_XDECREF(value);
	return ok;
}

static bool exception_put(const struct script *s, PyObject *result, PyObject *exc)
{
	return put(result, "how", PyUnicode_FromString("exception")) && put(result, "text", exception_text(exc)) &&
	       put(result, "trace", trace_of(s, exc));
}

PyObject *script_failed(PyObject *text)
{
	PyObject *result = PyDict_New();

	if (result && put(result, "how", PyUnicode_FromString("exception")) && PyDict_SetItemString(result, "text", text) == 0)
		return result;
	Py_XDECREF(result);
	return NULL;
}

/* A new RESULT; pbs writes what the script wanted, this what it raised. */
static PyObject *end(const struct script *s, PyObject *exc)
{
	PyObject *result = python_call(s->pbs, "_end", exc ? exc : Py_None), *why;

	if (result && !PyDict_Check(result)) {
		PyErr_SetString(PyExc_TypeError, "package pbs has no result");
		Py_CLEAR(result);
	}
	if (result && (!exc || exception_put(s, result, exc)))
		return result;
	Py_XDECREF(result);
	why = exception_why();
	result = why ? script_failed(why) : NULL;
	Py_XDECREF(why);
	return result;
}

PyObject *script_run(struct script *s, PyObject *event)
{
	PyObject *exc = NULL, *names = NULL, *result, *r;
	bool is_full;

	watch_begin();
	r = python_call(s->pbs, "_begin", event);
	if (r)
		names = main_new(s);
	late_begin(s, event);
	exc = names ? execute(s, names) : exception_take();
	late_end();
	Py_XDECREF(r);
	is_full = exc && PyErr_GivenExceptionMatches(exc, PyExc_MemoryError); /* the next run would find it so, too */
	result = end(s, exc);
	Py_XDECREF(exc);
	if (names)
		PyDict_Clear(names); /* functions of it would keep all of it */
	Py_XDECREF(names);
	if (result && !put(result, "retire", PyLong_FromLong(watch_end() || is_full)))
		Py_CLEAR(result);
	PyErr_Clear();
	return result;
}
