/* SPDX-License-Identifier: Apache-2.0
 *
 * check_watch.h - between a module and the C library: its memory, and calls that block.
 *
 * The calls of the module's own file are led through the functions of this kit; those of libraries and
 * of the mock host are not, so that whatever is counted is the module's.
 */
#ifndef KEELSON_CHECK_WATCH_H
#define KEELSON_CHECK_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check_report.h"

/* A file that was just opened: `symbol` is in it. */
void watch_module(const char *path, const void *symbol);
const char *watch_path(void);
/* As an address of the module's file; 0: it is not in the module. */
uint64_t watch_offset(const void *address);

/* ---- memory -------------------------------------------------------------------------------------- */
/* The n-th allocation from now on fails; 0: none does. */
void watch_fail(unsigned n);
bool watch_failed(void);	  /* has that one been reached? */
/* Blocks that the module holds; *ret_where (may be NULL): "48 bytes taken in on_submit()", of one. */
unsigned watch_live(const char **ret_where);
/* What it holds from here on counts no more. */
void watch_forget(void);
/* Open files of this process. */
unsigned watch_files(void);
/* Its threads; when they are more than `expected`, after a moment in which they may end. */
unsigned watch_threads(unsigned expected);
/* Has it a child, running or not waited for? */
bool watch_child(void);

/* ---- calls that block -------------------------------------------------------------------------------- */
/* Calls in callbacks of this host's loop are findings from now on; NULL: none are, as at first. */
struct keel_mock;
void watch_blocking(struct keel_mock *mock);

/* Returns whether this thread is in a callback of that host. */
bool watch_in_loop(void);
/* Returns the name of the module that the callback belongs to; "": no callback runs. */
const char *watch_inside(void);
/* A call that breaks `rule` when it is made there; returns whether it was. `from`: an address of the caller. */
bool watch_odd(enum rule rule, const char *name, const void *from);

/* The functions that stand in for those of the C library. */
struct watched {
	const char *name; /* NULL: the last one is before it */
	void *fn;
};
extern const struct watched watch_memory_calls[], watch_process_calls[], watch_blocking_calls[];
/* The function of the module that holds an address: "on_submit()", or "?"; good until the next call. */
const char *watch_function(const void *address);

#endif
