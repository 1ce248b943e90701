/* SPDX-License-Identifier: Apache-2.0
 *
 * value.c - values of frames (talk.h) and objects of Python.
 *
 * Bytes that are no UTF-8 become what surrogateescape makes of them, and go back as they came.
 */
#include "pyhost.h"

/* ---- from a frame ----------------------------------------------------------------------------------------- */
PyObject *text_of(const char *s, Py_ssize_t len)
{
	return PyUnicode_DecodeUTF8(s, len, "surrogateescape");
}

static PyObject *list_of(const struct value *v)
{
	PyObject *list = PyList_New(0), *item;
	const char *at = v->at;
	struct value inner;

	while (list && value_next(v, &at, &inner)) {
		item = object_of(&inner);
		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

static PyObject *dict_of(const struct value *v)
{
	PyObject *dict = PyDict_New(), *key, *item;
	const char *at = v->at;
	struct value inner;

	while (dict && value_next(v, &at, &inner)) {
		key = object_of(&inner);
		item = key && value_next(v, &at, &inner) ? object_of(&inner) : NULL;
		if (!item || PyDict_SetItem(dict, key, item) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(key);
		Py_XDECREF(item);
	}
	return dict;
}

PyObject *object_of(const struct value *v)
{
	switch (v->kind) {
	case 'i':
		return PyLong_FromLongLong(v->i);
	case 's':
		return text_of(v->s, v->len);
	case 'l':
		return list_of(v);
	case 'm':
		return dict_of(v);
	default:
		Py_RETURN_NONE;
	}
}

/* ---- to a frame ------------------------------------------------------------------------------------------- */
static bool fails(PyObject *type, const char *text)
{
	if (!PyErr_Occurred())
		PyErr_SetString(type, text);
	return false;
}

static bool is_too_much(const struct pack *p, size_t more)
{
	return more > FRAME_MAX || p->len > FRAME_MAX - more;
}

static bool put_bytes(struct pack *p, const char *s, Py_ssize_t len)
{
	if (is_too_much(p, (size_t)len))
		return fails(PyExc_BufferError, "it is too long");
	pack_bytes(p, s, (uint32_t)len);
	return true;
}

static bool put_str(struct pack *p, PyObject *o)
{
	Py_ssize_t len;
	const char *s = PyUnicode_AsUTF8AndSize(o, &len);
	PyObject *bytes;
	bool ok;

	if (s)
		return put_bytes(p, s, len);
	PyErr_Clear();
	bytes = PyUnicode_AsEncodedString(o, "utf-8", "surrogateescape");
	ok = bytes && put_bytes(p, PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes));
	Py_XDECREF(bytes);
	return ok;
}

static bool put_int(struct pack *p, PyObject *o)
{
	long long i = PyLong_AsLongLong(o);

	if (i == -1 && PyErr_Occurred())
		return false;
	pack_int(p, i);
	return true;
}

static bool put(struct pack *p, PyObject *o, int depth);

static bool put_list(struct pack *p, PyObject *o, int depth)
{
	uint32_t open = pack_open_list(p), n = 0;

	for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++, n++)
		if (!put(p, PySequence_Fast_GET_ITEM(o, i), depth - 1))
			return false;
	pack_close(p, open, n);
	return true;
}

static bool put_dict(struct pack *p, PyObject *o, int depth)
{
	uint32_t open = pack_open_map(p), n = 0;
	PyObject *key, *item;
	Py_ssize_t at = 0;

	while (PyDict_Next(o, &at, &key, &item)) {
		if (!PyUnicode_Check(key))
			return fails(PyExc_TypeError, "a key is no text");
		if (!put_str(p, key) || !put(p, item, depth - 1))
			return false;
		n++;
	}
	pack_close(p, open, n);
	return true;
}

/* No code of a script runs here: a subclass is taken as what it stores. */
static bool put(struct pack *p, PyObject *o, int depth)
{
	if (p->failed)
		return fails(PyExc_MemoryError, "there is no memory");
	if (is_too_much(p, 16))
		return fails(PyExc_BufferError, "it is too long");
	if (o == Py_None) {
		pack_nothing(p);
		return true;
	}
	if (PyUnicode_Check(o))
		return put_str(p, o);
	if (PyLong_Check(o))
		return put_int(p, o);
	if (PyBytes_Check(o))
		return put_bytes(p, PyBytes_AS_STRING(o), PyBytes_GET_SIZE(o));
	if (depth == 0)
		return fails(PyExc_ValueError, "it is too deep");
	if (PyList_Check(o) || PyTuple_Check(o))
		return put_list(p, o, depth);
	if (PyDict_Check(o))
		return put_dict(p, o, depth);
	PyErr_Format(PyExc_TypeError, "a value of type %.100s cannot be sent", Py_TYPE(o)->tp_name);
	return false;
}

bool pack_object(struct pack *p, PyObject *o)
{
	/* One level is that of the frame's own list. */
	return put(p, o, TALK_DEPTH - 1);
}
