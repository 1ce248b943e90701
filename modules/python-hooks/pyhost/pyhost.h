/* SPDX-License-Identifier: Apache-2.0
 *
 * pyhost.h - what the files of keelson-pyhost share: a process that runs one script of one version, again and again.
 *
 *   main.c     how it is started; frames of talk.h in, frames out
 *   line.c     the socket: frames, and that no script takes it away
 *   value.c    values of frames and objects of Python
 *   python.c   an interpreter that nothing outside has a say in
 *   script.c   compiles a script, runs it, says how it ended
 *   bridge.c   what package pbs calls: module _keelson
 *   watch.c    what a script does to its process
 *   late.c     where a script stands that is about to hit its alarm
 *   check.c    --check: is this a script, is this a configuration?
 *   offline.c  --run, --stubs, --compile: without a daemon
 *
 * Package pbs (libexec/keelson/python-hooks/pbs) is what scripts see. With it:
 *	pbs._setup(setup)	once; the map of talk.h as a dict. What it raises is why the script is broken.
 *	pbs._begin(event)	before each run; EVENT as a dict
 *	pbs._end(exc)		after it: exc is None after the last line and after SystemExit, else what the script raised. Returns RESULT as a
 *				dict; how, text and trace of an exception, and retire, are written here.
 *	pbs._stubs.text()	after _setup: pbs.pyi
 *	_keelson.ask(list)	the value of the answer; list: [what, ...], without the word "ask". ValueError,
 *				TypeError, BufferError: it cannot be sent. RuntimeError: not now, or not from this thread
 *	_keelson.log(events, klass, object, text)
 *	_keelson.us()		microseconds, of a clock that only goes forward
 */
#ifndef PYHOST_H
#define PYHOST_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "talk.h"

#define FRAME_MAX (1024u * 1024u) /* of what is sent; keel/service/supervise.h */

/* ---- line.c ----------------------------------------------------------------------------------------------- */
struct frame {
	struct frame *prev, *next;
	uint32_t len;
	char bytes[];
};
int line_open(int fd); /* the daemon's socket; `fd` itself is closed. -1: it is none */
struct frame *line_next(void);	     /* Waits. The process ends when the daemon does. */
struct frame *line_answer(void);     /* the same; "call" frames that come meanwhile are kept for line_next() */
void line_send(const struct pack *p);
void line_check(void); /* the process ends when a script has taken the socket away, or this is a child of the script's */
_Noreturn void leave(int status); /* without what libraries and modules do at an end */

/* ---- value.c: NULL, false: a Python exception is set ------------------------------------------------------ */
PyObject *object_of(const struct value *v);
/* Of None, int, str, bytes, list, tuple, dict with str keys. BufferError: it is too long for a frame. */
bool pack_object(struct pack *p, PyObject *o);
PyObject *text_of(const char *s, Py_ssize_t len);

/* ---- main.c ----------------------------------------------------------------------------------------------- */
/* A list of n values that begins with `word`; the daemon says nothing else here. The frame is freed. */
PyObject *frame_taken(struct frame *f, const char *word, uint32_t n);
void frame_say(const char *word, PyObject *first, PyObject *second); /* NULL: it has no such value */

/* ---- python.c --------------------------------------------------------------------------------------------- */
#define PYHOST_VERSION_OF(major, minor) #major "." #minor
#define PYHOST_VERSION_TEXT(major, minor) PYHOST_VERSION_OF(major, minor)
#define PYHOST_VERSION PYHOST_VERSION_TEXT(PY_MAJOR_VERSION, PY_MINOR_VERSION)
bool python_start(const char *packages); /* a folder with package pbs; NULL: beside the program */
PyObject *python_call(PyObject *on, const char *name, PyObject *arg); /* on.name(arg); arg may be NULL */

/* ---- bridge.c --------------------------------------------------------------------------------------------- */
/* Who answers and writes logs: the daemon, or (offline.c) the terminal. */
struct bridge {
	PyObject *(*ask)(PyObject *question); /* a list */
	void (*log)(int64_t events, const char *klass, const char *object, const char *text, Py_ssize_t len);
};
extern const struct bridge *bridge;
PyObject *bridge_module(void);
int64_t now_us(void);

/* ---- script.c --------------------------------------------------------------------------------------------- */
struct script {
	PyObject *pbs, *code, *text, *path;
};
/* The script is compiled, package pbs gets `setup`. False: *why, a text, which the caller frees; NULL without memory. */
bool script_open(struct script *s, PyObject *setup, PyObject **why);
void script_close(struct script *s);
PyObject *script_run(struct script *s, PyObject *event); /* RESULT, a dict. NULL: even that could not be made */
void script_lines(const struct script *s); /* traces show its lines */
PyObject *script_failed(PyObject *text); /* RESULT of a run that could not be, or not be said */
PyObject *script_compile(PyObject *text, PyObject *path);
PyObject *exception_take(void); /* the one that is set */
PyObject *exception_text(PyObject *exc); /* "<Type>: <message>" in one line; NULL without memory */
PyObject *exception_why(void); /* exception_text(exception_take()) */

/* ---- watch.c ---------------------------------------------------------------------------------------------- */
bool watch_start(void);		/* before Python is */
bool watch_keep(PyObject *pbs); /* as it is now, so it shall be for each run. False: an exception is set */
void watch_begin(void);
bool watch_end(void); /* puts back what can be; true: this process must not serve another call */

/* ---- late.c: without a timer nothing is said -------------------------------------------------------------- */
void late_open(PyObject *setup); /* before watch_keep() */
void late_begin(const struct script *s, PyObject *event);
void late_end(void);

/* ---- check.c, offline.c ----------------------------------------------------------------------------------- */
_Noreturn void check_serve(void);
/* They return the exit status. */
int offline_run(const char *script, const char *event, const char *config, const char *tables); /* the last two may be NULL */
int offline_stubs(const char *file);
int offline_compile(const char *folder);

#endif
