/* SPDX-License-Identifier: Apache-2.0
 *
 * files.h - what files.c (files of hooks arrive, hooks are made of them) and disk.c (where they are kept) share.
 */
#ifndef PYTHON_HOOKS_FILES_H
#define PYTHON_HOOKS_FILES_H

#include "hookfile.h"

#define HOOK_FOLDER "mom_priv/hooks"

struct file { /* on the disk */
	UT_hash_handle hh;
	char *name;
	char version[HOOKFILE_VERSION];
};

struct piece { /* a file that arrives, is written, is there */
	struct piece *prev, *next;
	char name[HOOKFILE_NAME], hook[HOOKFILE_NAME];
	enum hookfile_kind kind;
	char version[HOOKFILE_VERSION]; /* "": to be deleted */
	char *bytes;
	uint32_t len, have;
	int error; /* of the disk */
};

struct batch {
	struct piece *pieces;
	int folder;
};

struct files {
	char path[4096];
	int folder; /* -1: it cannot be used */
	struct file *files;
	struct piece *arriving; /* in pieces yet */
	struct piece *waiting;	/* for a worker */
	struct batch *writing;
	int64_t versions;
};

/* files.c */
void piece_free(struct piece *p);
/* A new file begins. NULL: the message is none that a server sends, or there is no memory. */
struct piece *piece_begin(struct files *f, const char *name, const char *version, int64_t size);

/* disk.c. 0, or an errno; any thread. `bytes` NULL: it is deleted. */
int file_write(int folder, const char *name, const char *bytes, uint32_t len);
int32_t folder_open(struct state *st, struct keel_err *err); /* made if need be; -errno with *err: it must not be used */
struct piece *files_read(struct state *st); /* whole files, of those that may be used */
#endif
