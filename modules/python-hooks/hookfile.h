/* SPDX-License-Identifier: Apache-2.0
 *
 * hookfile.h - files of hooks, as servers send them and moms keep them.
 *
 *	h1.HK	attributes, a line "name=value" each
 *	h1.CF	its configuration file
 *	h1.PY	its script
 *	tables	names of attributes, resources, states (tables.c), for all hooks
 *
 * A version is the length and a 64-bit hash (FNV-1a) of the bytes. It says whether two copies differ by chance or by a change; it is no
 * protection against two files that are made to have one version: both ends of the link are trusted with the files themselves.
 *
 * Messages, server to mom:
 *	python.file { file, version, size, at, bytes }	a piece of it: bytes `at` and on; version "": the file is to be deleted
 *	python.who {}					what do you have? when the link is there
 * and mom to server:
 *	python.have { files }				"name version" each
 *	python.took { file, version, at, code, text }	so much of it has arrived. With `code` it is over: 0, it is on the disk; else why not
 */
#ifndef PYTHON_HOOKS_HOOKFILE_H
#define PYTHON_HOOKS_HOOKFILE_H

#include "hooks.h"

#define HOOKFILE_CHUNK (128u * 1024u)
#define HOOKFILE_WINDOW (512u * 1024u)	     /* bytes on their way to one host */
#define HOOKFILE_MOST (64u * 1024u * 1024u) /* bytes of one file */
#define HOOKFILES_MOST 30000		     /* of one host */
#define HOOKFILE_NAME 256
#define HOOKFILE_VERSION 32

enum hookfile_kind { HOOKFILE_ATTRS, HOOKFILE_CONFIG, HOOKFILE_SCRIPT, HOOKFILE_TABLES, HOOKFILE_KINDS };
/* Which file is this name, and of which hook? False: it is none. */
bool hookfile_parse(const char *file, enum hookfile_kind *ret, char hook[HOOKFILE_NAME]);
void hookfile_name(const char *hook, enum hookfile_kind kind, char file[HOOKFILE_NAME]);
void hookfile_version(const void *bytes, uint32_t len, char version[HOOKFILE_VERSION]);
/* The content of its .HK; the caller frees it. NULL without memory. */
char *hookfile_attrs(const struct hook *h);
/* A hook becomes what a .HK says, and what that does not name gets its default. -EINVAL, -ENOMEM with *err: a part of it may be changed. */
int32_t hookfile_attrs_read(struct hook *h, const char *text, struct keel_err *err);
#endif
