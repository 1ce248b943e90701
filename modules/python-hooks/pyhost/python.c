/* SPDX-License-Identifier: Apache-2.0
 *
 * python.c - an interpreter that neither the environment nor the working directory has a say in. Of the system it has the
 * standard library and site-packages, of Keelson the folder with package pbs.
 */
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "pyhost.h"

#define PYTHON_PROGRAM PYHOST_HOME "/bin/python" PYHOST_VERSION

/* The folder beside this program. */
static bool packages_find(char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);
	char *slash;

	if (n < 0)
		return false;
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	if (!slash || (size_t)(slash - buf) + sizeof("/python-hooks") > size)
		return false;
	strcpy(slash, "/python-hooks");
	return true;
}

static bool path_begins_with(const char *packages)
{
	PyObject *path = PySys_GetObject("path"), *folder = PyUnicode_DecodeFSDefault(packages);
	bool ok = path && PyList_Check(path) && folder && PyList_Insert(path, 0, folder) == 0;

	Py_XDECREF(folder);
	return ok;
}

static bool preinitialize(void)
{
	PyPreConfig pre;

	PyPreConfig_InitIsolatedConfig(&pre);
	pre.utf8_mode = 1;
#if defined(__SANITIZE_ADDRESS__)
	pre.allocator = PYMEM_ALLOCATOR_MALLOC;
#endif
	return !PyStatus_Exception(Py_PreInitialize(&pre));
}

static bool initialize(void)
{
	char *argv[] = { (char[]){ "hook" }, NULL };
	PyConfig config;
	PyStatus r;

	PyConfig_InitIsolatedConfig(&config);
	config.write_bytecode = 0;
	config.pathconfig_warnings = 0;
	r = PyConfig_SetBytesString(&config, &config.home, PYHOST_HOME);
	if (!PyStatus_Exception(r))
		r = PyConfig_SetBytesString(&config, &config.program_name, PYTHON_PROGRAM);
	if (!PyStatus_Exception(r))
		r = PyConfig_SetBytesString(&config, &config.executable, PYTHON_PROGRAM);
	if (!PyStatus_Exception(r))
		r = PyConfig_SetBytesArgv(&config, 1, argv);
	if (!PyStatus_Exception(r))
		r = Py_InitializeFromConfig(&config);
	PyConfig_Clear(&config);
	return !PyStatus_Exception(r);
}

bool python_start(const char *packages)
{
	char beside[PATH_MAX];

	/* As Python does where it handles signals. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* numpy would start a thread for each processor. */
	setenv("OPENBLAS_NUM_THREADS", "1", 0);
	setenv("OMP_NUM_THREADS", "1", 0);
	if (!packages && !packages_find(beside, sizeof(beside)))
		return false;
	return watch_start() && preinitialize() && PyImport_AppendInittab("_keelson", bridge_module) == 0 && initialize() &&
	       path_begins_with(packages ? packages : beside);
}

PyObject *python_call(PyObject *on, const char *name, PyObject *arg)
{
	PyObject *f = on && !PyErr_Occurred() ? PyObject_GetAttrString(on, name) : NULL;
	PyObject *ret = f ? PyObject_CallFunctionObjArgs(f, arg, NULL) : NULL;

	Py_XDECREF(f);
	return ret;
}
