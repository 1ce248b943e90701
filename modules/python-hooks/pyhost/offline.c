/* SPDX-License-Identifier: Apache-2.0
 *
 * offline.c - without a daemon: a script with a recorded event, what scripts can use as pbs.pyi, and byte code for the build.
 *
 * A record is {"setup": {...}, "event": {...}}, as talk.h has them; "answers", if it is there, is a list of [question, answer]. With
 * --tables it may be less: pbs/offline.py.
 */
#include "pyhost.h"

enum status { ACCEPTED = 0, REJECTED = 1, FAILED = 2 };

static PyObject *answers; /* of the record; NULL: none */

/* ---- reading ---------------------------------------------------------------------------------------------- */
static PyObject *file_text(const char *path)
{
	PyObject *io = PyImport_ImportModule("io");
	PyObject *f = io ? PyObject_CallMethod(io, "open", "ssiss", path, "r", -1, "utf-8", "surrogateescape") : NULL;
	PyObject *text = f ? python_call(f, "read", NULL) : NULL;

	Py_XDECREF(io);
	Py_XDECREF(f);
	return text;
}

static PyObject *json_read(const char *path)
{
	PyObject *text = file_text(path), *json = text ? PyImport_ImportModule("json") : NULL;
	PyObject *value = python_call(json, "loads", text);

	Py_XDECREF(text);
	Py_XDECREF(json);
	return value;
}

/* An object with a map "setup". */
static PyObject *record_read(const char *path)
{
	PyObject *record = json_read(path), *setup;

	setup = record && PyDict_Check(record) ? PyDict_GetItemString(record, "setup") : NULL;
	if (record && (!setup || !PyDict_Check(setup))) {
		PyErr_Format(PyExc_ValueError, "%s has no map \"setup\": it is not what a hook with debug = true leaves", path);
		Py_CLEAR(record);
	}
	return record;
}

/* What a record leaves out is that of `tables`; NULL: it is whole. */
static PyObject *record_of(const char *path, const char *tables)
{
	PyObject *site, *record, *offline, *whole;

	if (!tables)
		return record_read(path);
	site = record_read(tables);
	record = site ? json_read(path) : NULL;
	offline = record ? PyImport_ImportModule("pbs.offline") : NULL;
	whole = offline ? PyObject_CallMethod(offline, "completed", "OO", record, site) : NULL;
	Py_XDECREF(site);
	Py_XDECREF(record);
	Py_XDECREF(offline);
	return whole;
}

static bool setup_put(PyObject *setup, const char *key, PyObject *value) /* which is given away */
{
	bool ok = value && PyDict_SetItemString(setup, key, value) == 0;

	Py_XDECREF(value);
	return ok;
}

/* ---- in place of the daemon ------------------------------------------------------------------------------- */
static PyObject *ask_record(PyObject *question)
{
	PyObject *words = PyList_GetSlice(question, 1, PyList_GET_SIZE(question)), *pair, *ret = NULL;

	for (Py_ssize_t i = 0; words && answers && !ret && i < PyList_GET_SIZE(answers); i++) {
		pair = PyList_GET_ITEM(answers, i);
		if (PyList_Check(pair) && PyList_GET_SIZE(pair) == 2 &&
		    PyObject_RichCompareBool(PyList_GET_ITEM(pair, 0), words, Py_EQ) == 1)
			ret = PyList_GET_ITEM(pair, 1);
	}
	PyErr_Clear();
	if (ret)
		Py_INCREF(ret);
	else if (words && PyList_GET_SIZE(words) > 0 && PyUnicode_Check(PyList_GET_ITEM(words, 0)) &&
		 PyUnicode_CompareWithASCIIString(PyList_GET_ITEM(words, 0), "list") == 0)
		ret = Py_BuildValue("([]O)", Py_None);
	else
		ret = Py_BuildValue("O", Py_None);
	Py_XDECREF(words);
	return ret;
}

static void stream_flush(const char *name)
{
	PyObject *stream = PySys_GetObject(name), *r = stream ? python_call(stream, "flush", NULL) : NULL;

	Py_XDECREF(r);
	PyErr_Clear();
}

static void log_show(int64_t events, const char *klass, const char *object, const char *text, Py_ssize_t len)
{
	stream_flush("stdout");
	printf("log %04llx;%s;%s;%.*s\n", (unsigned long long)events, klass, object, (int)len, text);
	fflush(stdout);
}

static const struct bridge by_record = { ask_record, log_show };

/* ---- showing ---------------------------------------------------------------------------------------------- */
/* As a terminal takes it; "" for what is no text. */
static void show(const char *before, PyObject *text, const char *after)
{
	PyObject *bytes = text && PyUnicode_Check(text) ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : NULL;

	printf("%s%s%s", before, bytes ? PyBytes_AS_STRING(bytes) : "", after);
	Py_XDECREF(bytes);
	PyErr_Clear();
}

static void change_show(PyObject *change)
{
	PyObject *target, *name, *key, *text;

	if (!PyList_Check(change) || PyList_GET_SIZE(change) != 4)
		return;
	target = PyList_GET_ITEM(change, 0);
	name = PyList_GET_ITEM(change, 1);
	key = PyList_GET_ITEM(change, 2);
	text = PyList_GET_ITEM(change, 3);
	show("change ", target, " ");
	show("", name, "");
	if (key != Py_None)
		show(".", key, "");
	if (text == Py_None)
		printf(" is unset\n");
	else
		show(" = ", text, "\n");
}

static void wish_show(PyObject *result, const char *name)
{
	PyObject *wish = PyDict_GetItemString(result, name);
	int is_wanted = wish && wish != Py_None ? PyUnicode_Check(wish) || PyObject_IsTrue(wish) : 0;

	if (is_wanted && PyUnicode_Check(wish))
		show("reboot ", wish, "\n");
	else if (is_wanted)
		printf("%s\n", name);
}

static bool is_how(PyObject *result, const char *how)
{
	PyObject *text = PyDict_GetItemString(result, "how");

	return text && PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, how) == 0;
}

static enum status result_show(PyObject *result)
{
	static const char *const wishes[] = { "rerun", "delete", "restart_cycle", "reboot" };
	PyObject *changes = PyDict_GetItemString(result, "changes"), *text = PyDict_GetItemString(result, "text");

	stream_flush("stdout");
	stream_flush("stderr");
	for (Py_ssize_t i = 0; changes && PyList_Check(changes) && i < PyList_GET_SIZE(changes); i++)
		change_show(PyList_GET_ITEM(changes, i));
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++)
		wish_show(result, wishes[i]);
	if (is_how(result, "accept")) {
		printf("accepted\n");
		return ACCEPTED;
	}
	if (is_how(result, "reject")) {
		show("rejected: ", text, "\n");
		return REJECTED;
	}
	show("", PyDict_GetItemString(result, "trace"), "");
	show("exception: ", text, "\n");
	return FAILED;
}

/* The exception that is set ends it. */
static int fails(void)
{
	PyObject *why = exception_why(), *bytes = why ? PyUnicode_AsEncodedString(why, "utf-8", "backslashreplace") : NULL;

	fprintf(stderr, "keelson-pyhost: %s\n", bytes ? PyBytes_AS_STRING(bytes) : "no memory");
	Py_XDECREF(why);
	Py_XDECREF(bytes);
	return FAILED;
}

/* ---- --run ------------------------------------------------------------------------------------------------ */
static int run_record(PyObject *setup, PyObject *event)
{
	struct script s;
	PyObject *why = NULL, *result;
	enum status status;

	if (!script_open(&s, setup, &why)) {
		show("broken: ", why, "\n");
		Py_XDECREF(why);
		return FAILED;
	}
	result = script_run(&s, event);
	if (!result)
		return fails();
	status = result_show(result);
	Py_DECREF(result);
	return status;
}

int offline_run(const char *script, const char *event, const char *config, const char *tables)
{
	PyObject *record = record_of(event, tables), *setup = record ? PyDict_GetItemString(record, "setup") : NULL, *of;

	if (!setup || !setup_put(setup, "script", file_text(script)) ||
	    !setup_put(setup, "path", PyUnicode_DecodeFSDefault(script)) ||
	    (config && !setup_put(setup, "config", PyUnicode_DecodeFSDefault(config))))
		return fails();
	of = PyDict_GetItemString(record, "event");
	if (!of || !PyDict_Check(of)) {
		PyErr_Format(PyExc_ValueError, "%s has no map \"event\"", event);
		return fails();
	}
	answers = PyDict_GetItemString(record, "answers");
	if (answers && !PyList_Check(answers))
		answers = NULL;
	bridge = &by_record;
	return run_record(setup, of);
}

/* ---- --stubs, --compile ----------------------------------------------------------------------------------- */
int offline_stubs(const char *file)
{
	PyObject *record = record_read(file), *pbs = record ? PyImport_ImportModule("pbs") : NULL, *r, *stubs, *text;

	bridge = &by_record;
	r = python_call(pbs, "_setup", record ? PyDict_GetItemString(record, "setup") : NULL);
	stubs = r ? PyObject_GetAttrString(pbs, "_stubs") : NULL;
	text = python_call(stubs, "text", NULL);
	if (!text)
		return fails();
	show("", text, "");
	return ACCEPTED;
}

/* Byte code that holds wherever the files are put: it is compared with their text. */
int offline_compile(const char *folder)
{
	PyObject *module = PyImport_ImportModule("compileall"), *code = PyImport_ImportModule("py_compile");
	PyObject *modes = code ? PyObject_GetAttrString(code, "PycInvalidationMode") : NULL;
	PyObject *mode = modes ? PyObject_GetAttrString(modes, "CHECKED_HASH") : NULL;
	PyObject *f = module && mode ? PyObject_GetAttrString(module, "compile_dir") : NULL;
	PyObject *args = Py_BuildValue("(s)", folder);
	PyObject *names = f ? Py_BuildValue("{s:i,s:O}", "quiet", 1, "invalidation_mode", mode) : NULL;
	PyObject *done = args && names ? PyObject_Call(f, args, names) : NULL;

	if (!done)
		return fails();
	return PyObject_IsTrue(done) == 1 ? ACCEPTED : FAILED;
}
