/* SPDX-License-Identifier: Apache-2.0
 *
 * watch.c - what a script does to its process, which the next run would see.
 *
 * What can be put back is: names of pbs and builtins, sys.path and the standard streams, environment, working directory.
 * A script that started threads or programs, that forked, called a library through ctypes, replaced signal handlers, or
 * changed what cannot be seen or undone, was the last one of its process. What modules hold that it imported stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pyhost.h"

#define SIGNALS 32

enum deed { LAST = 1, MOVED = 2, ENVIRONMENT = 4 };

static const struct {
	const char *event;
	unsigned deed;
} audited[] = {
	{ "os.fork", LAST },
	{ "os.forkpty", LAST },
	{ "os.exec", LAST },
	{ "os.posix_spawn", LAST },
	{ "os.system", LAST },
	{ "subprocess.Popen", LAST },
	{ "pty.spawn", LAST },
	{ "_thread.start_new_thread", LAST },
	{ "_thread.start_joinable_thread", LAST },
	{ "ctypes.dlsym", LAST },
	{ "ctypes.dlsym/handle", LAST },
	{ "sys.settrace", LAST },
	{ "sys.setprofile", LAST },
	{ "sys.addaudithook", LAST },
	{ "resource.setrlimit", LAST },
	{ "resource.prlimit", LAST },
	{ "os.chdir", MOVED },
	{ "os.putenv", ENVIRONMENT },
	{ "os.unsetenv", ENVIRONMENT },
};

static struct {
	unsigned deeds;
	bool signalling; /* module signal is there: handlers are compared */
	char cwd[PATH_MAX];
	PyObject *pbs, *pbs_names, *builtin_names, *path, *streams[3], *environ;
	int recursion;
	struct sigaction handlers[SIGNALS];
} kept;

/* ---- while it runs -------------------------------------------------------------------------------------------------------- */
static bool is_import_of(PyObject *args, const char *name)
{
	PyObject *module = PyTuple_Check(args) && PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : NULL;

	return module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, name) == 0;
}

static int audit(const char *event, PyObject *args, void *arg)
{
	(void)arg;
	if (strcmp(event, "import") == 0) {
		if (is_import_of(args, "signal"))
			kept.signalling = true;
		return 0;
	}
	for (size_t i = 0; i < sizeof(audited) / sizeof(audited[0]); i++)
		if (event[0] == audited[i].event[0] && strcmp(event, audited[i].event) == 0)
			kept.deeds |= audited[i].deed;
	return 0;
}

static void forks(void)
{
	kept.deeds |= LAST;
}

bool watch_start(void)
{
	return pthread_atfork(forks, NULL, NULL) == 0 && PySys_AddAuditHook(audit, NULL) == 0;
}

/* ---- names ---------------------------------------------------------------------------------------------------------------- */
/* The usual case: the same names in the same order. Values are put back; those that go are kept in `gone` until it is done,
 * since what ends with them may change names again. False: there are other names. */
static bool values_back(PyObject *now, PyObject *then, PyObject *gone)
{
	PyObject *key, *value, *then_key, *then_value;
	Py_ssize_t at = 0, then_at = 0;

	if (PyDict_Size(now) != PyDict_Size(then))
		return false;
	while (PyDict_Next(now, &at, &key, &value)) {
		if (!PyDict_Next(then, &then_at, &then_key, &then_value) || key != then_key)
			return false;
		if (value != then_value && (PyList_Append(gone, value) < 0 || PyDict_SetItem(now, key, then_value) < 0))
			return false;
	}
	return true;
}

/* What is new goes last: by then all that it replaced is there again. */
static bool names_back(PyObject *now, PyObject *then)
{
	PyObject *gone = PyList_New(0), *keys = NULL;
	bool is_done = gone && values_back(now, then, gone);

	if (!is_done && gone && PyDict_Update(now, then) == 0)
		keys = PyDict_Keys(now);
	for (Py_ssize_t i = 0; keys && i < PyList_GET_SIZE(keys); i++)
		if (PyDict_Contains(then, PyList_GET_ITEM(keys, i)) == 0)
			PyDict_DelItem(now, PyList_GET_ITEM(keys, i));
	is_done = is_done || (keys && !PyErr_Occurred());
	Py_XDECREF(keys);
	Py_XDECREF(gone);
	return is_done;
}

static bool pbs_back(void)
{
	PyObject *modules = PyImport_GetModuleDict();

	if (PyDict_GetItemString(modules, "pbs") != kept.pbs && PyDict_SetItemString(modules, "pbs", kept.pbs) < 0)
		return false;
	return names_back(PyModule_GetDict(kept.pbs), kept.pbs_names) && names_back(PyEval_GetBuiltins(), kept.builtin_names);
}

/* ---- sys ------------------------------------------------------------------------------------------------------------------ */
static bool path_back(void)
{
	PyObject *path = PySys_GetObject("path"); /* borrowed */
	Py_ssize_t n = PyList_GET_SIZE(kept.path);
	bool is_same = path && PyList_CheckExact(path) && PyList_GET_SIZE(path) == n;

	for (Py_ssize_t i = 0; is_same && i < n; i++)
		is_same = PyList_GET_ITEM(path, i) == PyList_GET_ITEM(kept.path, i);
	if (is_same)
		return true;
	path = PyList_GetSlice(kept.path, 0, n);
	is_same = path && PySys_SetObject("path", path) == 0;
	Py_XDECREF(path);
	return is_same;
}

static const char *const streams[] = { "stdin", "stdout", "stderr" };

static bool is_open(PyObject *stream)
{
	PyObject *closed = PyObject_GetAttrString(stream, "closed");
	bool ret = closed != Py_True;

	Py_XDECREF(closed);
	PyErr_Clear(); /* None is no stream, and was none */
	return ret;
}

static bool streams_back(void)
{
	for (int i = 0; i < 3; i++)
		if (fcntl(i, F_GETFD) < 0 || !is_open(kept.streams[i]) ||
		    (PySys_GetObject(streams[i]) != kept.streams[i] && PySys_SetObject(streams[i], kept.streams[i]) < 0))
			return false;
	return true;
}

/* ---- the process ----------------------------------------------------------------------------------------------------------- */
static PyObject *environ_get(void)
{
	PyObject *os = PyImport_ImportModule("os"), *ret = os ? PyObject_GetAttrString(os, "environ") : NULL;

	Py_XDECREF(os);
	return ret;
}

static bool environ_back(void)
{
	PyObject *now = environ_get(), *r = python_call(now, "clear", NULL), *more = r ? python_call(now, "update", kept.environ) : NULL;
	bool ok = more != NULL;

	Py_XDECREF(now);
	Py_XDECREF(r);
	Py_XDECREF(more);
	return ok;
}

static void handlers_get(struct sigaction *handlers)
{
	for (int i = 1; i < SIGNALS; i++)
		sigaction(i, NULL, &handlers[i]);
}

/* Handlers as they were, and no alarm set. */
static bool signals_are_quiet(void)
{
	struct sigaction now[SIGNALS];
	struct itimerval timer;

	if (!kept.signalling)
		return true;
	handlers_get(now);
	for (int i = 1; i < SIGNALS; i++)
		if (now[i].sa_handler != kept.handlers[i].sa_handler)
			return false;
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
		if (getitimer(which, &timer) < 0 || timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0)
			return false;
	return true;
}

/* No thread and no child but what there was: none. */
static bool is_alone(void)
{
	siginfo_t child;
	struct stat tasks;

	if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD)
		return false;
	return stat("/proc/self/task", &tasks) < 0 || tasks.st_nlink <= 3; /* ".", "..", this one */
}

/* ---- before and after ------------------------------------------------------------------------------------------------------- */
bool watch_keep(PyObject *pbs)
{
	PyObject *environ_now = environ_get(), *path = PySys_GetObject("path");

	kept.pbs = pbs;
	Py_INCREF(pbs);
	kept.pbs_names = PyDict_Copy(PyModule_GetDict(pbs));
	kept.builtin_names = PyDict_Copy(PyEval_GetBuiltins());
	kept.path = path && PyList_Check(path) ? PyList_GetSlice(path, 0, PyList_GET_SIZE(path)) : PyList_New(0);
	kept.environ = environ_now ? python_call(environ_now, "copy", NULL) : NULL;
	Py_XDECREF(environ_now);
	for (int i = 0; i < 3; i++) {
		kept.streams[i] = PySys_GetObject(streams[i]);
		if (!kept.streams[i])
			kept.streams[i] = Py_None;
		Py_INCREF(kept.streams[i]);
	}
	kept.recursion = Py_GetRecursionLimit();
	Py_XDECREF(PyImport_ImportModule("_signal")); /* the first import sets a handler */
	handlers_get(kept.handlers);
	if (!getcwd(kept.cwd, sizeof(kept.cwd)))
		kept.cwd[0] = '\0';
	return kept.pbs_names && kept.builtin_names && kept.path && kept.environ && !PyErr_Occurred();
}

void watch_begin(void)
{
	kept.deeds = 0;
}

bool watch_end(void)
{
	bool ok = pbs_back() && path_back() && streams_back() && signals_are_quiet() && is_alone();

	if (kept.deeds & ENVIRONMENT)
		ok = environ_back() && ok;
	if (kept.deeds & MOVED)
		ok = kept.cwd[0] != '\0' && chdir(kept.cwd) == 0 && ok;
	if (Py_GetRecursionLimit() != kept.recursion)
		Py_SetRecursionLimit(kept.recursion);
	PyErr_Clear();
	return !ok || kept.deeds & LAST;
}
