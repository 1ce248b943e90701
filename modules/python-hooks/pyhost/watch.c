/* SPDX-License-Identifier: Apache-2.0
 *
 * watch.c - what a script does to its process, which the next run would see.
 *
 * What can be put back is: names of pbs, builtins and sys, sys.path, environment, working directory, locale, umask.
 * A script that left threads or started programs, that forked, called a library through ctypes, replaced signal handlers, became
 * another user, or took away what cannot be put back, was the last one of its process. What modules hold stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pyhost.h"

#define SIGNALS 32
#define FILES_MORE 64 /* so many may be left open, more than at first */

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
	char cwd[PATH_MAX], *locale;
	PyObject *pbs, *names[3] /* of pbs, builtins, sys */, *path, *streams[3], *environ;
	uint64_t versions[3]; /* of these names, the last time that they were looked at */
	Py_ssize_t modules;
	int recursion, files;
	mode_t umask;
	struct ids {
		uid_t uid, euid, suid;
		gid_t gid, egid, sgid;
	} ids;
	struct sigaction handlers[SIGNALS];
} kept;

/* ---- while it runs ---------------------------------------------------------------------------------------- */
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

/* ---- names ------------------------------------------------------------------------------------------------ */
/* Another one for each change of a dict; 0: this version of Python does not count them. */
static uint64_t version_of(PyObject *dict)
{
#if PY_VERSION_HEX < 0x030c0000
	return ((PyDictObject *)dict)->ma_version_tag;
#else
	(void)dict;
	return 0;
#endif
}

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

/* Borrowed. */
static PyObject *names_of(int which)
{
	PyObject *modules = PyImport_GetModuleDict(), *sys = which == 2 ? PyDict_GetItemString(modules, "sys") : NULL;

	if (which == 0)
		return PyModule_GetDict(kept.pbs);
	return which == 1 ? PyEval_GetBuiltins() : sys ? PyModule_GetDict(sys) : NULL;
}

/* False, too: modules that were there are not any more. */
static bool modules_back(void)
{
	PyObject *modules = PyImport_GetModuleDict();

	if (PyDict_GetItemString(modules, "pbs") != kept.pbs && PyDict_SetItemString(modules, "pbs", kept.pbs) < 0)
		return false;
	for (int i = 0; i < 3; i++) {
		PyObject *now = names_of(i);

		if (now && kept.versions[i] != 0 && version_of(now) == kept.versions[i])
			continue;
		if (!now || !names_back(now, kept.names[i]))
			return false;
		kept.versions[i] = version_of(now);
	}
	return PyDict_Size(modules) >= kept.modules;
}

/* ---- sys -------------------------------------------------------------------------------------------------- */
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

/* ---- files ------------------------------------------------------------------------------------------------ */
static bool is_open(PyObject *stream)
{
	PyObject *closed = PyObject_GetAttrString(stream, "closed");
	bool ret = closed != Py_True;

	Py_XDECREF(closed);
	PyErr_Clear(); /* None is no stream, and was none */
	return ret;
}

/* The first descriptor that is not taken; INT_MAX: there is none. */
static int file_first(void)
{
	int fd = fcntl(0, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return INT_MAX;
	close(fd);
	return fd;
}

/* Names of sys are the streams again. */
static bool files_are_well(void)
{
	for (int i = 0; i < 3; i++)
		if (fcntl(i, F_GETFD) < 0 || !is_open(kept.streams[i]))
			return false;
	return file_first() - FILES_MORE <= kept.files;
}

/* ---- the process ------------------------------------------------------------------------------------------ */
static PyObject *environ_get(void)
{
	PyObject *os = PyImport_ImportModule("os"), *ret = os ? PyObject_GetAttrString(os, "environ") : NULL;

	Py_XDECREF(os);
	return ret;
}

static bool environ_back(void)
{
	PyObject *now = environ_get(), *r = python_call(now, "clear", NULL);
	PyObject *more = r ? python_call(now, "update", kept.environ) : NULL;
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

static struct ids ids_get(void)
{
	struct ids now = { .uid = 0 };

	getresuid(&now.uid, &now.euid, &now.suid);
	getresgid(&now.gid, &now.egid, &now.sgid);
	return now;
}

static bool is_same_user(void)
{
	struct ids now = ids_get();

	return memcmp(&now, &kept.ids, sizeof(now)) == 0;
}

static bool locale_back(void)
{
	const char *now = setlocale(LC_ALL, NULL);

	return !kept.locale || (now && strcmp(now, kept.locale) == 0) || setlocale(LC_ALL, kept.locale);
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

/* ---- before and after ------------------------------------------------------------------------------------- */
static bool names_keep(void)
{
	static const char *const streams[] = { "stdin", "stdout", "stderr" };
	PyObject *environ_now = environ_get(), *path = PySys_GetObject("path");

	for (int i = 0; i < 3; i++) {
		kept.names[i] = names_of(i) ? PyDict_Copy(names_of(i)) : NULL;
		if (!kept.names[i])
			return false;
		kept.streams[i] = PySys_GetObject(streams[i]);
		if (!kept.streams[i])
			kept.streams[i] = Py_None;
		Py_INCREF(kept.streams[i]);
	}
	kept.path = path && PyList_Check(path) ? PyList_GetSlice(path, 0, PyList_GET_SIZE(path)) : PyList_New(0);
	kept.environ = environ_now ? python_call(environ_now, "copy", NULL) : NULL;
	Py_XDECREF(environ_now);
	return kept.path && kept.environ;
}

static void process_keep(void)
{
	kept.umask = umask(0);
	umask(kept.umask);
	if (!getcwd(kept.cwd, sizeof(kept.cwd)))
		kept.cwd[0] = '\0';
	kept.locale = strdup(setlocale(LC_ALL, NULL));
	kept.ids = ids_get();
	kept.files = file_first();
	handlers_get(kept.handlers);
}

bool watch_keep(PyObject *pbs)
{
	kept.pbs = pbs;
	Py_INCREF(pbs);
	Py_XDECREF(PyImport_ImportModule("_signal")); /* the first import sets a handler */
	kept.recursion = Py_GetRecursionLimit();
	kept.modules = PyDict_Size(PyImport_GetModuleDict());
	process_keep();
	return names_keep() && !PyErr_Occurred();
}

void watch_begin(void)
{
	kept.deeds = 0;
}

static void limits_back(void)
{
	if (Py_GetRecursionLimit() != kept.recursion)
		Py_SetRecursionLimit(kept.recursion);
#if PY_VERSION_HEX >= 0x030a0000
	PyGC_Enable();
#endif
	umask(kept.umask);
}

bool watch_end(void)
{
	bool ok = modules_back() && path_back() && files_are_well() && signals_are_quiet() && is_alone() && is_same_user() &&
		  locale_back();

	if (kept.deeds & ENVIRONMENT)
		ok = environ_back() && ok;
	if (kept.deeds & MOVED)
		ok = kept.cwd[0] != '\0' && chdir(kept.cwd) == 0 && ok;
	limits_back();
	PyErr_Clear();
	return !ok || kept.deeds & LAST;
}
